// SPDX-License-Identifier: Apache-2.0
//! Figures of our ring machines of the Medha paper's size: the cycles of their instructions, and the memories of their
//! RPAUs (residue polynomial arithmetic units).

use ringmill_machines::fpga::Resource;
use ringmill_machines::ring::instructions::instructions as words;
use ringmill_machines::ring::micro::{OpWord, Opcode, Unit};
use ringmill_machines::ring::seen::seen;
use ringmill_machines::ring::{Description, OF_THE_PAPERS_SIZE, timing};

use crate::error::PaperError;
use crate::how::How;
use crate::row::Ours;
use crate::scope::{Record, record};
use crate::value::{counted, model, stated};

/// Returns the description of the ring machine of this name, among those of the Medha paper's size.
///
/// # Errors
/// Returns [`PaperError::Internal`] if no machine has the name.
pub fn description(name: &str) -> Result<Description, PaperError> {
    let found = OF_THE_PAPERS_SIZE.iter().find(|(known, _)| *known == name);
    let (_, text) = found.ok_or_else(|| PaperError::Internal(format!("no machine `{name}`")))?;
    Ok(Description::parse(text)?)
}

/// Returns for each ring machine the modular multipliers of an RPAU, and by how many per cent the dyadic cores increase
/// their number.
///
/// # Errors
/// Fails if a shipped description is refused.
pub fn machines() -> Result<Vec<Record>, PaperError> {
    let machines = OF_THE_PAPERS_SIZE.iter().map(|(name, text)| {
        let d = Description::parse(text)?;
        let (all, dyadic) = (d.multipliers_per_rpau() as f64, d.cores.dyadic as f64);
        Ok(record([
            ("machine", (*name).into()),
            ("own_mhz", d.clock_mhz.into()),
            ("multipliers", model(all)),
            ("dyadic_percent", counted(100.0 * dyadic / (all - dyadic))),
        ]))
    });
    machines.collect()
}

/// Returns the cycles of the instructions of Table 2 of the Medha paper on limbs of 2^14 residues.
///
/// # Errors
/// Fails as [`description`] does.
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
///
/// # Errors
/// Fails as [`description`] does.
pub fn memory(machine: &str) -> Result<Vec<Record>, PaperError> {
    let d = description(machine)?;
    let others = d.rpaus.saturating_sub(1);
    let of = |bits| {
        let fit = d.needs_at(bits)?.fit()?;
        let each = |resource| {
            let total = fit.totals.iter().find(|total| total.resource == resource);
            total.map_or(0.0, |total| total.each)
        };
        Ok::<_, PaperError>(KINDS.map(each))
    };
    let (wide, narrow) = (of(60)?, of(54)?);
    let all = [0, 1, 2].map(|kind| wide[kind] + narrow[kind] * others as f64);
    let found = |rpau: String, prefix: &str, [bram, uram, dsp]: [f64; 3]| {
        record([
            ("rpau", rpau.into()),
            ("prefix", prefix.into()),
            ("used.bram", stated(bram)),
            ("used.uram", stated(uram)),
            ("used.dsp", stated(dsp)),
        ])
    };
    let whole = format!("all RPAUs, 1 of 60 bits and {others} of 54");
    Ok(vec![
        found("RPAU of 60 bits".to_owned(), "rpau_60.", wide),
        found("RPAU of 54 bits".to_owned(), "rpau_54.", narrow),
        found(whole, "", all),
    ])
}

/// The resources of an RPAU whose amounts the Medha paper prints.
const KINDS: [Resource; 3] = [Resource::BlockRam, Resource::UltraRam, Resource::Dsp];

/// Returns how much of a resource the descriptions' needs with certain names take in one RPAU of `bits` bits.
///
/// # Errors
/// Fails if the needs of the description cannot be counted.
pub fn needed(
    d: &Description,
    bits: u32,
    resource: Resource,
    of: impl Fn(&str) -> bool,
) -> Result<f64, PaperError> {
    let fit = d.needs_at(bits)?.fit()?;
    let own = fit.needs.iter().filter(|need| need.units.is_some());
    let those = own.filter(|need| need.resource == resource && of(&need.name));
    Ok(those.map(|need| need.each).sum())
}
