// SPDX-License-Identifier: Apache-2.0
//! Models Montgomery reduction with R = 2^64 in hardware.

use super::{Reduction, subtract_once};
use crate::{MathError, Modulus};

/// A reduction of x to x / 2^64 mod q, for odd q and x < 2^64 q (Montgomery 1985, reference 32 of the BASALISC paper).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Montgomery {
    q: Modulus,
    /// The constant -q^-1 mod 2^64.
    minus_inverse: u64,
    /// The factor 2^-64 mod q by which the reduction multiplies.
    factor: u64,
}

/// The values of all stages of one Montgomery reduction of a number x modulo q.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MontgomeryStages {
    /// The factor m for which the low word of x + m q is zero, where x is the reduced number: x
    /// (-q^-1) mod 2^64.
    pub multiplier: u64,
    /// The sum (x + multiplier * q) / 2^64, below 2q, where x is the reduced number.
    pub sum: u128,
    /// The result x / 2^64 mod q for the reduced number x.
    pub result: u64,
}

impl Montgomery {
    /// Makes the Montgomery reduction modulo an odd q, with R = 2^64.
    ///
    /// # Errors
    /// [`MathError::NotInvertible`] for an even modulus.
    pub fn new(q: Modulus) -> Result<Self, MathError> {
        if q.value().is_multiple_of(2) {
            return Err(MathError::NotInvertible {
                value: 2,
                modulus: q.value(),
            });
        }
        // Newton's iteration doubles the number of right bits; q q = 1 mod 8 gives the first three.
        let mut inverse = q.value();
        for _ in 0..5 {
            inverse = inverse.wrapping_mul(2u64.wrapping_sub(q.value().wrapping_mul(inverse)));
        }
        Ok(Self {
            q,
            minus_inverse: inverse.wrapping_neg(),
            factor: q.inv(q.reduce_wide(1 << 64))?,
        })
    }

    /// Returns the constant -q^-1 mod 2^64.
    pub fn minus_inverse(&self) -> u64 {
        self.minus_inverse
    }

    /// Returns the values of all stages of the reduction of x, for x < 2^64 q.
    pub fn stages(&self, x: u128) -> MontgomeryStages {
        let multiplier = (x as u64).wrapping_mul(self.minus_inverse);
        let multiple = u128::from(multiplier) * u128::from(self.q.value());
        let sum = x.wrapping_add(multiple) >> 64;
        MontgomeryStages {
            multiplier,
            sum,
            result: subtract_once(sum, self.q) as u64,
        }
    }

    /// Returns the Montgomery form a 2^64 mod q of a residue a.
    pub fn to_form(&self, a: u64) -> u64 {
        self.q.reduce_wide(u128::from(a) << 64)
    }

    /// Returns the residue a from its Montgomery form a 2^64 mod q.
    pub fn from_form(&self, a: u64) -> u64 {
        self.reduce(a.into())
    }
}

impl Reduction for Montgomery {
    fn modulus(&self) -> Modulus {
        self.q
    }

    fn factor(&self) -> u64 {
        self.factor
    }

    fn limit(&self) -> u128 {
        u128::from(self.q.value()) << 64
    }

    fn reduce(&self, x: u128) -> u64 {
        self.stages(x).result
    }
}
