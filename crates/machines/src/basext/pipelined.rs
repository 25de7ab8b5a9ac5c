// SPDX-License-Identifier: Apache-2.0
//! The cycle model of the pipelined base-extension unit (`rm_basext_pipelined`). The cycles depend only on the unit's
//! shape and the extension.
//!
//! The model equals the RTL cycle for cycle if the unit's streams do not stall.

use super::{Extension, Shape, sum_delay};

/// The modular multipliers of one lane of the pipelined unit: three for sums and two for the residues computed from the
/// sums (the Sum and the Post-Sum Process in Table 3.2 of Kırbıyık's thesis). Each process has two modular adders.
pub const MULTIPLIERS: u64 = 5;
pub const ADDERS: u64 = 4;

/// Returns the cycles of one extension, from the command until it is done, for `l` sources, `k`
/// targets and rings of N = 2^`log_n`. With TP lanes, each target of an exact extension takes
/// (l + 1) N / TP cycles, and each of a fast one l N / TP. The computation of a target's residues
/// from its sums (the Post-Sum Process) overlaps the sums of the next target. The latency of the
/// pipeline is added once.
pub fn cycles(shape: Shape, extension: Extension, l: usize, k: usize, log_n: u32) -> u64 {
    let rows = match extension {
        Extension::Exact => l + 1,
        Extension::Fast => l,
    };
    (k * rows) as u64 * shape.beats(log_n) + 2 * sum_delay(shape) + 4
}
