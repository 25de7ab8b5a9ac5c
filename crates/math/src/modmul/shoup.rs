// SPDX-License-Identifier: Apache-2.0
//! Models multiplication by a constant with Shoup's method in hardware.

use super::subtract_once;
use crate::{MathError, Modulus};

/// A multiplication x * w mod q by a constant w < q, for x < 2^`bits`. The precomputed quotient
/// floor(w 2^`bits` / q) reduces it to one high and two low products of single width.
/// [`Modulus::shoup`] is the case of 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShoupMultiplier {
    q: Modulus,
    w: u64,
    bits: u32,
    quotient: u64,
}

/// The values of all stages of one multiplication of x by the constant w modulo a k-bit q.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShoupStages {
    /// The estimate of the quotient floor(x w / q) of the product by the constant w: never above
    /// it, and at most 1 below.
    pub quotient: u64,
    /// The low part x w mod 2^(k+1) of the product, for a k-bit q. The remainder of x w by q fits
    /// k + 1 bits, so the circuit keeps no more.
    pub product_low: u64,
    /// The low part quotient * q mod 2^(k+1) of the multiple of q that is subtracted from the
    /// product, for a k-bit q.
    pub multiple_low: u64,
    /// The difference of `product_low` and `multiple_low` mod 2^(k+1), for a k-bit q. It is x w
    /// minus a multiple of q, below 2q.
    pub remainder: u64,
    /// The result x w mod q of the multiplication of x by the constant w.
    pub result: u64,
}

impl ShoupMultiplier {
    /// Makes the multiplication by the constant w modulo q, for factors below 2^`bits`.
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] for w >= q, or for a width `bits` below that of q or above 64 bits.
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

    /// Returns the precomputed quotient floor(w 2^`bits` / q) of the constant w, for factors below
    /// 2^`bits`.
    pub fn quotient(&self) -> u64 {
        self.quotient
    }

    /// Returns the values of all stages of the multiplication of x by the constant w, for x <
    /// 2^`bits`.
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

    /// Returns x w mod q for the constant w and x < 2^`bits`.
    pub fn mul(&self, x: u64) -> u64 {
        self.stages(x).result
    }
}
