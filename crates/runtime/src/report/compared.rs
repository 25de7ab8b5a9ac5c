// SPDX-License-Identifier: Apache-2.0
//! Runs of one program side by side: a row for each machine and for the CPU, as a table for people, as values and as JSON.

use std::collections::BTreeMap;
use std::fmt;

use ringmill_device::report::{
    Bound, EndToEnd, How, MachineReport, Resource, bytes, grouped, pieces_text, seconds,
};
use serde::Serialize;

use super::{CpuReport, KeyHalves, ParameterReport, RunReport};

/// A row's case, and its cells or why it has none.
type Line<'a> = (String, Result<Vec<String>, &'a str>);

/// What runs: a machine with what was set of its description, or the CPU.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Which {
    /// Both in one line.
    pub case: String,
    /// The machine's name or description file, or the name of the CPU's device.
    pub machine: String,
    pub set: BTreeMap<String, String>,
}

/// A row: what runs the program, and its figures or why it has none.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    #[serde(flatten)]
    pub which: Which,
    #[serde(flatten)]
    pub figures: Option<Figures>,
    /// Why a machine does not run the program.
    pub refused: Option<String>,
}

/// Figures of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// From the first input to the last output. `None` where a host's part was not measured.
    pub seconds: Option<f64>,
    /// The same if no key is on the machine before: `seconds`, and the link's time for the keys that are taken to be there.
    pub cold_seconds: Option<f64>,
    /// How the program has its key-switching keys, where it needs some.
    pub keys: Option<KeyHalves>,
    /// How often it takes the CPU's time at the same parameters; 2 is twice as fast.
    pub speedup: Option<f64>,
    pub how: How,
    /// What most of the time goes to, of a machine.
    pub bound: Option<Bound>,
    /// The parts of a machine's time; a host beside it is measured.
    pub host_seconds: Option<f64>,
    pub link_seconds: Option<f64>,
    pub compute_seconds: Option<f64>,
    /// Units that wait for the machine's own distant memory and for instructions.
    pub waits_seconds: Option<f64>,
    /// Of the link's time, how much hides behind the units'.
    pub overlap_seconds: Option<f64>,
    /// Key limbs that are taken to be on the machine before the run, and the link's time for those that come during it.
    pub resident_key_limbs: Option<u64>,
    pub keys_seconds: Option<f64>,
    pub cycles: Option<u64>,
    pub clock_mhz: Option<f64>,
    /// Of this computer: all of the CPU's, or the host's beside a machine.
    pub threads: Option<usize>,
    /// Modular multipliers of the machine, each of its own word.
    pub multipliers: Option<u64>,
    /// Bytes that the machine's memories hold, and that were in use at most, each memory as the fullest of its kind. Of the CPU
    /// what limb buffers took.
    pub memory_bytes: Option<u64>,
    pub memory_used_bytes: Option<u64>,
    /// What the machine takes of its part, as its description counts it.
    pub part: Option<&'static str>,
    pub fits: Option<bool>,
    pub needs: BTreeMap<&'static str, f64>,
    pub parameters: ParameterReport,
    /// The fewest bits of precision, or of noise budget, that are predicted of an output.
    pub predicted_bits: Option<f64>,
}

impl Row {
    /// Of a machine that does not run the program.
    pub fn refused(which: Which, why: String) -> Self {
        Self {
            which,
            figures: None,
            refused: Some(why),
        }
    }

    /// Of a run's report, a machine's or the CPU's.
    pub fn of(which: Which, report: &RunReport) -> Self {
        let figures = match (&report.machine, &report.cpu) {
            (Some(machine), cpu) => of_machine(report, machine, cpu.as_ref()),
            (None, Some(cpu)) => of_cpu(report, cpu),
            (None, None) => without(report),
        };
        Self {
            which,
            figures: Some(figures),
            refused: None,
        }
    }

    /// Of the CPU's report that counts of so many runs, and how it was measured, in words.
    pub fn of_cpu(report: &RunReport, runs: usize) -> (Self, String) {
        let threads = report.cpu.as_ref().map_or(0, |cpu| cpu.stats.threads());
        let case = format!("cpu:{threads}");
        let note = format!(
            "{case}: this computer's CPU on {threads} thread{}, {}, after one that plans; in use are its limb buffers",
            if threads == 1 { "" } else { "s" },
            match runs {
                1 => "one run".to_owned(),
                runs => format!("the median of {runs} runs"),
            }
        );
        let which = Which {
            machine: case.clone(),
            case,
            set: BTreeMap::new(),
        };
        (Self::of(which, report), note)
    }

    fn is_cpu(&self) -> bool {
        let figures = self.figures.as_ref();
        figures.is_some_and(|f| f.bound.is_none() && f.how == How::Measured)
    }
}

/// Figures of which nothing is known but the parameters.
fn without(report: &RunReport) -> Figures {
    let precision = report.precision.iter().map(|row| row.predicted_bits);
    let noise = report.noise.iter().map(|row| row.predicted_bits);
    Figures {
        seconds: None,
        cold_seconds: None,
        keys: report.key_halves,
        speedup: None,
        how: How::Counted,
        bound: None,
        host_seconds: None,
        link_seconds: None,
        compute_seconds: None,
        waits_seconds: None,
        overlap_seconds: None,
        resident_key_limbs: None,
        keys_seconds: None,
        cycles: None,
        clock_mhz: None,
        threads: None,
        multipliers: None,
        memory_bytes: None,
        memory_used_bytes: None,
        part: None,
        fits: None,
        needs: BTreeMap::new(),
        parameters: report.parameters.clone(),
        predicted_bits: precision.chain(noise).min_by(f64::total_cmp),
    }
}

fn of_cpu(report: &RunReport, cpu: &CpuReport) -> Figures {
    Figures {
        seconds: Some(cpu.stats.seconds()),
        how: How::Measured,
        threads: Some(cpu.stats.threads()),
        memory_used_bytes: Some(cpu.stats.buffers_peak_bytes()),
        ..without(report)
    }
}

fn of_machine(report: &RunReport, machine: &MachineReport, cpu: Option<&CpuReport>) -> Figures {
    let time: &EndToEnd = &machine.end_to_end;
    let hosted = report.leaves_a_part();
    let link = time.inputs_seconds
        + time.keys_seconds
        + time.programs_seconds
        + time.spills_seconds
        + time.outputs_seconds;
    let memory = |of: fn(&ringmill_device::report::MemoryUse) -> u64| {
        let all = machine.memories.iter();
        all.fold(0u64, |sum, m| {
            sum.saturating_add(of(m).saturating_mul(m.count as u64))
        })
    };
    let fit = &machine.fit;
    let needs = fit.totals.iter().map(|t| (t.resource.name(), t.used));
    Figures {
        seconds: (!hosted || time.host_seconds.is_some()).then_some(time.seconds),
        cold_seconds: (!hosted || time.host_seconds.is_some()).then(|| time.cold_seconds()),
        how: if machine.how == "RTL" {
            How::Rtl
        } else {
            How::Model
        },
        bound: Some(time.bound.clone()),
        host_seconds: time.host_seconds,
        link_seconds: Some(link),
        compute_seconds: Some(time.compute_seconds),
        waits_seconds: (time.waits_seconds > 0.0).then_some(time.waits_seconds),
        overlap_seconds: Some(time.overlap_seconds),
        resident_key_limbs: Some(time.resident_key_limbs),
        keys_seconds: Some(time.keys_seconds),
        cycles: Some(machine.cycles),
        clock_mhz: Some(machine.clock_mhz),
        threads: time.host_seconds.and(cpu.map(|cpu| cpu.stats.threads())),
        multipliers: Some(fit.multipliers),
        memory_bytes: Some(memory(|m| m.available_bytes)),
        memory_used_bytes: Some(memory(|m| m.used_bytes)),
        part: Some(fit.part),
        fits: Some(fit.fits),
        needs: needs.collect(),
        ..without(report)
    }
}

/// Where a machine's evaluation keys are; `None` where it takes none, or a host beside it has them.
fn keys(figures: &Figures) -> Option<String> {
    let (there, sent) = (figures.resident_key_limbs?, figures.keys_seconds?);
    match (there, sent > 0.0) {
        (0, false) => None,
        (0, true) => Some(format!("all over the link in the run, {}", seconds(sent))),
        (there, false) => Some(format!("all {there} limbs taken to be there before")),
        (there, true) => Some(format!(
            "{there} limbs taken to be there before, the others over the link in the run, {}",
            seconds(sent)
        )),
    }
}

/// What the figures of rows rest on, in sentences.
pub fn basis(rows: &[Row]) -> Vec<String> {
    let figures = || rows.iter().filter_map(|row| row.figures.as_ref());
    let mut notes = vec![
        "machines: by their cycle models, from the first input on the host link to the last output"
            .to_owned(),
    ];
    let kept = rows.iter().filter_map(|row| {
        let keys = row.figures.as_ref().and_then(keys)?;
        Some(format!("keys of {}: {keys}", row.which.case))
    });
    notes.extend(kept);
    if figures().any(|f| f.resident_key_limbs.is_some_and(|limbs| limbs > 0)) {
        notes.push(
            "total: with as many keys there before as the machine holds; cold: none is there before, so these cross the link too"
                .to_owned(),
        );
    }
    let has = |form| figures().any(|f| f.bound.is_some() && f.keys == Some(form));
    let forms = [
        (
            KeyHalves::Seeded,
            "seeded: the machine makes half of each key from a seed, the other half comes over the link",
        ),
        (
            KeyHalves::Stored,
            "stored: both halves of each key come over the link; what --target or compile(target=NAME) names asks for it",
        ),
    ];
    for (_, text) in forms.iter().filter(|&&(form, _)| has(form)) {
        notes.push(format!("keys {text}"));
    }
    if figures().any(|f| f.host_seconds.is_some()) {
        notes.push(
            "host: what a machine has no instructions for, measured here on 1 thread; host, link and machine in turn"
                .to_owned(),
        );
    }
    if figures().any(|f| f.bound.is_some() && f.seconds.is_none()) {
        notes.push(
            "no total: a host runs the rest of the program, and takes data to be measured"
                .to_owned(),
        );
    }
    if figures().any(|f| f.multipliers.is_some()) {
        notes.push(
            "multipliers (modular, each of its machine's word), DSP and memory blocks: counted from the descriptions; \
             LUT and FF are known from synthesis alone (ringmill rtl synth)"
                .to_owned(),
        );
    }
    let unfit = |row: &&Row| row.figures.as_ref().is_some_and(|f| f.fits == Some(false));
    let unfit: Vec<&str> = rows
        .iter()
        .filter(unfit)
        .map(|row| row.which.case.as_str())
        .collect();
    if !unfit.is_empty() {
        notes.push(format!(
            "DOES NOT FIT ITS PART, by explicit statement: {}",
            unfit.join(", ")
        ));
    }
    notes
}

/// A value of the table.
#[derive(Clone, PartialEq, Debug)]
enum Cell {
    Text(String),
    Count(u64),
    Number(f64),
    Pieces(f64),
    Seconds(f64),
    Bytes(u64),
    Times(f64),
    Share(f64),
}

impl Cell {
    /// For people.
    fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(n) => grouped(*n),
            Self::Number(x) => x.to_string(),
            Self::Pieces(n) => pieces_text(*n),
            Self::Seconds(s) => seconds(*s),
            Self::Bytes(n) => bytes(*n),
            Self::Times(x) if *x >= 100.0 => format!("{x:.0}"),
            Self::Times(x) => format!("{x:.2}"),
            Self::Share(x) => format!("{:.0} %", 100.0 * x),
        }
    }

    /// For programs: seconds, bytes, plain numbers.
    fn raw(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(n) | Self::Bytes(n) => n.to_string(),
            Self::Number(x)
            | Self::Pieces(x)
            | Self::Seconds(x)
            | Self::Times(x)
            | Self::Share(x) => x.to_string(),
        }
    }
}

/// A column: what programs call it, its title for people, and its value in a row.
struct Column {
    key: &'static str,
    title: &'static str,
    cell: fn(&Figures) -> Option<Cell>,
}

const fn column(
    key: &'static str,
    title: &'static str,
    cell: fn(&Figures) -> Option<Cell>,
) -> Column {
    Column { key, title, cell }
}

fn need(figures: &Figures, of: Resource) -> Option<Cell> {
    figures.needs.get(of.name()).copied().map(Cell::Pieces)
}

/// The columns with figures.
const COLUMNS: [Column; 25] = [
    column("seconds", "total", |f| f.seconds.map(Cell::Seconds)),
    column("cold_seconds", "cold", |f| {
        f.cold_seconds.map(Cell::Seconds)
    }),
    column("keys", "keys", |f| {
        f.keys.map(|keys| Cell::Text(keys.name().to_owned()))
    }),
    column("speedup", "speed-up", |f| f.speedup.map(Cell::Times)),
    column("bound_by", "bound by", |f| {
        let bound = f.bound.as_ref().map(|bound| bound.by.short());
        bound.map(|by| Cell::Text(by.to_owned()))
    }),
    column("bound_share", "of it", |f| {
        f.bound.as_ref().map(|bound| Cell::Share(bound.share))
    }),
    column("host_seconds", "host", |f| {
        f.host_seconds.map(Cell::Seconds)
    }),
    column("link_seconds", "link", |f| {
        f.link_seconds.map(Cell::Seconds)
    }),
    column("compute_seconds", "machine", |f| {
        f.compute_seconds.map(Cell::Seconds)
    }),
    column("waits_seconds", "waits", |f| {
        f.waits_seconds.map(Cell::Seconds)
    }),
    column("overlap_seconds", "overlap", |f| {
        f.overlap_seconds.map(Cell::Seconds)
    }),
    column("cycles", "cycles", |f| f.cycles.map(Cell::Count)),
    column("clock_mhz", "MHz", |f| f.clock_mhz.map(Cell::Number)),
    column("threads", "threads", |f| {
        f.threads.map(|threads| Cell::Count(threads as u64))
    }),
    column("multipliers", "multipliers", |f| {
        f.multipliers.map(Cell::Count)
    }),
    column("memory_bytes", "memory", |f| {
        f.memory_bytes.map(Cell::Bytes)
    }),
    column("memory_used_bytes", "in use", |f| {
        f.memory_used_bytes.map(Cell::Bytes)
    }),
    column("part", "part", |f| {
        f.part.map(|part| Cell::Text(part.to_owned()))
    }),
    column("dsp", "DSP", |f| need(f, Resource::Dsp)),
    column("block_ram", "block RAM", |f| need(f, Resource::BlockRam)),
    column("ultra_ram", "ultra RAM", |f| need(f, Resource::UltraRam)),
    column("lut_memory", "LUT as memory", |f| {
        need(f, Resource::LutMemory)
    }),
    column("sram_kbit", "SRAM, Kbit", |f| need(f, Resource::Sram)),
    column("how", "how", |f| Some(Cell::Text(f.how.to_string()))),
    column("predicted_bits", "bits", |f| {
        f.predicted_bits.map(Cell::Number)
    }),
];

/// Columns that say more to programs than to people, who read them in the lines around the table.
const FOR_PROGRAMS: [&str; 4] = ["overlap_seconds", "cycles", "how", "predicted_bits"];

/// The rows of a comparison, and what stands around their table.
#[derive(Clone, Debug)]
pub struct Comparison {
    program: String,
    rows: Vec<Row>,
    /// The different parameters of the rows, in their order.
    parameters: Vec<ParameterReport>,
    notes: Vec<String>,
}

impl Comparison {
    /// Rows of one program; each machine's speed-up is over the CPU's row of the same parameters. `notes` say what the rows
    /// cannot, one sentence or two each.
    pub fn new(program: &str, mut rows: Vec<Row>, notes: Vec<String>) -> Self {
        let mut parameters: Vec<ParameterReport> = Vec::new();
        for figures in rows.iter().filter_map(|row| row.figures.as_ref()) {
            if !parameters.contains(&figures.parameters) {
                parameters.push(figures.parameters.clone());
            }
        }
        let cpus: Vec<(ParameterReport, f64)> = rows
            .iter()
            .filter(|row| row.is_cpu())
            .filter_map(|row| row.figures.as_ref())
            .filter_map(|f| Some((f.parameters.clone(), f.seconds?)))
            .collect();
        for figures in rows.iter_mut().filter_map(|row| row.figures.as_mut()) {
            let cpu = cpus.iter().find(|(at, _)| *at == figures.parameters);
            let cpu = cpu.map(|&(_, cpu)| cpu);
            figures.speedup = cpu.zip(figures.seconds).and_then(|(cpu, seconds)| {
                let times = cpu / seconds;
                times.is_finite().then_some(times)
            });
        }
        Self {
            program: program.to_owned(),
            rows,
            parameters,
            notes,
        }
    }

    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The names of the columns of [`Self::values`].
    pub fn keys(&self) -> Vec<&'static str> {
        let figures = COLUMNS.iter().map(|column| column.key);
        std::iter::once("case")
            .chain(figures)
            .chain(["parameters", "refused"])
            .collect()
    }

    /// Every row's values by column, seconds and bytes as plain numbers; empty where there is none.
    pub fn values(&self) -> Vec<Vec<String>> {
        let row = |row: &Row| {
            let figures = row.figures.as_ref();
            let cell = |column: &Column| {
                let cell = figures.and_then(column.cell);
                cell.map_or_else(String::new, |cell| cell.raw())
            };
            let parameters = figures.map_or_else(String::new, |f| described(&f.parameters));
            std::iter::once(row.which.case.clone())
                .chain(COLUMNS.iter().map(cell))
                .chain([parameters, row.refused.clone().unwrap_or_default()])
                .collect()
        };
        self.rows.iter().map(row).collect()
    }

    /// What stands above the table.
    pub(crate) fn title(&self) -> String {
        let program = &self.program;
        match &self.parameters[..] {
            [] => format!("Comparison of `{program}`"),
            [one] => format!("Comparison of `{program}`, all rows at {}", described(one)),
            several => format!(
                "Comparison of `{program}`, its rows at {} different sets of parameters",
                several.len()
            ),
        }
    }

    /// The letter of a row's parameters, where they differ.
    fn letter(&self, figures: &Figures) -> Option<String> {
        if self.parameters.len() < 2 {
            return None;
        }
        let at = self
            .parameters
            .iter()
            .position(|p| *p == figures.parameters)?;
        Some(letter(at))
    }

    /// What stands below the table.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.parameters.len() > 1 {
            for (at, parameters) in self.parameters.iter().enumerate() {
                notes.push(format!(
                    "parameters {}: {}",
                    letter(at),
                    described(parameters)
                ));
            }
            notes.push(format!(
                "they differ in {}",
                differing(&self.parameters).join(", ")
            ));
        }
        notes.extend(self.notes.iter().cloned());
        notes
    }

    /// The table's columns that some row has, and every row's cells: the values, or why there are none.
    pub(crate) fn shown(&self) -> (Vec<&'static str>, Vec<Line<'_>>) {
        let figures = || self.rows.iter().filter_map(|row| row.figures.as_ref());
        let columns: Vec<&Column> = COLUMNS
            .iter()
            .filter(|column| !FOR_PROGRAMS.contains(&column.key))
            .filter(|column| figures().any(|f| (column.cell)(f).is_some()))
            .collect();
        let lettered = self.parameters.len() > 1;
        let mut titles: Vec<&'static str> = columns.iter().map(|column| column.title).collect();
        if lettered {
            titles.push("parameters");
        }
        let cells = |figures: &Figures| {
            let cell = |column: &&Column| {
                let cell = (column.cell)(figures);
                cell.map_or_else(|| "-".to_owned(), |cell| cell.shown())
            };
            let cells = columns.iter().map(cell);
            cells.chain(self.letter(figures)).collect()
        };
        let rows = self.rows.iter().map(|row| {
            let why = row.refused.as_deref().unwrap_or_default();
            let cells = row.figures.as_ref().map(cells).ok_or(why);
            (row.which.case.clone(), cells)
        });
        (titles, rows.collect())
    }
}

impl fmt::Display for Comparison {
    /// The table for people: what all rows have in common, the rows, and what the figures rest on.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (titles, rows) = self.shown();
        writeln!(f, "{}", self.title())?;
        let first = rows.iter().map(|(case, _)| case.chars().count()).max();
        let first = first.unwrap_or(0);
        let width = |at: usize| {
            let cells = rows
                .iter()
                .filter_map(|(_, cells)| cells.as_ref().ok()?.get(at));
            let widths = cells.map(|cell| cell.chars().count());
            let title = titles.get(at).map_or(0, |title| title.len());
            widths.max().unwrap_or(0).max(title)
        };
        let widths: Vec<usize> = (0..titles.len()).map(width).collect();
        let mut line = format!("  {:first$}", "");
        for (title, &width) in titles.iter().zip(&widths) {
            line += &format!("  {title:>width$}");
        }
        writeln!(f, "{line}")?;
        for (case, cells) in &rows {
            let mut line = format!("  {case:first$}");
            match cells {
                Ok(cells) => {
                    for (cell, &width) in cells.iter().zip(&widths) {
                        line += &format!("  {cell:>width$}");
                    }
                }
                Err(why) => line += &format!("  refused: {why}"),
            }
            writeln!(f, "{line}")?;
        }
        for note in self.notes() {
            writeln!(f, "  {note}")?;
        }
        Ok(())
    }
}

/// a, b, ... z, and then numbers.
fn letter(at: usize) -> String {
    let letter = u8::try_from(at).ok().filter(|at| *at < 26);
    letter.map_or_else(
        || at.to_string(),
        |at| char::from(b'a'.saturating_add(at)).to_string(),
    )
}

fn primes(bits: &[u32]) -> String {
    let bits: Vec<String> = bits.iter().map(u32::to_string).collect();
    bits.join(" ")
}

/// Parameters in one line.
fn described(p: &ParameterReport) -> String {
    let scale = p.log2_scale.map(|scale| format!(", scale 2^{scale:.1}"));
    let modulus = p.plain_modulus.map(|t| format!(", plaintext modulus {t}"));
    let insecure = p
        .insecure
        .as_ref()
        .map(|why| format!(", NOT SECURE: {why}"));
    format!(
        "ring degree 2^{}, primes of {} and {} bits{}{}{}",
        p.log_n,
        primes(&p.cipher_prime_bits),
        primes(&p.special_prime_bits),
        scale.unwrap_or_default(),
        modulus.unwrap_or_default(),
        insecure.unwrap_or_default(),
    )
}

/// The names of the fields in which some of the parameters differ.
fn differing(all: &[ParameterReport]) -> Vec<&'static str> {
    /// Whether two parameters have the same of something.
    type Same = fn(&ParameterReport, &ParameterReport) -> bool;
    let fields: [(&'static str, Same); 8] = [
        ("ring degree", |a, b| a.log_n == b.log_n),
        ("ciphertext primes", |a, b| {
            a.cipher_prime_bits == b.cipher_prime_bits
        }),
        ("special primes", |a, b| {
            a.special_prime_bits == b.special_prime_bits
        }),
        ("digits", |a, b| a.dnum == b.dnum),
        ("scale", |a, b| a.log2_scale == b.log2_scale),
        ("plaintext modulus", |a, b| {
            a.plain_modulus == b.plain_modulus
        }),
        ("modulus in all", |a, b| a.log_qp == b.log_qp),
        ("security", |a, b| {
            (&a.security_table, a.security_bits, &a.insecure)
                == (&b.security_table, b.security_bits, &b.insecure)
        }),
    ];
    let pairs = || all.iter().zip(all.iter().skip(1));
    let differ = |same: Same| pairs().any(|(a, b)| !same(a, b));
    let found = fields.into_iter().filter(|&(_, same)| differ(same));
    found.map(|(name, _)| name).collect()
}
