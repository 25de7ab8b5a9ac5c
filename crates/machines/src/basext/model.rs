// SPDX-License-Identifier: Apache-2.0
//! The cycle model of the folded base-extension unit, which computes one target modulus at a time. The cycles depend
//! only on the unit's shape and the extension.
//!
//! The model equals the RTL cycle for cycle if the unit's streams do not stall.

use super::{Extension, Shape, Word};

/// Returns the latency of a modular multiplication in cycles: `mul_latency` of `rm_wide_pkg`.
pub fn mul_latency(shape: Shape) -> u64 {
    match shape.word() {
        Word::Bits32 => 7,
        Word::Bits64 if shape.low() >= 15 => 12,
        Word::Bits64 => 13,
    }
}

/// Returns the cycles from the issue of a coefficient's source residue to the read of the partial sum for the target,
/// to which its product is added. They are two modular products one after the other, and one register before them.
pub fn sum_delay(shape: Shape) -> u64 {
    2 * mul_latency(shape) + 1
}

/// The most words of a memory that the RTL reads without a register for the multiplexers between its RAM blocks:
/// `read_ahead` of `rm_basext_pkg`.
const SHALLOW: u64 = 4096;

/// Returns the folded unit's [`sum_delay`], plus one cycle if a limb of the largest degree has more than 4096 beats
/// (`folded_delay` of `rm_basext_pkg`). The memory of sums is then deeper than one RAM block. Residues wait that cycle
/// for the read that begins the Post-Sum Process, which computes the target's residues from the sums.
pub fn folded_delay(shape: Shape) -> u64 {
    sum_delay(shape) + u64::from(shape.beats(shape.max_log_n()) > SHALLOW)
}

/// Returns the cycles of one extension, from the command to the last coefficient, for `l` sources,
/// `k` targets and rings of N = 2^`log_n`. With TP lanes, each target of an exact extension takes
/// (l + 2) N / TP cycles, as in Kırbıyık's thesis, and each of a fast one l N / TP. The latency of
/// the pipeline is added for each target: twice for an exact extension, once for a fast one.
pub fn cycles(shape: Shape, extension: Extension, l: usize, k: usize, log_n: u32) -> u64 {
    let (l, k, beats) = (l as u64, k as u64, shape.beats(log_n));
    let target = match extension {
        Extension::Exact => (l + 2) * beats + 2 * folded_delay(shape) + 3,
        Extension::Fast => l * beats + folded_delay(shape) + 3,
    };
    1 + k * target
}

/// Returns the cycles in which the unit loads `words` constants, one word in a cycle.
pub fn load_cycles(words: usize) -> u64 {
    words as u64 + 3
}
