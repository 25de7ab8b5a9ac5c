// SPDX-License-Identifier: Apache-2.0
//! The rows of a comparison: the figures of a run on a machine or on the CPU, or why a machine does not run the program.

use std::collections::BTreeMap;

use ringmill_device::report::{Bound, EndToEnd, How, MachineReport};
use serde::Serialize;

use crate::report::{CpuReport, KeyHalves, ParameterReport, RunReport};

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

    pub(super) fn is_cpu(&self) -> bool {
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
    // Without its host's part a run has no total.
    let whole = !report.leaves_a_part() || time.host_seconds.is_some();
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
        seconds: whole.then_some(time.seconds),
        cold_seconds: whole.then(|| time.cold_seconds()),
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
