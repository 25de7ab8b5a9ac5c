// SPDX-License-Identifier: Apache-2.0
//! Comparisons of encrypted integers. Each result is one encrypted bit.

use super::{Int, LIMB};
use crate::circuit::error::CircuitError;
use crate::circuit::small::{Lookups, Small};

impl Int {
    /// Returns an encrypted bit: whether self < other, with one bootstrap for each limb of four bits. `signed` reads
    /// both integers as two's complement, and may take two more bootstraps for the top limb.
    ///
    /// # Errors
    /// [`CircuitError::Noise`], [`CircuitError::Halt`].
    pub fn less(&self, l: &mut Lookups, other: &Self, signed: bool) -> Result<Small, CircuitError> {
        let (a, b) = (self.whole(l)?, other.whole(l)?);
        let top = a.len() - 1;
        let mut borrow = Small::constant(0);
        for (i, (a, b)) in a.iter().zip(&b).enumerate() {
            borrow = if signed && i == top {
                self.top_less(l, [a, b], &borrow)?
            } else {
                l.lookup(&[(1, a), (-1, b), (-1, &borrow)], |x| i64::from(x < 0))?
            };
        }
        Ok(borrow)
    }

    /// Returns whether the top limb of a signed integer, less a borrow, is below another's top limb. With the sign bit
    /// inverted, two's complement compares like unsigned integers.
    fn top_less(
        &self,
        l: &mut Lookups,
        [a, b]: [&Small; 2],
        borrow: &Small,
    ) -> Result<Small, CircuitError> {
        let sign = 1 << ((self.bits - 1) % LIMB);
        match (a.known(), b.known(), borrow.known()) {
            (_, Some(b), Some(borrow)) => {
                l.lookup(&[(1, a)], |a| i64::from((a ^ sign) < (b ^ sign) + borrow))
            }
            (Some(a), _, Some(borrow)) => {
                l.lookup(&[(1, b)], |b| i64::from((a ^ sign) < (b ^ sign) + borrow))
            }
            (_, _, _) => {
                let a = l.lookup(&[(1, a)], |x| x ^ sign)?;
                let b = l.lookup(&[(1, b)], |x| x ^ sign)?;
                l.lookup(&[(1, &a), (-1, &b), (-1, borrow)], |x| i64::from(x < 0))
            }
        }
    }

    /// Returns an encrypted bit: whether both integers are equal, with one bootstrap for each limb of four bits and one
    /// for all limbs together.
    ///
    /// # Errors
    /// [`CircuitError::Noise`], [`CircuitError::Halt`].
    pub fn equal(&self, l: &mut Lookups, other: &Self) -> Result<Small, CircuitError> {
        let mut same = Small::constant(0);
        let (a, b) = (self.whole(l)?, other.whole(l)?);
        for (a, b) in a.iter().zip(&b) {
            let here = l.lookup(&[(1, a), (-1, b)], |x| i64::from(x == 0))?;
            same = l.total(&[(1, &same), (1, &here)])?;
        }
        let all = a.len() as i64;
        l.lookup(&[(1, &same)], |x| i64::from(x == all))
    }
}
