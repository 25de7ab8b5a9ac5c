// SPDX-License-Identifier: Apache-2.0
//! The rows of a comparison. Each has the figures of a program's run on a machine or on the CPU, or why the machine
//! does not run the program.

use std::collections::BTreeMap;

use ringmill_device::report::{Bound, EndToEnd, How, MachineReport};
use serde::Serialize;

use crate::report::{CpuReport, KeyHalves, ParameterReport, RunReport};

/// The device of a comparison's row: a machine with the changed fields of its description, or the CPU.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Which {
    /// The machine and its changed fields in one line, as in `ring rpaus=4`.
    pub case: String,
    /// The machine's name or description file, or the name of the CPU's device.
    pub machine: String,
    pub set: BTreeMap<String, String>,
}

/// A row of a comparison: a device, and the figures of the run there or the reason why there are none.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    #[serde(flatten)]
    pub which: Which,
    #[serde(flatten)]
    pub figures: Option<Figures>,
    /// The reason why the machine does not run the program, or `None` if it does.
    pub refused: Option<String>,
}

/// The figures of one run of a program on a machine or on the CPU.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// The seconds of the run from the first input to the last output. `None` if the host's part of the run was not
    /// measured.
    pub seconds: Option<f64>,
    /// The seconds of a run with no evaluation key on the machine at the start. It is `seconds` plus the link's time
    /// for the keys that `seconds` assumes to be there.
    pub cold_seconds: Option<f64>,
    /// The form of the program's key-switching keys, or `None` if it needs none.
    pub keys: Option<KeyHalves>,
    /// The seconds of the CPU at the same parameters, divided by this run's seconds. At 2 this run is twice as fast.
    pub speedup: Option<f64>,
    pub how: How,
    /// The part of the time that limits a machine's run, or `None` for the CPU.
    pub bound: Option<Bound>,
    /// The seconds of the host's part of a machine's run, measured on this computer. `link_seconds` has the seconds of
    /// the link's part, and `compute_seconds` those of the machine's own part.
    pub host_seconds: Option<f64>,
    pub link_seconds: Option<f64>,
    pub compute_seconds: Option<f64>,
    /// The seconds for which the machine's units wait for its own distant memory and for instructions.
    pub waits_seconds: Option<f64>,
    /// The seconds of transfers over the link during which the machine's units compute.
    pub overlap_seconds: Option<f64>,
    /// The number of key limbs that are on the machine before the run. `keys_seconds` is the link's time for the
    /// key limbs that it sends during the run.
    pub resident_key_limbs: Option<u64>,
    pub keys_seconds: Option<f64>,
    pub cycles: Option<u64>,
    pub clock_mhz: Option<f64>,
    /// The number of this computer's threads: all that the CPU's run uses, or those of the host beside a machine.
    pub threads: Option<usize>,
    /// The number of modular multipliers of the machine, each of its own word size.
    pub multipliers: Option<u64>,
    /// The bytes that all memories of the machine can hold. `memory_used_bytes` is the most that were in use, if each
    /// memory is counted as full as the fullest of its kind. For the CPU, only the latter is known: the bytes of limb
    /// buffers.
    pub memory_bytes: Option<u64>,
    pub memory_used_bytes: Option<u64>,
    /// The FPGA part or the silicon budget of the machine. `needs` has how much the machine takes of each resource, by
    /// name, and `fits` says whether the part has enough of all.
    pub part: Option<&'static str>,
    pub fits: Option<bool>,
    pub needs: BTreeMap<&'static str, f64>,
    pub parameters: ParameterReport,
    /// The least precision or noise budget, in bits, that is predicted for any output.
    pub predicted_bits: Option<f64>,
}

impl Row {
    /// Makes the row of a machine that does not run the program, for the reason `why`.
    pub fn refused(which: Which, why: String) -> Self {
        Self {
            which,
            figures: None,
            refused: Some(why),
        }
    }

    /// Makes the row of a run on a machine or on the CPU from its report.
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

    /// Makes the row of the CPU from the report of a run, and a note on how its time was measured. `runs` is the
    /// number of measured runs.
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

/// Returns figures of a run in which only its parameters and predictions are filled in.
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
    // Without the time of the host's part, the run has no total.
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
