// SPDX-License-Identifier: Apache-2.0
//! Models Montgomery reduction for moduli below 2^32 that are 1 mod 2^17, as in the BASALISC paper.

use super::{Reduction, subtract_once};
use crate::{MathError, Modulus};

/// A reduction of x to x / 2^32 mod q, for q = h 2^17 + 1 < 2^32 and x < 2^32 q. It models the
/// modular multiplier of the BASALISC paper, section 6.4, with bits 16 to 1 of the modulus tied to
/// 0 and bit 0 to 1.
///
/// The BASALISC paper names the moduli, not the circuit. This is Montgomery's method with R = 2^32, in which these
/// moduli save more than half of both products. As (h 2^17)^2 = 0 mod 2^32, -q^-1 = h 2^17 - 1. So the factor m of q,
/// for which x + m q is 0 mod 2^32, needs only the low 15 bits of x h. The multiple m q is a product of 32 by 15 bits.
/// ([`WordMontgomery`](super::WordMontgomery) with w = 17 is the method with R = 2^34.)
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MontgomeryFriendly32 {
    q: Modulus,
    /// The factor 2^-32 mod q by which the reduction multiplies.
    factor: u64,
}

/// The values of all stages of one reduction of a number x modulo q = h 2^17 + 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FriendlyStages {
    /// The product x h mod 2^15 of the reduced number x and h, where the modulus is q = h 2^17 + 1.
    pub product: u32,
    /// The factor m for which x + m q is 0 mod 2^32, where x is the reduced number: product 2^17 -
    /// x mod 2^32. It is x (-q^-1) mod 2^32.
    pub multiplier: u32,
    /// The product multiplier * h, below 2^47, where the modulus is q = h 2^17 + 1.
    pub multiple: u64,
    /// The sum (x + multiplier + multiple 2^17) / 2^32, below 2q, where x is the reduced number and
    /// q the modulus.
    pub sum: u64,
    /// The result x / 2^32 mod q for the reduced number x.
    pub result: u32,
}

impl MontgomeryFriendly32 {
    /// The number of low bits of the modulus that the circuit ties to constants.
    pub const FIXED_BITS: u32 = 17;

    /// Makes the reduction modulo q = h 2^17 + 1.
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] unless q < 2^32 and q = 1 mod 2^17.
    pub fn new(q: Modulus) -> Result<Self, MathError> {
        if q.bits() > 32 || q.value() % (1 << Self::FIXED_BITS) != 1 {
            return Err(MathError::OutOfRange {
                what: "Montgomery-friendly modulus",
                expected: "below 2^32 and 1 mod 2^17; pick one with primes::montgomery_friendly_primes",
                got: q.value().to_string(),
            });
        }
        Ok(Self {
            q,
            factor: q.inv(1 << 32)?,
        })
    }

    /// Returns h, the upper 15 bits of the modulus q = h 2^17 + 1.
    pub fn q_high(&self) -> u32 {
        (self.q.value() >> Self::FIXED_BITS) as u32
    }

    /// Returns the values of all stages of the reduction of x, for x < 2^32 q and the modulus q.
    pub fn stages(&self, x: u64) -> FriendlyStages {
        let low = x as u32;
        let product = low.wrapping_mul(self.q_high()) & 0x7fff;
        let multiplier = (product << Self::FIXED_BITS).wrapping_sub(low);
        let multiple = u64::from(multiplier) * u64::from(self.q_high());
        // The sum has at most 65 bits, so it is computed in 128.
        let wide =
            u128::from(x) + u128::from(multiplier) + (u128::from(multiple) << Self::FIXED_BITS);
        let sum = (wide >> 32) as u64;
        FriendlyStages {
            product,
            multiplier,
            multiple,
            sum,
            result: subtract_once(sum.into(), self.q) as u32,
        }
    }

    /// Returns the Montgomery form a 2^32 mod q of a residue a.
    pub fn to_form(&self, a: u64) -> u64 {
        self.q.reduce_wide(u128::from(a) << 32)
    }

    /// Returns the residue a from its Montgomery form a 2^32 mod q.
    pub fn from_form(&self, a: u64) -> u64 {
        self.reduce(a.into())
    }
}

impl Reduction for MontgomeryFriendly32 {
    fn modulus(&self) -> Modulus {
        self.q
    }

    fn factor(&self) -> u64 {
        self.factor
    }

    fn limit(&self) -> u128 {
        u128::from(self.q.value()) << 32
    }

    fn reduce(&self, x: u128) -> u64 {
        self.stages(x as u64).result.into()
    }
}
