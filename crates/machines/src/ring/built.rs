// SPDX-License-Identifier: Apache-2.0
//! Checks whether the RTL can build a ring machine: the fields of its description and its primes
//! (docs/machines/ring.md, "Not built yet").

use super::description::{Description, PortGroup};
use crate::MachineError;
use crate::fields::ensure;
use crate::fpga::Sparse;

/// Refuses a description of a ring machine that the RTL cannot build.
///
/// # Errors
/// [`MachineError::Field`] with the first field that the RTL does not support.
pub fn check(d: &Description) -> Result<(), MachineError> {
    let row = d.row;
    ensure(d.splits <= 1, "splits", d.splits, "at most 1 in RTL")?;
    // With one stage a pass, half of a row's lanes belong to the generators.
    let generators = match d.main.stages {
        1 => d.cores.butterfly,
        _ => 0,
    };
    ensure(
        d.cores.generator == generators,
        "cores.generator",
        d.cores.generator,
        "none with two stages a pass, one a butterfly with one, in RTL",
    )?;
    let lanes = "2 or 4, and at most half a row, in RTL";
    let dyadic = d.cores.dyadic;
    ensure(
        [2, 4].contains(&dyadic) && 2 * dyadic <= row,
        "cores.dyadic",
        dyadic,
        lanes,
    )?;
    ensure(
        [4, 8, 16, 32, 64, 256].contains(&row) && row < 1 << d.log_n,
        "row",
        row,
        "4 to 64 or 256, below a limb, in RTL",
    )?;
    let lanes = d.main.lanes;
    ensure(lanes == row, "main.lanes", lanes, "a row in RTL")?;
    ensure(
        d.ring.lanes == row,
        "ring.lanes",
        d.ring.lanes,
        "a row in RTL",
    )?;
    let made = d.generator.residues_per_cycle;
    ensure(
        made == dyadic,
        "generator.residues_per_cycle",
        made,
        "as many as dyadic cores in RTL",
    )?;
    let group = d.keys.group;
    ensure(
        group.is_power_of_two() && group > 1 && d.keys.slots > 0,
        "keys.group",
        group,
        "a power of two from 2 on, and key slots, in RTL",
    )?;
    let board = d.pipeline.board;
    ensure(board == 6, "pipeline.board", board, "6 in RTL")?;
    let dispatch = d.pipeline.dispatch;
    ensure(
        dispatch > 0,
        "pipeline.dispatch",
        dispatch,
        "a cycle or more in RTL",
    )?;
    ensure(d.keys.rotate == 1, "keys.rotate", d.keys.rotate, "1 in RTL")?;
    ensure(d.rpaus <= 10, "rpaus", d.rpaus, "at most 10 in RTL")?;
    let (wide, narrow) = memory(d);
    let alone = |g: &PortGroup| g.slots == 1 && g.residues.is_none();
    let singles = wide
        .split_first()
        .is_some_and(|(first, rest)| first.residues.is_none() && rest.iter().all(alone));
    ensure(
        singles,
        "memory.slots",
        d.memory.len(),
        "slots that share ports first, single ones behind, narrow ones in one memory last, in RTL",
    )?;
    if let Some(residues) = narrow.and_then(|g| g.residues) {
        ensure(
            residues.is_power_of_two() && residues >= dyadic.max(2) && residues < row,
            "memory.residues",
            residues,
            "a power of two of at least 2 and as many as dyadic cores, below a row, in RTL",
        )?;
    }
    let cycles = super::timing::link(d, d.log_n);
    ensure(
        cycles >= 1 << d.log_n,
        "link.us_per_limb",
        d.link.us_per_limb,
        "a cycle a residue or more in RTL",
    )
}

/// Returns the port groups of polynomial memory (slots that share their ports). If the last group has ports narrower
/// than a row of the memory, it is returned apart, in the second place; earlier narrow groups, which [`check`] refuses,
/// stay in the first.
pub fn memory(d: &Description) -> (&[PortGroup], Option<&PortGroup>) {
    match d.memory.split_last() {
        Some((last, rest)) if last.residues.is_some_and(|r| r < d.row) => (rest, Some(last)),
        _ => (&d.memory, None),
    }
}

/// Refuses limbs of 2^`log_n` coefficients if the RTL does not support that size.
///
/// # Errors
/// [`MachineError::Field`] for limbs of at most one row, or above the native degree.
pub fn check_size(d: &Description, log_n: u8) -> Result<(), MachineError> {
    let least = d.row.ilog2() as u8 + 1;
    let expected = format!("limbs of 2^{least} to 2^{} coefficients in RTL", d.log_n);
    match (least..=d.log_n).contains(&log_n) {
        true => Ok(()),
        false => Err(MachineError::Field {
            field: "log_n",
            got: format!("limbs of 2^{log_n}"),
            expected,
        }),
    }
}

/// Refuses a prime q modulo which no RPAU of the described machine can compute.
///
/// # Errors
/// [`MachineError::Field`] with the field that the prime exceeds.
pub fn check_prime(d: &Description, q: u64) -> Result<(), MachineError> {
    let sparse = Sparse::new(q).filter(|s| s.width <= d.word_bits);
    let Some(sparse) = sparse else {
        return Err(MachineError::Field {
            field: "word_bits",
            got: format!("the prime {q}"),
            expected: format!(
                "primes next to a power of two of at most {} bits in RTL",
                d.word_bits
            ),
        });
    };
    let stages = |field, has: u64, needs: Option<u64>| match needs {
        Some(needs) if needs <= has => Ok(()),
        needs => Err(MachineError::Field {
            field,
            got: has.to_string(),
            expected: match needs {
                Some(needs) => format!("{needs} stages for the prime {q} in RTL"),
                None => format!("primes of more bits than {q} in RTL: no stages are enough for it"),
            },
        }),
    };
    stages(
        "pipeline.multiplier",
        d.pipeline.multiplier,
        Some(sparse.mul_latency()),
    )?;
    stages("generator.fold", d.generator.fold, sparse.fold_latency())?;
    // If the ring does not reduce, `RED` does so in the multiplier's own reducer.
    match d.ring.reduces {
        true => stages(
            "ring.reducer",
            d.ring.reducer,
            sparse.arrival_latency(d.word_bits),
        ),
        false => Ok(()),
    }
}
