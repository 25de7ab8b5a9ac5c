// SPDX-License-Identifier: Apache-2.0
//! Bitwise operations on encrypted integers, with one bootstrap for each digit of two bits, and one for each limb of
//! four bits that must be split into digits. An inversion takes none.

use super::{Int, LIMB, Limb, largest};
use crate::circuit::error::CircuitError;
use crate::circuit::small::{Lookups, Small};

impl Int {
    /// Applies a function of two digits in base 4 to each pair of digits of two integers.
    ///
    /// # Errors
    /// [`CircuitError::Noise`], [`CircuitError::Halt`].
    pub fn bitwise(
        &self,
        l: &mut Lookups,
        other: &Self,
        f: impl Fn(i64, i64) -> i64,
    ) -> Result<Self, CircuitError> {
        let (a, b) = (self.digits(l)?, other.digits(l)?);
        let mut digits = Vec::with_capacity(a.len());
        for (a, b) in a.iter().zip(&b) {
            digits.push(match (a.known(), b.known()) {
                (_, Some(b)) => l.lookup(&[(1, a)], |a| f(a, b))?,
                (Some(a), _) => l.lookup(&[(1, b)], |b| f(a, b))?,
                (None, None) => l.lookup(&[(4, a), (1, b)], |x| f(x >> 2, x & 3))?,
            });
        }
        Ok(Self::of_digits(self.bits, digits))
    }

    /// Inverts every bit of the integer, without a bootstrap.
    #[must_use]
    pub fn inverted(&self) -> Self {
        let not = |x: &Small, most: i64| Small::constant(most).plus(-1, x).known_within(0, most);
        let limbs = self.limbs.iter().enumerate().map(|(i, limb)| {
            let at = LIMB * i as u32;
            match limb {
                Limb::Whole(x) => Limb::Whole(not(x, largest(self.bits, at, 4))),
                Limb::Pair(low, high) => Limb::Pair(
                    not(low, largest(self.bits, at, 2)),
                    not(high, largest(self.bits, at + 2, 2)),
                ),
            }
        });
        Self {
            bits: self.bits,
            limbs: limbs.collect(),
        }
    }
}
