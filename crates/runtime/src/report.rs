// SPDX-License-Identifier: Apache-2.0
//! The run report: a program and its parameters, the cost of one run, and the source of each figure.

pub mod compared;
mod lines;
mod summary;
mod table;

use std::collections::BTreeMap;
use std::sync::Arc;

use ringmill_compiler::ckks::bounded::{self, Assumption};
use ringmill_compiler::ckks::{Precision, Reference};
use ringmill_compiler::{Compiled, Compiles};
use ringmill_isa::macros::MacroProgram;
use ringmill_isa::mid::Program;
use ringmill_isa::mid::stats::program_counts;
use ringmill_schemes::ckks::Ckks;
use ringmill_schemes::rlwe::RingParams;
use serde::{Serialize, Serializer};

pub use lines::{LineReport, LineTotal, Profile, Sources, operations};
pub use ringmill_device::report::How;
pub use table::Detail;

use ringmill_device::report::MachineReport;
use ringmill_device::timeline::Timeline;
use ringmill_device::{Outcome, Statistics};

/// The parameters with which a program runs, and their security.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ParameterReport {
    pub log_n: u8,
    pub slots: usize,
    /// The size in bits of each ciphertext prime. `special_prime_bits` has the size of each special prime.
    pub cipher_prime_bits: Vec<u32>,
    pub special_prime_bits: Vec<u32>,
    pub dnum: usize,
    /// log2 of the CKKS scale, or `None` for exact values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log2_scale: Option<f64>,
    /// The plaintext modulus t, or `None` for approximate values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plain_modulus: Option<u64>,
    /// log2 of the product of all primes. `log_qp_bound` is the largest value that the security table allows at this
    /// ring degree.
    pub log_qp: f64,
    pub log_qp_bound: Option<u32>,
    pub security_table: String,
    pub security_bits: u32,
    /// The reason why the parameters do not reach the security level. A caller gets such parameters only after an
    /// explicit opt-out.
    pub insecure: Option<String>,
    /// Whether the caller took the opt-out that allows insecure parameters, needed or not.
    pub insecure_allowed: bool,
}

impl ParameterReport {
    /// Makes the part of the parameter report that all ring schemes have. Each scheme adds its own fields.
    pub fn new(params: &impl RingParams) -> Self {
        let params = params.ring_params();
        let bits = |moduli: &[u64]| {
            moduli
                .iter()
                .map(|q| u64::BITS - q.leading_zeros())
                .collect()
        };
        let security = params.security();
        Self {
            log_n: params.log_n(),
            slots: params.degree() / 2,
            cipher_prime_bits: bits(params.cipher_moduli()),
            special_prime_bits: bits(params.special_moduli()),
            dnum: params.dnum(),
            log2_scale: None,
            plain_modulus: None,
            log_qp: security.log_qp,
            log_qp_bound: security.bound,
            security_table: security.table.name().to_owned(),
            security_bits: security.level.bits(),
            insecure: security.insecure.clone(),
            insecure_allowed: params.insecure_allowed(),
        }
    }
}

/// Numbers of instructions, by mnemonic.
pub type Counts = BTreeMap<String, u64>;

/// The numbers of instructions at the macro, mid and micro level. Mid and micro instructions count as often as they are
/// executed. Macro instructions count once each, without those of procedures ([`macro_counts`]). Micro instructions are
/// counted only if a machine was simulated.
#[derive(Clone, Debug, Serialize)]
pub struct InstructionReport {
    #[serde(rename = "macro")]
    pub macro_level: Counts,
    #[serde(rename = "mid")]
    pub mid_level: Counts,
    #[serde(rename = "micro")]
    pub micro_level: Option<Counts>,
    pub how: How,
}

/// Returns the numbers of a program's macro instructions, by mnemonic. A `CALL` or a `REPEAT` counts as one
/// instruction, and the instructions of the called procedure are not counted.
pub fn macro_counts(program: &MacroProgram) -> Counts {
    let mut counts = Counts::new();
    for instr in &program.instrs {
        *counts.entry(instr.op.mnemonic().to_owned()).or_default() += 1;
    }
    counts
}

/// Returns the numbers of mid-level instructions that all calls of a program execute, by mnemonic.
pub fn mid_counts(program: &Program) -> Counts {
    let counts = program_counts(program).into_iter();
    counts
        .map(|(op, n)| (op.mnemonic().to_owned(), n))
        .collect()
}

/// The cost of a run on the CPU: its time, threads and memory, as the device measured them.
#[derive(Clone, Debug, Serialize)]
pub struct CpuReport {
    #[serde(flatten, serialize_with = "fields")]
    pub stats: Arc<dyn Statistics>,
    /// The largest memory that the process has used so far, in bytes, if the operating system tells it.
    pub process_peak_bytes: Option<u64>,
    pub how: How,
}

/// Serialises the statistics that a device reports of itself, as fields of the report.
fn fields<S: Serializer>(stats: &Arc<dyn Statistics>, serializer: S) -> Result<S::Ok, S::Error> {
    (**stats).serialize(serializer)
}

/// The precision of one output of a CKKS program, in bits: -log2 of the error in a slot.
#[derive(Clone, Debug, Serialize)]
pub struct PrecisionReport {
    pub output: String,
    /// The bits of precision that the noise model predicts. It is a bound under the assumptions of
    /// `docs/assumptions.md`, up to the model's probability of failure.
    pub predicted_bits: f64,
    /// The bits of precision predicted under an assumption: no value inside the program exceeds the largest value
    /// on the sample inputs, times a margin. `None` without a sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted_bits_like_sample: Option<f64>,
    /// The predicted number of right decimal digits, relative to the output's magnitude.
    pub predicted_digits: Digits,
    /// The measured bits of precision in the slot with the largest error, against the result without encryption.
    /// Only the key's holder can measure them.
    pub measured_bits: Option<f64>,
    /// Whether the predictions hold only if the assumptions that the report lists hold.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub conditional: bool,
}

/// An assumption that the program's author states of a value inside the program. The report's predictions rest on it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct AssumptionReport {
    /// The source file of the program that states the assumption, if it is known. `line` is the line there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    pub lowest: f64,
    pub highest: f64,
}

impl AssumptionReport {
    /// Returns the assumptions that the author states in a program, each text once.
    pub fn of(program: &MacroProgram) -> Vec<Self> {
        let words = bounded::assumptions(program).into_iter();
        words
            .map(|Assumption { interval, loc }| Self {
                file: loc.as_ref().map(|at| at.file.to_string()),
                line: loc.map(|at| at.line),
                lowest: interval.lowest,
                highest: interval.highest,
            })
            .collect()
    }
}

impl std::fmt::Display for AssumptionReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (lowest, highest) = (self.lowest, self.highest);
        write!(f, "values from {lowest:?} to {highest:?}")?;
        if let (Some(file), Some(line)) = (&self.file, self.line) {
            let name = file.rsplit('/').next().unwrap_or(file);
            write!(f, " at {name}:{line}")?;
        }
        Ok(())
    }
}

/// Returns a text on the bits after the binary point that are certainly right. Below 0 no bit is certain, and the text
/// states the largest error.
pub(crate) fn sure_bits(bits: f64) -> String {
    match bits >= 0.0 {
        true => format!("at least {bits:.1}"),
        false => format!("none sure (error up to 2^{:.1})", -bits),
    }
}

impl PrecisionReport {
    /// Returns the compiler's predicted precision for each output of a program.
    pub fn predicted(compiled: &Compiled<Ckks>) -> Vec<Self> {
        let rows = compiled.outputs.iter().zip(&compiled.predicted);
        rows.map(|(output, predicted)| Self {
            output: output.name.clone(),
            predicted_bits: predicted.bits(),
            predicted_bits_like_sample: predicted.bits_like_sample(),
            predicted_digits: Digits::of(predicted),
            measured_bits: None,
            conditional: predicted.conditional,
        })
        .collect()
    }
}

/// The number of decimal digits of an output that are right, relative to a magnitude of the output.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Digits {
    /// The number of right decimal digits. If a sample was given, it holds for inputs like the sample, otherwise it
    /// is a bound for all inputs.
    pub digits: f64,
    /// The magnitude of the output to which the digits are relative.
    pub of: f64,
    /// The source of the output's magnitude: "largest on the sample", or "bound".
    pub which: &'static str,
}

impl Digits {
    /// Returns the number of right decimal digits that the compiler predicts for an output.
    pub fn of(predicted: &Precision) -> Self {
        let reference = predicted.reference();
        Self {
            digits: predicted.digits(),
            of: reference.magnitude(),
            which: match reference {
                Reference::Sample(_) => "largest on the sample",
                Reference::Bound(_) => "bound",
            },
        }
    }
}

/// Names the digits in a report, as "6.1 digits of 64 (bound)".
impl std::fmt::Display for Digits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.digits >= 0.0 {
            true => write!(f, "{:.1} digits", self.digits)?,
            false => f.write_str("no digits")?,
        }
        write!(f, " of {} ({})", magnitude(self.of), self.which)
    }
}

/// Returns an output's magnitude as text: with at most three decimals from 0.001 to 1000, and otherwise with three
/// significant digits.
fn magnitude(value: f64) -> String {
    match value {
        0.001..1000.0 => {
            let text = format!("{value:.3}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        _ => format!("{value:.2e}"),
    }
}

/// The noise budget of one output of exact values, in bits: how often the noise may double before the output is wrong.
#[derive(Clone, Debug, Serialize)]
pub struct NoiseReport {
    pub output: String,
    /// The bits of noise budget that the noise model predicts. It is a bound under the assumptions of
    /// `docs/assumptions.md`, up to the model's probability of failure.
    pub predicted_bits: f64,
    /// The measured noise budget of the output in whole bits. Only the key's holder can measure it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured_bits: Option<u32>,
}

/// The result of the check that all ciphertexts and keys of a run belong to one secret key. A run with parts of
/// different secret keys is refused.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct KeyReport {
    /// The identity of the secret key in hexadecimal, from the ciphertexts and keys that carry one. `None` if none
    /// does.
    pub identity: Option<String>,
    /// The names of the ciphertexts and keys without an identity, whose secret key is not known. They come from SEAL,
    /// or from files of version 1.
    pub unchecked: Vec<String>,
}

/// The form in which a program takes its key-switching keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyHalves {
    /// Only one half of each key is stored; the device expands the other from a seed.
    Seeded,
    /// Both halves of each key are stored in full.
    Stored,
}

impl KeyHalves {
    /// Returns the word with which reports name the form of the keys.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seeded => "seeded",
            Self::Stored => "stored",
        }
    }
}

/// The scheme of a program, and the reason why it has this scheme.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SchemeReport {
    pub name: String,
    pub why: String,
}

/// The report of a run. It displays as a summary and serialises as JSON.
#[derive(Clone, Debug, Serialize)]
pub struct RunReport {
    pub program: String,
    pub device: String,
    pub scheme: SchemeReport,
    pub parameters: ParameterReport,
    /// The check that all keys and ciphertexts belong to one secret key, or `None` if the run had only timing.
    pub keys: Option<KeyReport>,
    /// The form of the key-switching keys, if the program needs such keys.
    pub key_halves: Option<KeyHalves>,
    pub instructions: InstructionReport,
    pub cpu: Option<CpuReport>,
    pub machine: Option<MachineReport>,
    /// The cost of each line of the user's program, the most expensive line first. It is the cost on the machine if
    /// there is one, else on this computer.
    pub by_line: Vec<LineReport>,
    /// The activity of units and memories over time, if the caller asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Timeline>,
    /// The assumptions on which predictions rest in addition to the ranges of the inputs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<AssumptionReport>,
    /// The precision of each output, if the outputs are approximate values.
    pub precision: Vec<PrecisionReport>,
    /// The noise budget of each output, if the outputs are exact values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub noise: Vec<NoiseReport>,
}

impl RunReport {
    /// Makes the report of a run of `compiled` with `outcome` on `device`, without predictions for its outputs.
    pub fn new<S>(device: &str, compiled: &Compiled<S>, outcome: &Outcome) -> Self
    where
        S: Compiles<Params: RingParams>,
    {
        let micro_level = outcome
            .machine
            .as_ref()
            .map(|m| m.instructions_by_kind.clone());
        Self {
            program: compiled.source.name.clone(),
            device: device.to_owned(),
            // A default reason. A caller that chose the scheme replaces it.
            scheme: SchemeReport {
                name: compiled.source.scheme.to_string(),
                why: "the program names it".to_owned(),
            },
            parameters: ParameterReport::new(&*compiled.params),
            keys: None,
            key_halves: (!compiled.keys.is_empty()).then_some(match compiled.seeded {
                true => KeyHalves::Seeded,
                false => KeyHalves::Stored,
            }),
            instructions: InstructionReport {
                macro_level: macro_counts(&compiled.managed),
                mid_level: mid_counts(&compiled.program),
                micro_level,
                how: How::Counted,
            },
            cpu: outcome.statistics.as_ref().map(|stats| CpuReport {
                stats: Arc::clone(stats),
                process_peak_bytes: process_peak_bytes(),
                how: How::Measured,
            }),
            machine: outcome.machine.clone(),
            by_line: lines::by_line(outcome, &operations(compiled)),
            timeline: None,
            assumptions: AssumptionReport::of(&compiled.source),
            precision: Vec::new(),
            noise: Vec::new(),
        }
    }
}

impl RunReport {
    /// Returns whether the machine leaves some of the program's instructions to a host. The host's part can be timed
    /// only with data.
    pub fn leaves_a_part(&self) -> bool {
        let machine = self.machine.as_ref();
        machine.is_some_and(|machine| machine.own.remarks().hosted)
    }

    /// Returns the run report as text, with every figure except those of single source lines and of the timeline.
    pub fn detail(&self) -> Detail<'_> {
        Detail(self)
    }
}

/// Returns the peak resident memory of this process in bytes, from the kernel's accounting (Linux).
pub fn process_peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}
