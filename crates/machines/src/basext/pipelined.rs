// SPDX-License-Identifier: Apache-2.0
//! The cycle model of the pipelined base-extension unit (`rm_basext_pipelined`): a pure function of its shape and the
//! job.
//!
//! It equals the RTL cycle for cycle if the streams do not stall.

use super::{Extension, Shape, sum_delay};

/// The modular multipliers of a lane: 3 of the Sum Process, 2 of the Post-Sum Process (Table 3.2). Each process has 2
/// modular adders.
pub const MULTIPLIERS: u64 = 5;
pub const ADDERS: u64 = 4;

/// Returns the cycles from a command until it is done, for `l` source and `k` target moduli and rings of 2^`log_n`.
/// Each target takes (l + 1) N / TP, since Post-Sum follows the last sums while the next target's residues come. One
/// fill is added.
pub fn cycles(shape: Shape, extension: Extension, l: usize, k: usize, log_n: u32) -> u64 {
    let rows = match extension {
        Extension::Exact => l + 1,
        Extension::Fast => l,
    };
    (k * rows) as u64 * shape.beats(log_n) + 2 * sum_delay(shape) + 4
}
