//! Comparisons, each one bit.

use super::{Int, LIMB};
use crate::circuit::error::CircuitError;
use crate::circuit::small::{Lookups, Small};

impl Int {
    /// Whether self is less than other, as two's complement where `signed`: a bootstrap a limb.
    ///
    /// # Errors
    /// [`CircuitError::Noise`].
    pub fn less(&self, l: &mut Lookups, other: &Self, signed: bool) -> Result<Small, CircuitError> {
        let (mut a, mut b) = (self.whole(l)?, other.whole(l)?);
        if signed {
            for limbs in [&mut a, &mut b] {
                self.flip_sign(l, limbs)?;
            }
        }
        let mut borrow = Small::constant(0);
        for (a, b) in a.iter().zip(&b) {
            borrow = l.lookup(&[(1, a), (-1, b), (-1, &borrow)], |x| i64::from(x < 0))?;
        }
        Ok(borrow)
    }

    /// Turns the order of two's complement into that of unsigned numbers.
    fn flip_sign(&self, l: &mut Lookups, limbs: &mut [Small]) -> Result<(), CircuitError> {
        let sign = 1 << ((self.bits - 1) % LIMB);
        if let Some(top) = limbs.last_mut() {
            *top = l.lookup(&[(1, top)], |x| x ^ sign)?;
        }
        Ok(())
    }

    /// Whether they are equal: a bootstrap a limb, and one for all.
    ///
    /// # Errors
    /// [`CircuitError::Noise`].
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
