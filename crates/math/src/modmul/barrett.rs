// SPDX-License-Identifier: Apache-2.0
//! Models Barrett reduction in hardware.

use super::{Reduction, subtract_once};
use crate::Modulus;

/// A reduction of x to x mod q, for a k-bit q and x < 2^2k, by Barrett's method with the constant
/// mu = floor(2^2k / q). SEAL and HEAX use this method (Medha paper, appendix A). The shifts are
/// those of hardware: k - 1 before the product by mu, k + 1 after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Barrett {
    q: Modulus,
    mu: u128,
}

/// The values of all stages of one Barrett reduction of a number x modulo a k-bit q.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BarrettStages {
    /// The top part of the number x that is reduced: x >> (k - 1), below 2^(k+1), for a k-bit q.
    pub top: u128,
    /// The estimate of the quotient floor(x / q) of the reduced number x: never above it, and at
    /// most 2 below.
    pub quotient: u128,
    /// The remainder before correction: x - quotient * q, below 3q, for the reduced number x.
    pub remainder: u128,
    /// The remainder after the first of two conditional subtractions of q, below 2q.
    pub once: u128,
    /// The result x mod q for the reduced number x.
    pub result: u64,
}

impl Barrett {
    pub fn new(q: Modulus) -> Self {
        let mu = (1u128 << (2 * q.bits())) / u128::from(q.value()); // 2k <= 122
        Self { q, mu }
    }

    /// Returns Barrett's constant mu = floor(2^2k / q) for a k-bit q. It is at most 2^(k+1).
    pub fn mu(&self) -> u128 {
        self.mu
    }

    /// Returns the values of all stages of the reduction of x, for x < 2^2k and a k-bit q.
    pub fn stages(&self, x: u128) -> BarrettStages {
        let k = self.q.bits();
        let top = x >> (k - 1);
        let quotient = top.wrapping_mul(self.mu) >> (k + 1);
        let remainder = x.wrapping_sub(quotient.wrapping_mul(self.q.value().into()));
        let once = subtract_once(remainder, self.q);
        BarrettStages {
            top,
            quotient,
            remainder,
            once,
            result: subtract_once(once, self.q) as u64,
        }
    }
}

impl Reduction for Barrett {
    fn modulus(&self) -> Modulus {
        self.q
    }

    fn limit(&self) -> u128 {
        1 << (2 * self.q.bits())
    }

    fn reduce(&self, x: u128) -> u64 {
        self.stages(x).result
    }
}
