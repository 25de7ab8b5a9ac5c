// SPDX-License-Identifier: Apache-2.0
//! The cycle model of the pipelined unit (`rm_basext_pipelined`): a pure function of its shape and the job, equal to the RTL
//! cycle for cycle where its streams do not stall.

use super::{Extension, Shape, sum_delay};

/// Modular multipliers and adders of a lane: 3 and 2 of the Sum Process, 2 and 2 of the Post-Sum Process (Table 3.2).
pub const MULTIPLIERS: u64 = 5;
pub const ADDERS: u64 = 4;

/// Cycles from a command until it is done, for so many source and target moduli and rings of 2^`log_n`: (l + 1) N / TP for
/// each target, since Post-Sum follows the last sums and the next target's residues come meanwhile, and one fill.
pub fn cycles(shape: Shape, extension: Extension, l: usize, k: usize, log_n: u32) -> u64 {
    let rows = match extension {
        Extension::Exact => l + 1,
        Extension::Fast => l,
    };
    (k * rows) as u64 * shape.beats(log_n) + 2 * sum_delay(shape) + 4
}
