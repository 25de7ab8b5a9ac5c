// SPDX-License-Identifier: Apache-2.0
//! Writes the run report as text for people: a summary of a dozen lines, or tables with every figure except those of
//! source lines and of the timeline.

use std::fmt;

use super::summary;
use super::{
    Counts, CpuReport, How, InstructionReport, KeyReport, NoiseReport, ParameterReport,
    PrecisionReport, RunReport, sure_bits,
};
use ringmill_device::expanded::ExpandedStats;
use ringmill_device::report::{Fit, MachineReport, Rows, bytes, grouped, pieces_text, seconds};

impl fmt::Display for RunReport {
    /// Writes the summary: the costs of the run and their causes, in about a dozen lines. Each part of a machine's time
    /// that occurs has one, and so has a warning if the machine does not fit its FPGA part.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        summary::write(self, f)
    }
}

/// A run report with every figure, as text, except those of single source lines and of the timeline.
/// [`RunReport::detail`] makes it.
pub struct Detail<'a>(pub(super) &'a RunReport);

impl fmt::Display for Detail<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = self.0;
        summary::write(report, f)?;
        let table = &mut Rows::new(f);
        parameters(table, &report.parameters)?;
        if let Some(keys) = &report.keys {
            unchecked_keys(table, keys)?;
        }
        if let Some(keys) = report.key_halves {
            table.row("key-switching keys", keys.name(), None)?;
        }
        instructions(table, &report.instructions)?;
        if let Some(cpu) = &report.cpu {
            cpu_rows(table, cpu)?;
        }
        if let Some(machine) = &report.machine {
            machine_rows(table, machine)?;
        }
        precision(table, &report.precision)?;
        if !report.assumptions.is_empty() {
            table.section("Assumed of values inside the program (rm.bounded)")?;
            for assumption in &report.assumptions {
                table.row("", assumption.to_string(), None)?;
            }
        }
        noise(table, &report.noise)
    }
}

fn parameters(table: &mut Rows<'_, '_>, p: &ParameterReport) -> fmt::Result {
    let list = |bits: &[u32]| {
        bits.iter()
            .map(u32::to_string)
            .collect::<Vec<_>>()
            .join(" + ")
    };
    table.section("Parameters")?;
    table.row(
        "ring degree",
        format!("2^{} ({} slots)", p.log_n, p.slots),
        None,
    )?;
    table.row("ciphertext primes (bits)", list(&p.cipher_prime_bits), None)?;
    table.row(
        "special primes (bits)",
        format!("{}, {} digits", list(&p.special_prime_bits), p.dnum),
        None,
    )?;
    if let Some(scale) = p.log2_scale {
        table.row("scale", format!("2^{scale:.2}"), None)?;
    }
    if let Some(t) = p.plain_modulus {
        table.row("plaintext modulus", t.to_string(), None)?;
    }
    let bound = p
        .log_qp_bound
        .map_or("no bound".to_owned(), |b| format!("at most {b}"));
    table.row(
        "log2 of all primes",
        format!("{:.1} ({bound} by {})", p.log_qp, p.security_table),
        None,
    )?;
    match &p.insecure {
        Some(reason) => table.row(
            "security",
            format!("NOT SECURE, by explicit opt-out: {reason}"),
            None,
        ),
        None => table.row(
            "security",
            format!("{} bits, classical", p.security_bits),
            None,
        ),
    }
}

/// Writes which keys and input ciphertexts have no identity. For these, nothing could check that they belong to one
/// secret key.
fn unchecked_keys(table: &mut Rows<'_, '_>, keys: &KeyReport) -> fmt::Result {
    if keys.unchecked.is_empty() {
        return Ok(());
    }
    let parts = keys.unchecked.join(", ");
    let said = format!("NOT CHECKED that they belong together: {parts} without identity");
    table.row("keys", said, None)
}

fn instructions(table: &mut Rows<'_, '_>, i: &InstructionReport) -> fmt::Result {
    table.section("Instructions")?;
    counts(table, "macro", &i.macro_level, i.how)?;
    counts(table, "mid", &i.mid_level, i.how)?;
    match &i.micro_level {
        Some(micro) => counts(table, "micro", micro, How::Model),
        None => Ok(()),
    }
}

/// Writes the total number of instructions of a level, then the numbers by mnemonic, six to a line, the most frequent
/// first.
fn counts(table: &mut Rows<'_, '_>, level: &str, counts: &Counts, how: How) -> fmt::Result {
    table.row(level, grouped(counts.values().sum()), Some(how))?;
    let mut kinds: Vec<_> = counts.iter().collect();
    kinds.sort_by_key(|(name, n)| (std::cmp::Reverse(**n), name.to_owned()));
    for line in kinds.chunks(6) {
        let line: Vec<_> = line
            .iter()
            .map(|(name, n)| format!("{name} {}", grouped(**n)))
            .collect();
        table.row("", line.join(", "), None)?;
    }
    Ok(())
}

fn cpu_rows(table: &mut Rows<'_, '_>, cpu: &CpuReport) -> fmt::Result {
    let how = Some(cpu.how);
    table.section("CPU")?;
    table.row("time", seconds(cpu.stats.seconds()), how)?;
    table.row("threads", cpu.stats.threads(), how)?;
    table.row(
        "limb buffers, peak",
        bytes(cpu.stats.buffers_peak_bytes()),
        how,
    )?;
    if let Some(peak) = cpu.process_peak_bytes {
        table.row("process memory, peak", bytes(peak), how)?;
    }
    expanded_rows(table, &cpu.stats.expanded(), how)
}

/// Writes lines about the limbs of keys and constants that a run expanded from seeds or encoded from values when a
/// step read them.
fn expanded_rows(
    table: &mut Rows<'_, '_>,
    expanded: &ExpandedStats,
    how: Option<How>,
) -> fmt::Result {
    let budget = match expanded.budget_bytes {
        Some(budget) => format!("of a budget of {}", bytes(budget)),
        None => "no budget".to_owned(),
    };
    let peak = format!("{}, {budget}", bytes(expanded.peak_bytes));
    table.row("expanded keys and constants", peak, how)?;
    let again = |done, all, again| {
        let (all, again) = (grouped(all), grouped(again));
        format!("{all} {done}, {again} of them again")
    };
    let limbs = again("expanded", expanded.limbs, expanded.limbs_again);
    table.row("key limbs", limbs, how)?;
    let constants = again("encoded", expanded.constants, expanded.constants_again);
    table.row("constants", constants, how)
}

fn machine_rows(table: &mut Rows<'_, '_>, m: &MachineReport) -> fmt::Result {
    let obtained = if m.how == "RTL" { How::Rtl } else { How::Model };
    let how = Some(obtained);
    table.section(&format!("Machine `{}`", m.machine))?;
    table.row("cycles", grouped(m.cycles), how)?;
    table.row(
        &format!("time at {} MHz", m.clock_mhz),
        seconds(m.seconds),
        how,
    )?;
    if let Some(multipliers) = m.own.remarks().multipliers {
        table.row("modular multipliers", multipliers, None)?;
    }
    fit_rows(table, &m.fit)?;
    let mut kinds: Vec<_> = m.cycles_by_kind.iter().collect();
    kinds.sort_by_key(|(_, cycles)| std::cmp::Reverse(**cycles));
    for (kind, cycles) in kinds {
        table.row(&format!("cycles in flight, {kind}"), grouped(*cycles), how)?;
    }
    let (busy, idle): (Vec<_>, Vec<_>) = m.utilisation.iter().partition(|u| u.busy_cycles > 0);
    for unit in busy {
        table.row(
            &format!("utilisation, {}", unit.unit),
            format!("{:.1} %", 100.0 * unit.utilisation),
            how,
        )?;
    }
    if let (Some(first), Some(last)) = (idle.first(), idle.last()) {
        let names = match idle.len() {
            1 => first.unit.clone(),
            n => format!("{n} units, {} to {}", first.unit, last.unit),
        };
        table.row("idle", names, how)?;
    }
    // The scheduler fixes the places in memory, and the link's time follows from its bytes. So these rows come from
    // the model, even if the cycles come from RTL.
    for memory in &m.memories {
        let (used, room) = (bytes(memory.used_bytes), bytes(memory.available_bytes));
        let text = match memory.count {
            1 => format!("{used} of {room}"),
            count => format!("{used} of {room}, the fullest of {count}"),
        };
        table.row(&memory.name, text, Some(How::Model))?;
    }
    link_rows(table, m, Some(How::Model))?;
    m.own.rows(table, obtained)
}

/// Writes the resources that the machine needs of its FPGA part or silicon budget: the total of each resource, then
/// each need by name.
fn fit_rows(table: &mut Rows<'_, '_>, fit: &Fit) -> fmt::Result {
    for t in &fit.totals {
        let (used, available) = (pieces_text(t.used), pieces_text(t.available));
        let much = if t.used > t.available {
            ": TOO MANY"
        } else {
            ""
        };
        let said = format!("{used} of {available} of the {}{much}", fit.part);
        table.row(t.resource.name(), said, None)?;
    }
    for n in &fit.needs {
        let (used, available) = (pieces_text(n.used), pieces_text(n.available));
        let said = format!("{used} of {available} {}", n.resource.name());
        table.row(&n.name, said, None)?;
    }
    Ok(())
}

fn link_rows(table: &mut Rows<'_, '_>, m: &MachineReport, how: Option<How>) -> fmt::Result {
    let link = &m.link;
    for (label, bytes_moved, time) in [
        ("host link, in", link.bytes_in, link.seconds_in),
        ("host link, out", link.bytes_out, link.seconds_out),
        ("host link, keys", link.key_bytes, link.key_seconds),
        (
            "host link, programs",
            link.program_bytes,
            link.program_seconds,
        ),
    ] {
        table.row(
            label,
            format!("{}, {}", bytes(bytes_moved), seconds(time)),
            how,
        )?;
    }
    Ok(())
}

fn precision(table: &mut Rows<'_, '_>, outputs: &[PrecisionReport]) -> fmt::Result {
    if outputs.is_empty() {
        return Ok(());
    }
    table.section("Precision (bits after the binary point, of the worst slot)")?;
    for output in outputs {
        let condition = match output.conditional {
            true => ", if what is assumed holds",
            false => "",
        };
        let sure = format!("{}{condition}", sure_bits(output.predicted_bits));
        table.row(&output.output, sure, Some(How::Model))?;
        if let Some(like) = output.predicted_bits_like_sample {
            let like = format!("{}, inputs like the sample", sure_bits(like));
            table.row("", like, Some(How::Model))?;
        }
        table.row("", output.predicted_digits.to_string(), Some(How::Model))?;
        if let Some(measured) = output.measured_bits {
            table.row("", format!("{measured:.1}"), Some(How::Measured))?;
        }
    }
    Ok(())
}

fn noise(table: &mut Rows<'_, '_>, outputs: &[NoiseReport]) -> fmt::Result {
    if outputs.is_empty() {
        return Ok(());
    }
    table.section("Noise budget (bits left; values are exact)")?;
    for output in outputs {
        let budget = format!("at least {:.1}", output.predicted_bits);
        table.row(&output.output, budget, Some(How::Model))?;
        if let Some(measured) = output.measured_bits {
            table.row("", measured.to_string(), Some(How::Measured))?;
        }
    }
    Ok(())
}
