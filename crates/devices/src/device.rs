//! A device: anything that runs limb programs.

use std::path::PathBuf;

use ringmill_isa::mid::{Program, ValueType, Verified};
use ringmill_limits::Watch;
use ringmill_machines::{MachineReport, TraceSink, polymul};

use crate::DeviceError;
use crate::bindings::Bindings;
use crate::checkpoint::Saving;
use crate::cpu::{Cpu, CpuStats, MAX_THREADS};
use crate::offload::Offload;
use crate::pool::OutputLimb;
use crate::progress::Progress;
use crate::sim::{self, Sim};
use crate::trace::SpanSink;

/// What is wanted of a run. Programs are data-oblivious, so function and timing are each a whole answer.
pub struct Request<'a> {
    /// Compute the outputs.
    pub function: bool,
    /// Count the machine's cycles (needs a `sim:` or `rtl:` device).
    pub timing: bool,
    /// A program that does not fit the machine's memory spills over the host link, and the report says what that cost;
    /// without leave it is refused.
    pub spill: bool,
    /// Evaluation keys are on the machine before the run starts, as the papers count; otherwise their transfer is counted.
    pub resident_keys: bool,
    /// Where the machine's units tell what they do, cycle by cycle.
    pub machine_trace: Option<&'a mut dyn TraceSink>,
    /// Where the CPU's threads tell what they do.
    pub cpu_spans: Option<&'a mut dyn SpanSink>,
    /// Bounds the run's memory, and stops it.
    pub watch: Watch,
    /// Where the run is saved now and then and when it is stopped, between calls.
    pub saving: Option<Saving>,
    /// The checkpoint to go on from.
    pub resume: Option<PathBuf>,
}

impl Request<'_> {
    /// Outputs only.
    pub fn function_only() -> Self {
        Self {
            function: true,
            timing: false,
            spill: true,
            resident_keys: true,
            machine_trace: None,
            cpu_spans: None,
            watch: Watch::default(),
            saving: None,
            resume: None,
        }
    }

    /// Timing only; no data is needed.
    pub fn timing_only() -> Self {
        Self {
            function: false,
            timing: true,
            ..Self::function_only()
        }
    }

    /// Outputs and timing.
    pub fn both() -> Self {
        Self {
            timing: true,
            ..Self::function_only()
        }
    }
}

/// What a run gave.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The output limbs in the order of the program's, when function was asked for.
    pub outputs: Option<Vec<OutputLimb>>,
    /// What the CPU took, when function was asked for.
    pub cpu: Option<CpuStats>,
    /// What the machine would take, when timing was asked for.
    pub machine: Option<MachineReport>,
}

/// Anything that runs limb programs. All devices give identical bits.
pub trait Device: Send + Sync {
    /// The name that [`open`] knows it by.
    fn name(&self) -> String;

    /// The clock of the machine behind this device; `None` where there is no cycle model, so no timing to ask for.
    fn clock_mhz(&self) -> Option<f64> {
        None
    }

    /// Whether it holds values of this type: limbs, unless a device says more.
    fn holds(&self, ty: ValueType) -> bool {
        ty.limb().is_some()
    }

    /// Checks the bindings, runs. Bindings are ignored when only timing is asked for.
    fn run(
        &self,
        program: &Verified,
        bindings: &Bindings<'_>,
        request: Request<'_>,
        progress: &dyn Progress,
    ) -> Result<Outcome, DeviceError>;
}

/// Refuses a program with values that the device does not hold.
pub(crate) fn check_values(device: &dyn Device, program: &Program) -> Result<(), DeviceError> {
    match program.input_of(|ty| !device.holds(ty)) {
        None => Ok(()),
        Some((input, ty)) => Err(DeviceError::Kind {
            device: device.name(),
            input: input.to_owned(),
            kind: ty.kind(),
        }),
    }
}

/// The machines that [`open`] runs on their RTL.
pub const RTL_MACHINES: [&str; 1] = ["polymul"];

/// The names that [`open`] understands, as a user would type them.
pub fn known_devices() -> Vec<String> {
    let simulated = ringmill_machines::MACHINES
        .iter()
        .map(|name| format!("sim:{name}"));
    let rtl = RTL_MACHINES.iter().map(|name| format!("rtl:{name}"));
    let fixed = ["cpu".to_owned(), "cpu:N (N threads)".to_owned()];
    fixed
        .into_iter()
        .chain(simulated)
        .chain(rtl)
        .chain(["sim:FILE.toml, rtl:FILE.toml (a machine description)".to_owned()])
        .collect()
}

/// Opens a device by name: `cpu` (all cores), `cpu:2`, `sim:ring`, `rtl:polymul`, `sim:path/to/machine.toml`.
///
/// ```
/// assert_eq!(ringmill_devices::open("cpu:2")?.name(), "cpu:2");
/// let error = ringmill_devices::open("abacus").err().map(|e| e.to_string());
/// assert!(error.is_some_and(|text| text.contains("sim:ring")));
/// # Ok::<(), ringmill_devices::DeviceError>(())
/// ```
///
/// # Errors
/// [`DeviceError::UnknownDevice`] lists the known ones; [`DeviceError::ThreadCount`] and [`DeviceError::Threads`];
/// [`DeviceError::MachineFile`] and [`DeviceError::Machine`] for a file that cannot be read or describes no machine;
/// [`DeviceError::NoRtl`] for a machine without RTL, [`DeviceError::Hdl`] where the RTL's tools are missing.
pub fn open(name: &str) -> Result<Box<dyn Device>, DeviceError> {
    let unknown = || DeviceError::UnknownDevice {
        got: shorten(name),
        known: known_devices(),
    };
    match name.split_once(':') {
        None if name == "cpu" => Ok(Box::new(Cpu::all_cores()?)),
        Some(("cpu", threads)) => match threads.parse() {
            Ok(threads) => Ok(Box::new(Cpu::new(threads)?)),
            Err(_) => Err(DeviceError::ThreadCount {
                got: shorten(name),
                max: MAX_THREADS,
            }),
        },
        Some((kind @ ("sim" | "rtl"), machine))
            if machine.ends_with(".toml") || ringmill_machines::MACHINES.contains(&machine) =>
        {
            let text = sim::description(machine)?;
            match (kind, polymul::Description::recognises(&text)) {
                ("rtl", true) => Ok(Box::new(Offload::rtl(name.to_owned(), &text)?)),
                ("rtl", false) => Err(DeviceError::NoRtl {
                    machine: shorten(machine),
                    known: RTL_MACHINES.join(", "),
                }),
                (_, true) => Ok(Box::new(Offload::modelled(name.to_owned(), &text)?)),
                (_, false) => Ok(Box::new(Sim::new(name.to_owned(), &text)?)),
            }
        }
        _ => Err(unknown()),
    }
}

/// Keeps an error message short whatever was typed.
fn shorten(name: &str) -> String {
    const MOST: usize = 80;
    if name.chars().count() <= MOST {
        name.to_owned()
    } else {
        name.chars().take(MOST).chain(['…']).collect()
    }
}
