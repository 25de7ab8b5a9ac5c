// SPDX-License-Identifier: Apache-2.0
//! The order in which a transform goes over its rows (docs/machines/ring.md, "Passes"). For each step of each pass it
//! says which coefficients form the row, and in which memory column each lies.
//!
//! The RTL's address generators and twiddle tables follow these rules.

use super::description::Description;

/// The passes of a transform of 2^`log_n` coefficients in memory rows of 2^`log_row` coefficients.
/// Each pass computes `stages` stages of the transform.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passes {
    pub log_n: u32,
    pub log_row: u32,
    pub stages: u32,
}

impl Passes {
    /// Returns the passes of a transform of the machine's native degree.
    pub fn of(d: &Description) -> Self {
        Self {
            log_n: u32::from(d.log_n),
            log_row: d.row.ilog2(),
            stages: d.main.stages as u32,
        }
    }

    /// Returns the number of passes of the transform. Pass 0 has the butterflies whose two coefficients differ in
    /// the lowest bits of their index. The inverse transform runs the passes upwards, the forward one downwards.
    pub fn count(&self) -> u32 {
        self.log_n.div_ceil(self.stages)
    }

    /// Returns the bits of the coefficient index in which the two coefficients of a butterfly of the pass `pass`
    /// differ, one bit for each stage of the pass, lowest first.
    pub fn pairs(&self, pass: u32) -> std::ops::Range<u32> {
        self.stages * pass..(self.stages * (pass + 1)).min(self.log_n)
    }

    /// Returns the lowest bit of the window of the pass `pass`. The window is the `log_row` bits of the coefficient
    /// index in which the coefficients of a row differ. It begins at the pass's lowest pair bit ([`Self::pairs`]),
    /// but no higher than the top `log_row` bits.
    pub fn window(&self, pass: u32) -> u32 {
        (self.stages * pass).min(self.log_n.saturating_sub(self.log_row))
    }

    /// Returns log2 of the number of steps of a pass. Each step takes one row of memory.
    pub fn log_steps(&self) -> u32 {
        self.log_n.saturating_sub(self.log_row)
    }

    /// Returns log2 of the number of steps of a pass after which the twiddles of a butterfly
    /// repeat. These low bits of the step counter are the bits of the coefficient index above the
    /// window ([`Self::window`]), highest index bit first. Over them the twiddles run through their
    /// exponents one by one.
    pub fn log_repeat(&self, pass: u32) -> u32 {
        self.log_steps() - self.window(pass)
    }

    /// Returns the bit of the coefficient index that bit `place` of the step counter stands for. The window
    /// ([`Self::window`]) is the bits in which the coefficients of a row differ. With the window at the bottom, the
    /// counter is the rest of the index in reversed order. From one pass to the next the window moves up: a bit
    /// that leaves the window takes the counter's place of the bit that enters.
    pub fn bit_at(&self, pass: u32, place: u32) -> u32 {
        let bit = self.log_n - 1 - place;
        if bit >= self.log_row + self.window(pass) {
            bit
        } else {
            bit - self.log_row
        }
    }

    /// Returns the index of the coefficient at lane `lane` of the row that step `step` of the pass `pass` takes.
    /// Bit i of the lane is bit w + i of the index, where w is [`Self::window`] of the pass.
    pub fn index(&self, pass: u32, step: usize, lane: usize) -> usize {
        let place = |place| (step >> place & 1) << self.bit_at(pass, place);
        (0..self.log_steps()).fold(lane << self.window(pass), |x, p| x | place(p))
    }

    /// Returns the memory column of a coefficient: the exclusive-or of the pieces of `log_row` bits into which its
    /// index is cut. The coefficient's address in the column is the index without the lowest piece.
    pub fn column(&self, index: usize) -> usize {
        let pieces = 0..self.log_n.div_ceil(self.log_row.max(1));
        let mask = (1usize << self.log_row) - 1;
        pieces.fold(0, |c, i| c ^ index >> (i * self.log_row)) & mask
    }
}
