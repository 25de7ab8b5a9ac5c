// SPDX-License-Identifier: Apache-2.0
//! Takes all coefficients of a polynomial apart, the linear map that general bootstrapping adds to thin bootstrapping.

use crate::Modulus;
use crate::kernels::auto_coeff;
use crate::slots::{SlotEncoder, SlotError};

/// A step that takes a polynomial in x^m apart into two in x^(2m): its even part and its odd part over x^m, each times
/// 2. They are the sum and the difference with the polynomial's image under x -> x^`galois`, which negates x^m. The
/// difference is then multiplied by x^-m.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Halving {
    pub galois: u64,
    /// m.
    pub spacing: usize,
}

/// The halvings that take a polynomial apart into N / l polynomials of Z\[u\], u = x^(N/l): each is N / l times the coefficients
/// of x^i u^k for one i, and to each [`coefficients_to_slots`](super::coefficients_to_slots) applies as after
/// [`trace`](super::trace). N / l - 1 automorphisms in all, where as many traces would take log2(N / l) each. Together the
/// parts are put back by products with x^i, which cost nothing.
pub fn halvings(encoder: &SlotEncoder) -> Vec<Halving> {
    let structure = encoder.structure();
    let n = structure.ring_degree();
    let count = structure.degree().trailing_zeros();
    let halving = |level: u32| Halving {
        galois: 1 + (n >> level) as u64,
        spacing: 1usize << level,
    };
    (0..count).map(halving).collect()
}

impl Halving {
    /// Both parts of a polynomial of N coefficients, by definition.
    ///
    /// # Errors
    /// A number of coefficients that is not that of the ring it was made for.
    pub fn apply(self, q: Modulus, polynomial: &[u64]) -> Result<[Vec<u64>; 2], SlotError> {
        let n = polynomial.len();
        let mut image = vec![0; n];
        auto_coeff(q, self.galois, &mut image, polynomial)?;
        let pairs = || polynomial.iter().zip(&image);
        let even = pairs().map(|(&a, &b)| q.add(a, b)).collect();
        let mut odd: Vec<u64> = pairs().map(|(&a, &b)| q.sub(a, b)).collect();
        // x^-m: what comes in at the top changes its sign.
        odd.rotate_left(self.spacing.min(n));
        for c in odd.iter_mut().rev().take(self.spacing) {
            *c = q.neg(*c);
        }
        Ok([even, odd])
    }
}
