// SPDX-License-Identifier: Apache-2.0
//! Looks up transforms of X^a - 1 in a table of the numbers psi^e - 1, where psi is the root of unity of the
//! transform.

use crate::bits::bit_reverse;
use crate::kernels::{check_len, mul_assign};
use crate::{MathError, Modulus, NttPlan};

/// A table of the numbers psi^e - 1, where psi is the root of unity of a transform, and the
/// exponent of psi that belongs to each position of the transform.
pub struct Monomials {
    modulus: Modulus,
    /// The numbers psi^e - 1 for e below 2N, where psi is the root of unity of the transform.
    powers: Vec<u64>,
    /// The exponent 2 bitrev(i) + 1 for each position i: a transform holds there a polynomial's
    /// value at psi to this exponent.
    exponents: Vec<u32>,
}

impl Monomials {
    /// Makes the table from which transforms of X^a - 1 are looked up, for the ring and the prime of `plan`. The ring
    /// must be a full ring.
    pub fn new(plan: &NttPlan) -> Self {
        let (q, log_n) = (plan.modulus(), u32::from(plan.ring().log_n));
        let step = q.shoup(plan.psi());
        let mut power = 1;
        let powers = (0..2usize << log_n).map(|_| {
            let this = q.sub(power, 1);
            power = q.mul_shoup(power, step);
            this
        });
        Self {
            modulus: q,
            powers: powers.collect(),
            exponents: (0..1usize << log_n)
                .map(|i| 2 * bit_reverse(i, log_n) as u32 + 1)
                .collect(),
        }
    }

    /// Computes the transform of (X^a - 1) p from the transform of the polynomial p. The exponent a counts
    /// modulo 2N.
    ///
    /// # Errors
    /// [`MathError::Length`] unless both transforms have N words.
    pub fn times_difference(&self, a: usize, out: &mut [u64], p: &[u64]) -> Result<(), MathError> {
        check_len("polynomial", self.exponents.len(), out.len())?;
        self.of(a, out);
        mul_assign(self.modulus, out, p)
    }

    /// Computes the NTT of X^a - 1, where a counts modulo 2N.
    pub(super) fn of(&self, a: usize, out: &mut [u64]) {
        let mask = self.powers.len() - 1;
        for (out, &e) in out.iter_mut().zip(&self.exponents) {
            *out = self.powers[a.wrapping_mul(e as usize) & mask];
        }
    }
}
