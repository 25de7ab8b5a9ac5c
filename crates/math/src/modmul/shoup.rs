// SPDX-License-Identifier: Apache-2.0
//! Models multiplication by a constant with Shoup's method in hardware.

use super::subtract_once;
use crate::{MathError, Modulus};

/// x * w mod q for a constant w < q and x < 2^`bits`, by the quotient floor(w 2^bits / q): one high and two low
/// products of single width. [`Modulus::shoup`] is the case of 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShoupMultiplier {
    q: Modulus,
    w: u64,
    bits: u32,
    quotient: u64,
}

/// The values of one multiplication.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShoupStages {
    /// The estimate of floor(x w / q): never above it, at most 1 below.
    pub quotient: u64,
    /// x w mod 2^(k+1), k = bits of q: the remainder fits, so no more is kept.
    pub product_low: u64,
    /// quotient * q mod 2^(k+1).
    pub multiple_low: u64,
    /// Their difference mod 2^(k+1), the remainder below 2q.
    pub remainder: u64,
    /// x w mod q.
    pub result: u64,
}

impl ShoupMultiplier {
    /// # Errors
    /// [`MathError::OutOfRange`] for w >= q, or for a width below that of q or above 64 bits.
    pub fn new(q: Modulus, w: u64, bits: u32) -> Result<Self, MathError> {
        if w >= q.value() {
            return Err(MathError::OutOfRange {
                what: "constant multiplicand",
                expected: "a residue below the modulus",
                got: w.to_string(),
            });
        }
        if !(q.bits()..=64).contains(&bits) {
            return Err(MathError::OutOfRange {
                what: "operand width in bits",
                expected: "from the bits of the modulus to 64",
                got: bits.to_string(),
            });
        }
        let quotient = ((u128::from(w) << bits) / u128::from(q.value())) as u64;
        Ok(Self {
            q,
            w,
            bits,
            quotient,
        })
    }

    /// floor(w 2^bits / q).
    pub fn quotient(&self) -> u64 {
        self.quotient
    }

    /// Every stage, for x < 2^bits.
    pub fn stages(&self, x: u64) -> ShoupStages {
        let mask = (1 << (self.q.bits() + 1)) - 1;
        let quotient = ((u128::from(x) * u128::from(self.quotient)) >> self.bits) as u64;
        let product_low = x.wrapping_mul(self.w) & mask;
        let multiple_low = quotient.wrapping_mul(self.q.value()) & mask;
        let remainder = product_low.wrapping_sub(multiple_low) & mask;
        ShoupStages {
            quotient,
            product_low,
            multiple_low,
            remainder,
            result: subtract_once(remainder.into(), self.q) as u64,
        }
    }

    /// x w mod q.
    pub fn mul(&self, x: u64) -> u64 {
        self.stages(x).result
    }
}
