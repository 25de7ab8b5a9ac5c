// SPDX-License-Identifier: Apache-2.0
//! Figures of our ring machines of the Medha paper's size: the cycles of their instructions, and the memories of their
//! RPAUs (residue polynomial arithmetic units).

use ringmill_machines::fpga::Resource;
use ringmill_machines::ring::instructions::instructions as words;
use ringmill_machines::ring::micro::{OpWord, Opcode, Unit};
use ringmill_machines::ring::seen::seen;
use ringmill_machines::ring::{Description, OF_THE_PAPERS_SIZE, timing};

use super::operations::Operation;
use crate::error::PaperError;
use crate::figure::How;
use crate::row::Ours;
use crate::scope::{Record, record};
use crate::value::{counted, model, stated};

/// Returns the description of the ring machine of this name, among those of the Medha paper's size.
pub fn description(name: &str) -> Result<Description, PaperError> {
    let found = OF_THE_PAPERS_SIZE.iter().find(|(known, _)| *known == name);
    let (_, text) = found.ok_or_else(|| PaperError::Internal(format!("no machine `{name}`")))?;
    Ok(Description::parse(text)?)
}

/// Returns for each ring machine its modular multipliers, and the increase in per cent that the dyadic cores bring.
pub fn machines(operations: &[Operation]) -> Result<Vec<Record>, PaperError> {
    let machines = OF_THE_PAPERS_SIZE.iter().map(|(name, text)| {
        let d = Description::parse(text)?;
        let dyadic = d.cores.dyadic as f64;
        let others = d.multipliers_per_rpau() as f64 - dyadic;
        let first = operations.iter().find(|run| run.machine == *name);
        Ok(record([
            ("machine", (*name).into()),
            ("own_mhz", d.clock_mhz.into()),
            ("multipliers", model(first.map_or(0, |run| run.multipliers))),
            ("dyadic_percent", counted(100.0 * dyadic / others)),
        ]))
    });
    machines.collect()
}

/// Returns the cycles of the instructions of Table 2 of the Medha paper on limbs of 2^14 residues.
pub fn instructions(machine: &str) -> Result<Vec<Record>, PaperError> {
    let d = description(machine)?;
    let groups = d.slot_groups();
    let how = seen(machine).map_or(How::Model, |_| How::Lockstep);
    let words = words(&d).into_iter().map(|(name, word)| {
        let cycles = timing::duration(&d, &groups, d.log_n, &word).total;
        record([
            ("instruction", name.into()),
            ("key", key(&word).into()),
            ("cycles", Ours::Is(cycles as f64, how).into()),
        ])
    });
    Ok(words.collect())
}

/// Returns the name under which the printed figures have an instruction's cycles.
fn key(word: &OpWord) -> &'static str {
    match (word.op, word.unit) {
        (Opcode::Ntt | Opcode::Intt, _) => "ntt_reported",
        (Opcode::Bcast, _) => "broadcast",
        (Opcode::Muli, _) => "scale",
        (Opcode::Split | Opcode::Join, _) => "split_join",
        (Opcode::Auto, _) => "automorphism",
        (_, Unit::Dyadic) => "coefficientwise_dyadic",
        (_, Unit::Main) => "coefficientwise_main",
    }
}

/// Returns memories and multipliers of an RPAU of each prime size, and of a machine with the primes of both parameter
/// sets: one of 60 bits, the others of 54.
pub fn memory(machine: &str) -> Result<Vec<Record>, PaperError> {
    const KINDS: [(Resource, &str); 3] = [
        (Resource::BlockRam, "bram"),
        (Resource::UltraRam, "uram"),
        (Resource::Dsp, "dsp"),
    ];
    let d = description(machine)?;
    let others = d.rpaus.saturating_sub(1);
    let mut found = Vec::new();
    let mut push = |rpau: &str, (kind, key): (Resource, &str), prefix: &str, used: f64| {
        found.push(record([
            ("rpau", rpau.into()),
            ("resource", kind.name().into()),
            ("key", format!("{prefix}{key}").into()),
            ("used", stated(used)),
        ]));
    };
    let mut all = [0.0; 3];
    for (bits, count) in [(60, 1), (54, others)] {
        let fit = d.needs_at(bits)?.fit()?;
        for (kind, sum) in KINDS.into_iter().zip(&mut all) {
            let total = fit.totals.iter().find(|t| t.resource == kind.0);
            let each = total.map_or(0.0, |t| t.each);
            *sum += each * count as f64;
            push(
                &format!("RPAU of {bits} bits"),
                kind,
                &format!("rpau_{bits}."),
                each,
            );
        }
    }
    let case = format!("all RPAUs, 1 of 60 bits and {others} of 54");
    for (kind, used) in KINDS.into_iter().zip(all) {
        push(&case, kind, "", used);
    }
    Ok(found)
}
