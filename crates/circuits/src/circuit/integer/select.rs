// SPDX-License-Identifier: Apache-2.0
//! Chooses one of two encrypted integers by an encrypted bit.

use super::Int;
use crate::circuit::error::CircuitError;
use crate::circuit::small::{Lookups, Small};

/// The two integers that an encrypted bit chooses between.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'a> {
    pub when_true: &'a Int,
    pub when_false: &'a Int,
}

impl Int {
    /// Returns the integer `when_true` of the choice if the encrypted bit is 1, else `when_false`, with one bootstrap
    /// for each digit in base 4. A limb of four bits that must be split into digits takes another.
    ///
    /// # Errors
    /// [`CircuitError::Noise`], [`CircuitError::Halt`].
    pub fn select(l: &mut Lookups, bit: &Small, choice: Choice<'_>) -> Result<Self, CircuitError> {
        match bit.known() {
            Some(0) => Ok(choice.when_false.clone()),
            Some(_) => Ok(choice.when_true.clone()),
            None => {
                let gains = gains(l, bit, choice)?;
                let digits = choice.when_false.digits(l)?;
                let to = choice.when_true.digits(l)?;
                Self::moved_by(l, choice.when_false.bits, 1, &gains, [&digits, &to])
            }
        }
    }

    /// Returns the smaller and the larger of two encrypted integers. `signed` reads both as two's complement. The
    /// bootstraps that choose the one integer also give the other.
    ///
    /// # Errors
    /// [`CircuitError::Noise`], [`CircuitError::Halt`].
    pub fn ordered(
        &self,
        l: &mut Lookups,
        other: &Self,
        signed: bool,
    ) -> Result<(Self, Self), CircuitError> {
        // Both orders give the same result. Trailing zeros of b, or trailing ones of a, cost no bootstrap in the
        // comparison.
        let (mine, others) = (self.low(l)?.known(), other.low(l)?.known());
        let [a, b] = if mine == Some(0) || others.is_some_and(|low| low != 0) {
            [other, self]
        } else {
            [self, other]
        };
        let less = a.less(l, b, signed)?;
        if let Some(less) = less.known() {
            let both = (a.clone(), b.clone());
            return Ok(if less == 1 { both } else { (both.1, both.0) });
        }
        let choice = Choice {
            when_true: b,
            when_false: a,
        };
        let gains = gains(l, &less, choice)?;
        let (a, b) = (a.digits(l)?, b.digits(l)?);
        let most = Self::moved_by(l, self.bits, 1, &gains, [&a, &b])?;
        let least = Self::moved_by(l, self.bits, -1, &gains, [&b, &a])?;
        Ok((least, most))
    }

    /// Computes the integer with the digits `from` + `factor` * `gains` in base 4. The caller
    /// ensures that each digit of the result equals the digit of `from` or the digit of `to` at its
    /// place.
    fn moved_by(
        l: &mut Lookups,
        bits: u32,
        factor: i64,
        gains: &[Small],
        [from, to]: [&[Small]; 2],
    ) -> Result<Self, CircuitError> {
        let mut digits = Vec::with_capacity(from.len());
        for ((from, to), gain) in from.iter().zip(to).zip(gains) {
            let (least, most) = (from.low().min(to.low()), from.high().max(to.high()));
            let sum = l.total(&[(1, from), (factor, gain)])?;
            digits.push(sum.known_within(least, most));
        }
        Ok(Self::of_digits(bits, digits))
    }
}

/// Returns for each digit in base 4 the difference of the digits of the choice's two integers, `when_true` less
/// `when_false`, if the encrypted bit is 1. If it is 0, all differences are 0.
fn gains(l: &mut Lookups, bit: &Small, choice: Choice<'_>) -> Result<Vec<Small>, CircuitError> {
    let (a, b) = (choice.when_true.digits(l)?, choice.when_false.digits(l)?);
    let each = a.iter().zip(&b).map(|(a, b)| {
        // The table has two ranges: differences where the bit is 0, and above them differences where it is 1.
        let (low, high) = (a.low() - b.high(), a.high() - b.low());
        let shift = 1 + high - low;
        l.lookup(&[(1, a), (-1, b), (shift, bit)], |x| {
            if x > high { x - shift } else { 0 }
        })
    });
    each.collect()
}
