// SPDX-License-Identifier: Apache-2.0
//! Tables of integers, read at an encrypted index of at most eight bits.

use super::{DIGIT, Int, LIMB};
use crate::circuit::error::CircuitError;
use crate::circuit::small::{Lookups, Small};

/// The largest number of bits of a table's index.
pub const MAX_INDEX: u32 = 2 * LIMB;

impl Int {
    /// Returns the entry at this encrypted index of a table of integers of `bits` bits, or 0 for an index beyond the
    /// table's end. An index of up to four bits takes one bootstrap for each digit of the entries. A longer index takes
    /// one bootstrap for each block of 16 entries, which compares the block with the upper bits. For each digit and
    /// block it takes up to two more: one for the entry, and one that replaces the entry by 0 in all other blocks.
    ///
    /// # Errors
    /// [`CircuitError::OutOfRange`] for an index of more than eight bits; [`CircuitError::Noise`],
    /// [`CircuitError::Halt`].
    pub fn entry(&self, l: &mut Lookups, bits: u32, table: &[u64]) -> Result<Self, CircuitError> {
        if self.bits > MAX_INDEX {
            return Err(CircuitError::OutOfRange {
                what: "bits of a table's index".to_owned(),
                expected: format!("1 to {MAX_INDEX}"),
                got: self.bits.to_string(),
            });
        }
        let limbs = self.whole(l)?;
        let (low, high) = (&limbs[0], limbs.get(1));
        let mut digits = Vec::new();
        for at in (0..bits).step_by(DIGIT as usize) {
            let digit = |i: usize| (table.get(i).copied().unwrap_or(0) >> at & 3) as i64;
            let Some(high) = high else {
                digits.push(l.lookup(&[(1, low)], |x| digit(x as usize))?);
                continue;
            };
            let mut sum = Small::constant(0);
            for block in 0..=high.high() {
                let here = l.lookup(&[(1, high)], |x| i64::from(x == block))?;
                let entry = l.lookup(&[(1, low)], |x| digit(x as usize + 16 * block as usize))?;
                let chosen =
                    l.lookup(
                        &[(4, &here), (1, &entry)],
                        |x| {
                            if x >= 4 { x & 3 } else { 0 }
                        },
                    )?;
                // At most one block's digit is not 0, so the sum stays below 4.
                sum = l.total(&[(1, &sum), (1, &chosen)])?.known_within(0, 3);
            }
            digits.push(sum);
        }
        Ok(Self::of_digits(bits, digits))
    }
}
