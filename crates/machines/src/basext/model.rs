// SPDX-License-Identifier: Apache-2.0
//! The cycle model of the folded base-extension unit: a pure function of its shape and the job.
//!
//! It equals the RTL cycle for cycle if the streams do not stall.

use super::{Extension, Shape, Word};

/// Returns the cycles of a modular multiplication: `mul_latency` of `rm_wide_pkg`.
pub fn mul_latency(shape: Shape) -> u64 {
    match shape.word() {
        Word::Bits32 => 7,
        Word::Bits64 if shape.low() >= 15 => 12,
        Word::Bits64 => 13,
    }
}

/// Returns the cycles from a coefficient's issue to the read of its sum: two products in a row, and the register before
/// them.
pub fn sum_delay(shape: Shape) -> u64 {
    2 * mul_latency(shape) + 1
}

/// The most words of a memory without multiplexers between its blocks: `read_ahead` of `rm_basext_pkg`.
const SHALLOW: u64 = 4096;

/// Returns [`sum_delay`] of the folded unit, in which residues wait for the read that begins Post-Sum: `folded_delay`.
pub fn folded_delay(shape: Shape) -> u64 {
    sum_delay(shape) + u64::from(shape.beats(shape.max_log_n()) > SHALLOW)
}

/// Returns the cycles from a command until it is done, for `l` source and `k` target moduli and rings of 2^`log_n`: the
/// paper's (l + 2) N / TP for each target, and a fill. The last coefficient leaves in the same cycle.
pub fn cycles(shape: Shape, extension: Extension, l: usize, k: usize, log_n: u32) -> u64 {
    let (l, k, beats) = (l as u64, k as u64, shape.beats(log_n));
    let target = match extension {
        Extension::Exact => (l + 2) * beats + 2 * folded_delay(shape) + 3,
        Extension::Fast => l * beats + folded_delay(shape) + 3,
    };
    1 + k * target
}

/// Returns the cycles of a load of constants: a word a cycle.
pub fn load_cycles(words: usize) -> u64 {
    words as u64 + 3
}
