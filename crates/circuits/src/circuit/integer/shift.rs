// SPDX-License-Identifier: Apache-2.0
//! Shifts and rotations of encrypted integers, by known and by encrypted amounts.

use super::{Choice, DIGIT, Int};
use crate::circuit::error::CircuitError;
use crate::circuit::small::{Lookups, Small};

/// The direction of a shift, and the bits that come in at the free end.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Shift {
    /// A shift towards higher bits. Zeros come in.
    Left,
    /// A shift towards lower bits. Zeros come in.
    Right,
    /// A shift towards lower bits. Copies of the top bit come in.
    RightSigned,
    /// A rotation towards higher bits. Bits that leave at the top come in at the bottom.
    RotateLeft,
}

impl Shift {
    pub const ALL: [Self; 4] = [Self::Left, Self::Right, Self::RightSigned, Self::RotateLeft];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Right => "right",
            Self::RightSigned => "right_signed",
            Self::RotateLeft => "rotate_left",
        }
    }
}

impl Int {
    /// Shifts the integer by a known number of bits. An odd amount, or an odd width of the integer, takes one bootstrap
    /// for each digit of two bits. Limbs of four bits that must be split into digits take one bootstrap each. An even
    /// shift takes only these, and a signed one another for the top bit. An amount of the width or more moves all bits
    /// out, and a rotation takes the amount modulo the width.
    ///
    /// # Errors
    /// [`CircuitError::Noise`], [`CircuitError::Halt`].
    pub fn shifted(&self, l: &mut Lookups, shift: Shift, by: u32) -> Result<Self, CircuitError> {
        let bits = self.bits;
        let by = match shift {
            Shift::RotateLeft => by % bits,
            Shift::Left | Shift::Right | Shift::RightSigned => by.min(bits),
        };
        if by == 0 {
            return Ok(self.clone());
        }
        if !by.is_multiple_of(DIGIT) || !bits.is_multiple_of(DIGIT) {
            let of = self.separate(l)?;
            let ends = Ends {
                zero: &Small::constant(0),
                top: &of[bits as usize - 1],
            };
            return Self::of_bits(l, &moved(&of, shift, by as usize, ends));
        }
        let top = match shift {
            Shift::RightSigned => {
                let sign = self.sign(l)?;
                l.total(&[(3, &sign)])?
            }
            Shift::Left | Shift::Right | Shift::RotateLeft => Small::constant(0),
        };
        let ends = Ends {
            zero: &Small::constant(0),
            top: &top,
        };
        let digits = moved(&self.digits(l)?, shift, (by / DIGIT) as usize, ends);
        Ok(Self::of_digits(bits, digits))
    }

    /// Shifts the integer by an encrypted, unsigned number of bits. An amount of the width or more moves all bits out.
    /// A rotation takes the amount modulo the width, which must be a power of two.
    ///
    /// # Errors
    /// [`CircuitError::Refused`] for rotations of other widths, unless the amount is known; [`CircuitError::Noise`],
    /// [`CircuitError::Halt`].
    pub fn shifted_by(
        &self,
        l: &mut Lookups,
        shift: Shift,
        by: &Self,
    ) -> Result<Self, CircuitError> {
        if let Some(by) = by.known() {
            let by = match shift {
                Shift::RotateLeft => by % u64::from(self.bits),
                Shift::Left | Shift::Right | Shift::RightSigned => by.min(self.bits.into()),
            };
            return self.shifted(l, shift, by as u32);
        }
        if shift == Shift::RotateLeft && !self.bits.is_power_of_two() {
            return Err(CircuitError::Refused(format!(
                "an integer of {} bits cannot be rotated by an encrypted number: the width must be a power of two",
                self.bits
            )));
        }
        let amount = by.separate(l)?;
        let stages = u64::from(self.bits - 1)
            .checked_ilog2()
            .map_or(0, |x| x + 1);
        let (useful, above) = amount.split_at((stages as usize).min(amount.len()));
        let mut at = self.clone();
        for (i, bit) in useful.iter().enumerate() {
            let there = at.shifted(l, shift, 1 << i)?;
            let choice = Choice {
                when_true: &there,
                when_false: &at,
            };
            at = Self::select(l, bit, choice)?;
        }
        if shift == Shift::RotateLeft {
            return Ok(at);
        }
        // A 1 in any higher bit of the amount moves all bits out.
        let mut far = Small::constant(0);
        for bits in above.chunks(8) {
            let terms: Vec<_> = bits.iter().map(|bit| (1, bit)).chain([(1, &far)]).collect();
            far = l.lookup(&terms, |x| i64::from(x > 0))?;
        }
        let empty = at.shifted(l, shift, self.bits)?;
        let choice = Choice {
            when_true: &empty,
            when_false: &at,
        };
        Self::select(l, &far, choice)
    }
}

/// The values that a shift puts into the positions that become free.
#[derive(Clone, Copy)]
pub(in crate::circuit) struct Ends<'a, T> {
    pub zero: &'a T,
    /// The digit or bit that a signed shift to the right puts into free positions. It consists of copies of the
    /// integer's top bit.
    pub top: &'a T,
}

/// Returns the digits or bits of an integer after a shift by `by` positions.
pub(in crate::circuit) fn moved<T: Clone>(
    of: &[T],
    shift: Shift,
    by: usize,
    ends: Ends<'_, T>,
) -> Vec<T> {
    let n = of.len();
    let at = |i: usize| match shift {
        Shift::Left => i.checked_sub(by).map_or(ends.zero, |j| &of[j]),
        Shift::Right => of.get(i + by).unwrap_or(ends.zero),
        Shift::RightSigned => of.get(i + by).unwrap_or(ends.top),
        Shift::RotateLeft => &of[(i + n - by) % n],
    };
    (0..n).map(|i| at(i).clone()).collect()
}
