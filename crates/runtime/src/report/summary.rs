// SPDX-License-Identifier: Apache-2.0
//! Writes a run report as a summary of a dozen lines: the time that the user waits for, its parts, what bounds it and
//! what would help.

use std::fmt;

use ringmill_device::report::{EndToEnd, MachineReport, Remarks, bytes, grouped, seconds};

use super::{
    CpuReport, KeyReport, NoiseReport, ParameterReport, PrecisionReport, RunReport, SchemeReport,
    sure_bits,
};

/// The width, in characters, of the column of labels in the summary of a run.
const LABEL: usize = 22;

pub(super) fn write(report: &RunReport, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (program, device) = (&report.program, &report.device);
    match (&report.machine, &report.cpu) {
        (Some(machine), cpu) => {
            if let Some(warning) = machine.fit.warning() {
                writeln!(f, "{} {warning}", machine.machine)?;
            }
            machine_lines(f, program, device, machine)?;
            if let Some(cpu) = cpu {
                this_cpu(f, machine, cpu)?;
            }
        }
        (None, Some(cpu)) => cpu_lines(f, program, device, cpu)?,
        (None, None) => writeln!(f, "Run of `{program}` on {device}")?,
    }
    precision(f, &report.precision)?;
    if let [first, others @ ..] = &report.assumptions[..] {
        let more = match others.len() {
            0 => String::new(),
            count => format!(", and {count} more (--detail, in Python report.detail, has each)"),
        };
        row(f, "assumed", format_args!("{first}, by rm.bounded{more}"))?;
    }
    noise(f, &report.noise)?;
    security(f, &report.parameters, report.keys.as_ref(), &report.scheme)
}

fn row(f: &mut fmt::Formatter<'_>, label: &str, text: impl fmt::Display) -> fmt::Result {
    writeln!(f, "  {label:<LABEL$}{text}")
}

/// Writes a line of the summary for one part of the time: its seconds, its share of the whole, and its name.
fn part(
    f: &mut fmt::Formatter<'_>,
    label: &str,
    time: f64,
    whole: f64,
    what: impl fmt::Display,
) -> fmt::Result {
    let share = if whole > 0.0 {
        100.0 * time / whole
    } else {
        0.0
    };
    let time = seconds(time);
    row(f, label, format_args!("{time:>10} {share:>5.1} %   {what}"))
}

fn machine_lines(
    f: &mut fmt::Formatter<'_>,
    program: &str,
    device: &str,
    m: &MachineReport,
) -> fmt::Result {
    let (time, remarks) = (&m.end_to_end, m.own.remarks());
    let whole = time.seconds;
    let how = match (remarks.hosted, time.host_seconds) {
        (_, Some(_)) => "from end to end, host measured, the rest modelled",
        // The host's part can be timed only with data.
        (true, None) => "on machine and link, modelled",
        (false, None) => "from end to end, modelled",
    };
    writeln!(
        f,
        "Run of `{program}` on {device}: {} {how}",
        seconds(whole)
    )?;
    let link = &m.link;
    if let Some(host) = time.host_seconds {
        part(
            f,
            "host's part",
            host,
            whole,
            "what the machine has no instructions for",
        )?;
    }
    part(
        f,
        "inputs over the link",
        time.inputs_seconds,
        whole,
        bytes(link.bytes_in),
    )?;
    // A machine that keeps no keys has no remark on them, so the bytes over the link take its place.
    let sent = || (time.keys_seconds > 0.0).then(|| bytes(link.key_bytes));
    if let Some(keys) = remarks.keys.clone().or_else(sent) {
        part(f, "keys over the link", time.keys_seconds, whole, keys)?;
    }
    if link.program_bytes > 0 {
        part(
            f,
            "programs over the link",
            time.programs_seconds,
            whole,
            bytes(link.program_bytes),
        )?;
    }
    let source = if m.how == "RTL" { " (in the RTL)" } else { "" };
    // Cycles in which units wait are a part of their own.
    let waited = ((time.waits_seconds * m.clock_mhz * 1e6).round() as u64).min(m.cycles);
    let cycles = |n: u64| format!("{} cycles at {} MHz{source}", grouped(n), m.clock_mhz);
    let worked = cycles(m.cycles - waited);
    part(f, "compute", time.compute_seconds, whole, worked)?;
    if time.waits_seconds > 0.0 {
        let what = format!("{}, for distant memory and instructions", cycles(waited));
        part(f, "waits", time.waits_seconds, whole, what)?;
    }
    if let Some(spills) = &remarks.spills {
        let time = time.spills_seconds;
        part(f, "spills over the link", time, whole, spills)?;
    }
    part(
        f,
        "outputs over the link",
        time.outputs_seconds,
        whole,
        bytes(link.bytes_out),
    )?;
    row(f, "counted", counted(&remarks, time))?;
    row(
        f,
        "bound by",
        format_args!(
            "{}, {:.0} % of the parts",
            time.bound.by.name(),
            100.0 * time.bound.share
        ),
    )?;
    row(f, "would help", &time.bound.help)
}

/// Returns a sentence about transfers over the link while the machine's units compute, and about keys that are on the
/// machine before the run.
fn counted(remarks: &Remarks, time: &EndToEnd) -> String {
    let overlap = if time.overlap_seconds > 0.0 {
        format!(
            "the parts' sum less {} of the link hidden behind compute",
            seconds(time.overlap_seconds)
        )
    } else if time.host_seconds.is_some() || remarks.hosted {
        "host, link and machine in turn".to_owned()
    } else {
        "link and units in turn".to_owned()
    };
    if remarks.hosted && time.host_seconds.is_none() {
        return format!("{overlap}; the host's part is not timed without data");
    }
    match time.resident_key_limbs {
        0 => overlap,
        limbs => format!(
            "{overlap}; {limbs} key limbs are there before: cold, with their {}, it is {}",
            seconds(time.resident_key_seconds),
            seconds(time.cold_seconds())
        ),
    }
}

fn threads(count: usize) -> String {
    match count {
        1 => "1 thread".to_owned(),
        n => format!("{n} threads"),
    }
}

/// Writes a time of this computer's CPU beside that of a simulated machine. It is the time in which the CPU computed
/// the results. For a machine with a host it is the time of the whole program on the CPU alone, with the speed-up over
/// it.
fn this_cpu(f: &mut fmt::Formatter<'_>, m: &MachineReport, cpu: &CpuReport) -> fmt::Result {
    let time = seconds(cpu.stats.seconds());
    let threads = threads(cpu.stats.threads());
    match m.own.remarks().speedup {
        Some(speedup) => row(
            f,
            "all on this CPU",
            format_args!(
                "{time} on {threads} (measured): with the machine {speedup:.2} times as fast"
            ),
        ),
        None => row(
            f,
            "this CPU",
            format_args!("results in {time} on {threads} (measured); no part of the time above"),
        ),
    }
}

fn cpu_lines(
    f: &mut fmt::Formatter<'_>,
    program: &str,
    device: &str,
    cpu: &CpuReport,
) -> fmt::Result {
    writeln!(
        f,
        "Run of `{program}` on {device}: {} on {}, measured",
        seconds(cpu.stats.seconds()),
        threads(cpu.stats.threads())
    )?;
    let process = cpu.process_peak_bytes.map_or(String::new(), |peak| {
        format!(", the process {}", bytes(peak))
    });
    let peak = bytes(cpu.stats.buffers_peak_bytes());
    row(
        f,
        "memory, peak",
        format_args!("limb buffers {peak}{process}"),
    )
}

/// Writes the precision of the output with the fewest certain bits. The detailed report has the other outputs.
fn precision(f: &mut fmt::Formatter<'_>, outputs: &[PrecisionReport]) -> fmt::Result {
    let least = outputs
        .iter()
        .min_by(|a, b| a.predicted_bits.total_cmp(&b.predicted_bits));
    let Some(least) = least else { return Ok(()) };
    let measured = least
        .measured_bits
        .map_or(String::new(), |bits| format!(", {bits:.1} measured"));
    let like = least.predicted_bits_like_sample;
    let like = like.map_or(String::new(), |bits| {
        format!(", {} for inputs like the sample", sure_bits(bits))
    });
    let worst = match outputs.len() {
        0 | 1 => String::new(),
        count => format!(
            "least precise of {count} outputs (--detail, in Python report.detail, has each), "
        ),
    };
    let condition = match least.conditional {
        true => "conditional, ",
        false => "",
    };
    let sure = format!("{condition}{}", sure_bits(least.predicted_bits));
    // The bound covers all inputs that may be encrypted; the sample's figure covers likely ones.
    let whose = match least.predicted_bits < 0.0 {
        true => " for the largest inputs that are taken",
        false => "",
    };
    row(
        f,
        "precision",
        format_args!(
            "{worst}{}: bits after the binary point: {sure}{whose}{like}{measured}; {}",
            least.output, least.predicted_digits
        ),
    )
}

fn noise(f: &mut fmt::Formatter<'_>, outputs: &[NoiseReport]) -> fmt::Result {
    let least = outputs
        .iter()
        .min_by(|a, b| a.predicted_bits.total_cmp(&b.predicted_bits));
    let Some(least) = least else { return Ok(()) };
    let measured = least.measured_bits;
    let measured = measured.map_or_else(String::new, |bits| format!(", {bits} measured"));
    let budget = format_args!(
        "exact; {} has at least {:.1} bits of noise budget left{measured}",
        least.output, least.predicted_bits
    );
    row(f, "precision", budget)
}

fn security(
    f: &mut fmt::Formatter<'_>,
    p: &ParameterReport,
    keys: Option<&KeyReport>,
    scheme: &SchemeReport,
) -> fmt::Result {
    // The line stands only if something could not be checked. The detailed report names all parts.
    let unchecked = match keys.map_or(&[][..], |keys| &keys.unchecked) {
        [] => String::new(),
        [part] => format!("; NOT CHECKED whose {part} is"),
        [part, others @ ..] => {
            format!("; NOT CHECKED whose {part} is, and {} more", others.len())
        }
    };
    let parameters = format!(
        "ring degree 2^{}, {} + {} primes{unchecked}; {}: {}",
        p.log_n,
        p.cipher_prime_bits.len(),
        p.special_prime_bits.len(),
        scheme.name,
        scheme.why
    );
    match &p.insecure {
        Some(reason) => row(
            f,
            "security",
            format_args!("NOT SECURE, by explicit opt-out: {reason}; {parameters}"),
        ),
        None => row(
            f,
            "security",
            format_args!("{} bits, classical; {parameters}", p.security_bits),
        ),
    }
}
