// SPDX-License-Identifier: Apache-2.0
//! A simulated machine as a device, `sim:<machine>`. The CPU's kernels compute outputs, and the machine's cycle model
//! computes timing.

use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use ringmill_cpu::Cpu;
use ringmill_device::progress::{Progress, Step};
use ringmill_device::trace::TraceSink;
use ringmill_device::{
    Device, DeviceError, Limb, Outcome, Request, Resident, check_budget, check_values, device,
};
use ringmill_isa::mid::{ValueType, Verified, stats};
use ringmill_limits::Watch;
use ringmill_machines::{Machine, Registry, SimOptions};

use crate::OpenError;

/// The most bytes that are read of a machine description file.
const MAX_FILE: u64 = 1 << 20;

/// A device that simulates a machine: the CPU computes outputs, the cycle model timing.
pub struct Sim {
    name: String,
    machine: Box<dyn Machine>,
    cpu: Cpu,
}

/// Returns the text of a machine's description: a built-in one, or that of a file (`*.toml`) of at most [`MAX_FILE`]
/// bytes.
///
/// # Errors
/// [`OpenError::MachineFile`] for a file that cannot be read or is longer, [`ringmill_machines::MachineError`] for an
/// unknown name.
pub(crate) fn description(machines: &Registry, machine: &str) -> Result<String, DeviceError> {
    if !machine.ends_with(".toml") {
        return Ok(machines.description(machine)?.to_owned());
    }
    let path = Path::new(machine);
    let failed = |source| OpenError::MachineFile {
        path: path.to_owned(),
        source,
    };
    let mut text = String::new();
    std::fs::File::open(path)
        .map_err(failed)?
        .take(MAX_FILE + 1)
        .read_to_string(&mut text)
        .map_err(failed)?;
    if text.len() as u64 > MAX_FILE {
        let expected = format!("expected at most {MAX_FILE} bytes, the file has more");
        return Err(failed(std::io::Error::other(expected)).into());
    }
    Ok(text)
}

impl Sim {
    /// Makes a device of this name from a machine and its cycle model.
    ///
    /// # Errors
    /// An error if the threads of the CPU's kernels cannot be started.
    pub fn new(name: String, machine: Box<dyn Machine>) -> Result<Self, DeviceError> {
        Ok(Self {
            name,
            machine,
            cpu: Cpu::all_cores()?,
        })
    }

    pub fn machine(&self) -> &dyn Machine {
        self.machine.as_ref()
    }
}

/// Returns a function that reports how many of a program's `total` calls the cycle model has done, at most ten times a
/// second and after the last call. The estimate of the time that is left assumes that calls are alike. The first call
/// of a procedure, which schedules it, takes longer than the others.
pub fn calls_done(progress: &dyn Progress, total: u64) -> impl FnMut(u64) {
    const INTERVAL: Duration = Duration::from_millis(100);
    let begin = Instant::now();
    let mut last = Duration::ZERO;
    move |done| {
        let elapsed = begin.elapsed();
        if done < total && elapsed < last + INTERVAL {
            return;
        }
        last = elapsed;
        let left = total.saturating_sub(done) as f64 / done.max(1) as f64;
        progress.step(Step {
            stage: "simulating",
            done,
            total,
            elapsed,
            remaining: Some(elapsed.mul_f64(left)),
        });
    }
}

impl Device for Sim {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn clock_mhz(&self) -> Option<f64> {
        Some(self.machine.clock_mhz())
    }

    fn holds(&self, ty: ValueType) -> bool {
        self.machine.holds(ty)
    }

    fn expands(&self) -> bool {
        true
    }

    fn open<'s>(
        &'s self,
        program: &'s Verified,
        resident: Resident<'s>,
        _: &Watch,
    ) -> Result<Box<dyn device::Session + 's>, DeviceError> {
        check_values(self, program)?;
        Ok(Box::new(Session {
            sim: self,
            program,
            resident,
            function: None,
        }))
    }
}

/// A program that is open on a simulated machine.
struct Session<'s> {
    sim: &'s Sim,
    program: &'s Verified,
    resident: Resident<'s>,
    /// The program as it is open on the CPU, which computes the outputs. The first run with data opens it, so that a
    /// run for timing alone plans nothing.
    function: Option<Box<dyn device::Session + 's>>,
}

impl device::Session for Session<'_> {
    fn run(
        &mut self,
        inputs: Vec<Limb<'_>>,
        mut request: Request<'_>,
        progress: &dyn Progress,
    ) -> Result<Outcome, DeviceError> {
        let (sim, program) = (self.sim, self.program);
        if !request.function && !request.timing {
            return Err(DeviceError::NothingAsked);
        }
        check_budget(sim, &request)?;
        let mut outcome = Outcome::default();
        if request.timing {
            let mut tell = calls_done(progress, stats::calls(program.program()));
            let options = SimOptions {
                spill: request.spill,
                resident_keys: request.resident_keys,
                trace: request
                    .machine_trace
                    .take()
                    .map(|sink| -> &mut dyn TraceSink { sink }),
                progress: Some(&mut tell),
                watch: request.watch.clone(),
            };
            outcome.machine = Some(sim.machine.simulate(program, options)?);
        }
        if request.function {
            let function = match &mut self.function {
                Some(function) => function,
                none => {
                    let resident = self.resident.clone();
                    none.insert(sim.cpu.open(program, resident, &request.watch)?)
                }
            };
            let results = function.run(inputs, request, progress)?;
            outcome.outputs = results.outputs;
            outcome.statistics = results.statistics;
        }
        Ok(outcome)
    }
}
