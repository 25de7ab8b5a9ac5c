//! `sim:<machine>`: function on the CPU's kernels, timing on the machine's cycle model.

use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use ringmill_compiler::Target;
use ringmill_isa::Engine;
use ringmill_isa::engine::Digits;
use ringmill_isa::mid::{ValueType, Verified, stats};
use ringmill_machines::registry::Opened;
use ringmill_machines::{Kind, Machine, SimOptions, TraceSink, WholeRtl};

use crate::DeviceError;
use crate::bindings::Bindings;
use crate::cpu::Cpu;
use crate::device::{Device, Outcome, Request, check_budget, check_values};
use crate::progress::{Progress, Step};

/// Largest machine file read.
const MAX_FILE: u64 = 1 << 20;

/// A simulated machine.
pub struct Sim {
    name: String,
    machine: Box<dyn Machine>,
    cpu: Cpu,
}

/// The description text of a machine: one that the machines crate ships, or a file's (`*.toml`).
///
/// # Errors
/// [`DeviceError::MachineFile`] for a file that cannot be read, [`DeviceError::Machine`] for a name that is none.
pub(crate) fn description(machine: &str) -> Result<String, DeviceError> {
    if !machine.ends_with(".toml") {
        return Ok(ringmill_machines::registry::description(machine)?.to_owned());
    }
    let path = Path::new(machine);
    let failed = |source| DeviceError::MachineFile {
        path: path.to_owned(),
        source,
    };
    let mut text = String::new();
    std::fs::File::open(path)
        .map_err(failed)?
        .take(MAX_FILE)
        .read_to_string(&mut text)
        .map_err(failed)?;
    Ok(text)
}

/// The description of a machine by its name or its description file, with or without the `sim:` or `rtl:` of the device
/// that it is.
fn description_of(machine: &str) -> Result<String, DeviceError> {
    let device = ["sim:", "rtl:"]
        .iter()
        .find_map(|kind| machine.strip_prefix(kind));
    description(device.unwrap_or(machine))
}

/// What a machine asks of a program's parameters: by its name or its description file, with or without the `sim:` or
/// `rtl:` of the device that it is.
///
/// # Errors
/// As [`crate::open`].
pub fn target(machine: &str) -> Result<Target, DeviceError> {
    Ok(ringmill_machines::load(&description_of(machine)?)?.target())
}

/// What a bootstrapping engine asks of TFHE's parameters, named as [`target`] takes it.
///
/// # Errors
/// As [`crate::open`]; [`DeviceError::NoBootstraps`] for a machine that runs none.
pub fn engine(machine: &str) -> Result<Engine, DeviceError> {
    let text = description_of(machine)?;
    let Opened::Whole(whole) = Kind::of(&text)?.open(&text)? else {
        return Err(no_bootstraps(machine));
    };
    let Some(WholeRtl::Torus(torus)) = whole.rtl() else {
        return Err(no_bootstraps(machine));
    };
    let sizes = torus.shape().sizes();
    Ok(Engine {
        dimension: sizes.dim,
        log_degree: sizes.log_n as u8,
        unrolling: sizes.unroll,
        bootstrap: Digits {
            log_base: sizes.log_base,
            levels: sizes.levels,
        },
        key_switch: Digits {
            log_base: sizes.switch.digits.log_base,
            levels: sizes.switch.digits.levels,
        },
    })
}

fn no_bootstraps(machine: &str) -> DeviceError {
    DeviceError::NoBootstraps {
        machine: machine.to_owned(),
    }
}

impl Sim {
    /// A machine as a device of that name.
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

/// Passes on how many calls the cycle model has done, a few times a second. The estimate takes calls to be alike; the
/// first call of a procedure, which is scheduled then, takes longer than the others.
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

    fn run(
        &self,
        program: &Verified,
        bindings: &Bindings<'_>,
        mut request: Request<'_>,
        progress: &dyn Progress,
    ) -> Result<Outcome, DeviceError> {
        if !request.function && !request.timing {
            return Err(DeviceError::NothingAsked);
        }
        check_values(self, program)?;
        check_budget(self, &request)?;
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
            outcome.machine = Some(self.machine.simulate(program, options)?);
        }
        if request.function {
            let results = self.cpu.run(program, bindings, request, progress)?;
            outcome.outputs = results.outputs;
            outcome.cpu = results.cpu;
        }
        Ok(outcome)
    }
}
