// SPDX-License-Identifier: Apache-2.0
//! Quotient and remainder of encrypted integers by long division, two bits of the dividend at a time.

use super::shift::Shift;
use super::{Choice, DIGIT, Int};
use crate::circuit::error::CircuitError;
use crate::circuit::small::{Lookups, Small};

impl Int {
    /// Computes the quotient and the remainder of this encrypted integer by another, both unsigned. Division by 0 gives
    /// a quotient of ones and the remainder self.
    ///
    /// # Errors
    /// [`CircuitError::Noise`], [`CircuitError::Halt`].
    pub fn divided(&self, l: &mut Lookups, other: &Self) -> Result<(Self, Self), CircuitError> {
        let bits = self.bits;
        let mut rest: Vec<Small> = Vec::new();
        let mut quotient = Vec::new();
        let once = other.resized(l, bits.next_multiple_of(DIGIT), false)?;
        for digit in self.digits(l)?.into_iter().rev() {
            rest.insert(0, digit);
            // The rest with two more bits is below 4 times the divisor. It has `width` bits, so it is below 4
            // to the power of its number of digits.
            let width = DIGIT * rest.len() as u32;
            let divisor = once.low_and_rest(l, width)?;
            let mut left = Self::of_digits(width, rest);
            for twice in [true, false] {
                let (low, above) = &divisor;
                let (subtrahend, too_large) = if twice {
                    let doubled = low.shifted(l, Shift::Left, 1)?;
                    let lost = low.sign(l)?;
                    (doubled, l.total(&[(1, above), (1, &lost)])?)
                } else {
                    (low.clone(), above.clone())
                };
                let (difference, borrow) = left.difference(l, &subtrahend)?;
                let fits = l.lookup(&[(1, &borrow), (1, &too_large)], |x| i64::from(x == 0))?;
                let choice = Choice {
                    when_true: &difference,
                    when_false: &left,
                };
                left = Self::select(l, &fits, choice)?;
                quotient.push(fits);
            }
            rest = left.digits(l)?;
        }
        quotient.reverse();
        quotient.truncate(bits as usize);
        let remainder = Self::of_digits(DIGIT * rest.len() as u32, rest);
        Ok((
            Self::of_bits(l, &quotient)?,
            remainder.resized(l, bits, false)?,
        ))
    }

    /// Returns the integer's lowest `width` bits, and a small encrypted integer that is 0 if and only if all other bits
    /// are 0.
    fn low_and_rest(&self, l: &mut Lookups, width: u32) -> Result<(Self, Small), CircuitError> {
        let low = self.resized(l, width, false)?;
        let mut above = Small::constant(0);
        for digits in self.digits(l)?[(width / DIGIT) as usize..].chunks(4) {
            let terms: Vec<_> = digits.iter().map(|x| (1, x)).chain([(1, &above)]).collect();
            above = l.lookup(&terms, |x| i64::from(x > 0))?;
        }
        Ok((low, above))
    }

    /// Computes the quotient and the remainder of this encrypted integer by another, both in two's complement. The
    /// quotient rounds towards 0, and the remainder has the sign of self. Division by 0 gives the quotient -1 and the
    /// remainder self.
    ///
    /// # Errors
    /// [`CircuitError::Noise`], [`CircuitError::Halt`].
    pub fn divided_signed(
        &self,
        l: &mut Lookups,
        other: &Self,
    ) -> Result<(Self, Self), CircuitError> {
        let (negative, by_negative) = (self.sign(l)?, other.sign(l)?);
        let (a, b) = (
            self.negated_if(l, &negative)?,
            other.negated_if(l, &by_negative)?,
        );
        let (quotient, remainder) = a.divided(l, &b)?;
        let zero = other.equal(l, &Self::constant(other.bits, 0))?;
        // Division by 0 gives a quotient of ones whatever the signs, so it must not be negated.
        let differ = l.lookup(&[(1, &negative), (1, &by_negative), (2, &zero)], |x| {
            i64::from(x == 1)
        })?;
        Ok((
            quotient.negated_if(l, &differ)?,
            remainder.negated_if(l, &negative)?,
        ))
    }

    /// Returns -self if the encrypted bit is 1, else self.
    fn negated_if(&self, l: &mut Lookups, bit: &Small) -> Result<Self, CircuitError> {
        let negated = Self::constant(self.bits, 0).minus(l, self)?;
        let choice = Choice {
            when_true: &negated,
            when_false: self,
        };
        Self::select(l, bit, choice)
    }
}
