// SPDX-License-Identifier: Apache-2.0
//! Sums and differences of encrypted integers, with carries from limb to limb. A limb holds four bits.

use super::{Int, LIMB};
use crate::circuit::error::CircuitError;
use crate::circuit::small::{Lookups, Small};

impl Int {
    /// Computes the sum of this encrypted integer and another modulo 2^bits, with one bootstrap for
    /// each limb of four bits.
    ///
    /// # Errors
    /// [`CircuitError::Noise`], [`CircuitError::Halt`].
    pub fn plus(&self, l: &mut Lookups, other: &Self) -> Result<Self, CircuitError> {
        let mut carry = Small::constant(0);
        let mut limbs = Vec::new();
        let (a, b) = (self.whole(l)?, other.whole(l)?);
        for (i, (a, b)) in a.iter().zip(&b).enumerate() {
            let width = (self.bits - LIMB * i as u32).min(LIMB);
            let above = l.lookup(&[(1, a), (1, b), (1, &carry)], |x| x >> width)?;
            let sum = l.total(&[(1, a), (1, b), (1, &carry), (-(1 << width), &above)])?;
            limbs.push(sum.known_within(0, (1 << width) - 1));
            carry = above;
        }
        Ok(Self::of_limbs(self.bits, limbs))
    }

    /// Computes this encrypted integer less another modulo 2^bits.
    ///
    /// # Errors
    /// [`CircuitError::Noise`], [`CircuitError::Halt`].
    pub fn minus(&self, l: &mut Lookups, other: &Self) -> Result<Self, CircuitError> {
        Ok(self.difference(l, other)?.0)
    }

    /// Returns this encrypted integer less another modulo 2^bits, and an encrypted bit that tells whether this one is
    /// the smaller, both unsigned.
    pub(super) fn difference(
        &self,
        l: &mut Lookups,
        other: &Self,
    ) -> Result<(Self, Small), CircuitError> {
        let mut borrow = Small::constant(0);
        let mut limbs = Vec::new();
        let (a, b) = (self.whole(l)?, other.whole(l)?);
        for (i, (a, b)) in a.iter().zip(&b).enumerate() {
            let width = (self.bits - LIMB * i as u32).min(LIMB);
            let terms = [(1, a), (-1, b), (-1, &borrow)];
            let below = l.lookup(&terms, |x| i64::from(x < 0))?;
            let sum = l.total(&[(1, a), (-1, b), (-1, &borrow), (1 << width, &below)])?;
            limbs.push(sum.known_within(0, (1 << width) - 1));
            borrow = below;
        }
        Ok((Self::of_limbs(self.bits, limbs), borrow))
    }
}
