// SPDX-License-Identifier: Apache-2.0
//! Tracks the chunks at one place of the vector machine's buffer that are still to be written, and decides
//! which accesses wait for them.

use super::layout::Orientation;

/// log2 of the most chunks of a limb that are distinguished, since a 64-bit word has one bit for each.
pub(super) const LOG_LIMB_CHUNKS: u8 = u64::BITS.ilog2() as u8;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Pending {
    /// One bit for each chunk of rows that is still to be written. `columns` has the bits of chunks of
    /// columns.
    rows: u64,
    columns: u64,
    /// The number of chunks of scattered rows that are still to be written.
    scattered: u32,
}

impl Pending {
    /// Returns whether an access to a chunk in the orientation `how` must wait for a write to the chunk's
    /// limb.
    #[inline]
    pub(super) fn blocks(self, chunk: u32, how: Orientation) -> bool {
        let bit = 1 << chunk;
        let scattered = self.scattered > 0;
        match how {
            Orientation::Rows => scattered || self.rows & bit != 0 || self.columns != 0,
            Orientation::Columns => scattered || self.columns & bit != 0 || self.rows != 0,
            // The rows that an automorphism writes one after another differ, and all go through one pipeline.
            Orientation::Scattered => self.rows | self.columns != 0,
        }
    }

    /// Notes that a chunk is still to be written, in the orientation `how`: rows, columns or scattered
    /// rows.
    #[inline]
    pub(super) fn add(&mut self, chunk: u32, how: Orientation) {
        match how {
            Orientation::Rows => self.rows |= 1 << chunk,
            Orientation::Columns => self.columns |= 1 << chunk,
            Orientation::Scattered => self.scattered += 1,
        }
    }

    /// Notes that a chunk was written, in the orientation `how`: rows, columns or scattered rows.
    #[inline]
    pub(super) fn remove(&mut self, chunk: u32, how: Orientation) {
        match how {
            Orientation::Rows => self.rows &= !(1 << chunk),
            Orientation::Columns => self.columns &= !(1 << chunk),
            Orientation::Scattered => self.scattered -= 1,
        }
    }
}
