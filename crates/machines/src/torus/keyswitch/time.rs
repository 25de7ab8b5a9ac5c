// SPDX-License-Identifier: Apache-2.0
//! Computes the cycles of a TFHE key switch, and a lower bound on them.

use super::clock::{Clock, Command, Inputs};
use super::{BLOCK_WORDS, Shape};

/// The least work of a key switch on any unit, from the old dimension N to the new dimension n with
/// t digits a word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Floor {
    /// The rows of the switching key, N t, for dimension N and t digits a word.
    pub rows: u64,
    /// The words of all masks, N t n for the old dimension N, the new dimension n and t digits a word, since every row
    /// of the key has its own mask.
    pub mask_words: u64,
    /// The ChaCha20 blocks for all masks, N t ceil(n / 16) for the old dimension N, the new
    /// dimension n and t digits a word, since a block gives 16 words.
    pub blocks: u64,
}

impl Floor {
    /// Returns the least work of a key switch from dimension `large` to `small` with t = `levels` digits a
    /// word.
    pub fn of(large: usize, levels: usize, small: usize) -> Self {
        let rows = (large * levels) as u64;
        Self {
            rows,
            mask_words: rows * small as u64,
            blocks: rows * small.div_ceil(BLOCK_WORDS) as u64,
        }
    }

    /// Returns the least cycles in which the generators of a key-switching unit of this shape can expand the ChaCha20
    /// blocks of all masks.
    pub fn cycles(self, shape: Shape) -> u64 {
        let rate = shape.generators().cores as u64;
        (self.blocks * shape.turns()).div_ceil(rate)
    }
}

/// Returns the cycles of a key switch without stalls, from the command to its done bit. The command must have 1 to
/// `Shape::batch` ciphertexts, and dimensions from 1 to the shape's maxima.
pub fn cycles(shape: Shape, command: Command) -> u64 {
    let (large, small) = (usize::from(command.large), usize::from(command.small));
    let rows = (large * shape.digits().levels) as u64;
    let passes = shape.passes(small);
    let before = (passes - 1) as usize * shape.lanes();
    let words = u64::from(command.count) * (small - before + 1) as u64;
    let of_pass = u64::from(command.count) * shape.lanes() as u64;
    // The words of a pass have left the unit when the last row of the next pass comes.
    if shape.turns() == 1 && rows > shape.latency() + of_pass + 2 {
        return passes * (rows + 1) + shape.latency() + words + 2;
    }
    replay(shape, command)
}

pub fn replay(shape: Shape, command: Command) -> u64 {
    let mut clock = Clock::new(shape);
    let rows = u64::from(command.large) * shape.digits().levels as u64;
    let (mut given, mut cycle) = (0, 0);
    loop {
        let shown = clock.shown();
        if shown.done.is_some() {
            return cycle;
        }
        clock.step(Inputs {
            command: (cycle == 0).then_some(command),
            body: (given < rows).then_some(given + 1 == rows),
            take: true,
        });
        given += u64::from(shown.body_ready && given < rows);
        cycle += 1;
    }
}
