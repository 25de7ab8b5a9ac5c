// SPDX-License-Identifier: Apache-2.0
//! The interface that every device implements: open a limb program, run it, and report outputs and timing.

use std::path::PathBuf;
use std::sync::Arc;

use ringmill_isa::mid::{ValueType, Verified};
use ringmill_limits::Watch;

use crate::progress::Progress;
use crate::report::MachineReport;
use crate::trace::{SpanSink, TraceSink};
use crate::{
    Bindings, CheckpointError, DeviceError, Limb, OutputLimb, Resident, Saving, Statistics,
};

/// The options of a run of a limb program. The program's timing does not depend on data, so a run can compute outputs,
/// timing, or both.
pub struct Request<'a> {
    /// Whether the run computes the outputs.
    pub function: bool,
    /// Whether the run counts the machine's cycles, which needs a `sim:` or `rtl:` device. The CPU ignores it if
    /// `function` is set, and refuses it otherwise.
    pub timing: bool,
    /// Whether values that do not fit into the machine's memory may wait outside: in host memory for the ring machine,
    /// in distant memory for the vector machine. The report then says what these spills cost. If not, these machines
    /// refuse a program that needs spills. Other devices ignore it.
    pub spill: bool,
    /// Whether evaluation keys count as loaded onto the machine before the run starts, as the papers that describe the
    /// machines count time. The key memory of the ring machine then has those keys that are used first, and the vector
    /// machine has all keys in distant memory. The run's time includes the transfer of all other key limbs. Other
    /// devices ignore it.
    pub resident_keys: bool,
    /// The sink for events of the machine's units, in cycles. Only the model of the ring machine and cards of
    /// co-processors send events.
    pub machine_trace: Option<&'a mut dyn TraceSink>,
    /// The sink for events of the CPU's threads, in time.
    pub cpu_spans: Option<&'a mut dyn SpanSink>,
    /// The limits on the run's memory, and the flag that stops the run.
    pub watch: Watch,
    /// The path and interval of the run's checkpoints. The run is saved between calls, at each interval and when it is
    /// stopped.
    pub saving: Option<Saving>,
    /// The path of the checkpoint from which the run continues; `None` starts at the first call.
    pub resume: Option<PathBuf>,
    /// The most bytes of expanded key limbs and encoded constants that the run keeps. Limbs beyond it are dropped and
    /// computed again when a step reads them. With `None` the run keeps all that the limit of [`Request::watch`] leaves
    /// room for. A device for which [`Device::expands`] is false refuses a budget: an `rtl:` device, or a machine that
    /// executes only some of a program's instructions. A run with timing only also refuses one, because it expands
    /// nothing.
    pub expanded_bytes: Option<u64>,
}

impl Request<'_> {
    /// Returns a request for a program's outputs without timing.
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
            expanded_bytes: None,
        }
    }

    /// Returns a request for a program's timing without outputs. Such a run needs no data.
    pub fn timing_only() -> Self {
        Self {
            function: false,
            timing: true,
            ..Self::function_only()
        }
    }

    /// Returns a request for a program's outputs and its timing.
    pub fn both() -> Self {
        Self {
            timing: true,
            ..Self::function_only()
        }
    }
}

/// The results of a run: its outputs and its measurements.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The output limbs in the program's order, if the request had `function`.
    pub outputs: Option<Vec<OutputLimb>>,
    /// The measurements of the run's work on the CPU, if the request had `function`. A card of co-processors measures a
    /// run of the whole program on its host alone. The RTL of a whole machine measures nothing.
    pub statistics: Option<Arc<dyn Statistics>>,
    /// The machine's report, if the request had `timing` and the device has a cycle model.
    pub machine: Option<MachineReport>,
}

/// The interface of anything that runs limb programs: the CPU, a simulated machine or RTL. All devices compute the same
/// bits.
pub trait Device: Send + Sync {
    /// Returns the name by which the device was opened.
    fn name(&self) -> String;

    /// Returns the clock of the machine behind this device, or `None` for a device without a cycle model and so without
    /// timing.
    fn clock_mhz(&self) -> Option<f64> {
        None
    }

    /// Returns whether the device can hold values of type `ty`. Every device holds limbs; exponents, tables and LWE
    /// vectors are optional.
    fn holds(&self, ty: ValueType) -> bool {
        ty.limb().is_some()
    }

    /// Returns whether the device encodes plaintext constants only when a step reads them. Such a device keeps to
    /// [`Request::expanded_bytes`] in runs that compute outputs. All other devices need constants that are encoded
    /// before the run.
    fn expands(&self) -> bool {
        false
    }

    /// Opens a program for one or more runs. `resident` are keys and constants that stay on the device from run to run,
    /// with all that the device derives from them and from the program.
    ///
    /// # Errors
    /// [`DeviceError`] if the device cannot run the program.
    fn open<'s>(
        &'s self,
        program: &'s Verified,
        resident: Resident<'s>,
        watch: &Watch,
    ) -> Result<Box<dyn Session + 's>, DeviceError>;

    /// Opens a program, runs it once and closes it. A request for timing only ignores the bindings.
    ///
    /// # Errors
    /// The errors of [`Device::open`] and [`Session::run`].
    fn run(
        &self,
        program: &Verified,
        bindings: &Bindings<'_>,
        request: Request<'_>,
        progress: &dyn Progress,
    ) -> Result<Outcome, DeviceError> {
        let resident = Resident::seeds(bindings.seeds.clone());
        let mut session = self.open(program, resident, &request.watch)?;
        session.run(bindings.limbs.clone(), request, progress)
    }
}

/// The interface of a program that is open on a device, for one or more runs.
pub trait Session {
    /// Runs the open program on one limb for each input that is not resident, in the order of the program's inputs. A
    /// request for timing only ignores `inputs`.
    ///
    /// # Errors
    /// [`DeviceError`] if inputs do not fit, the device does not support the request, a limit is exceeded, or the run
    /// is stopped.
    fn run(
        &mut self,
        inputs: Vec<Limb<'_>>,
        request: Request<'_>,
        progress: &dyn Progress,
    ) -> Result<Outcome, DeviceError>;
}

/// A session on a device that keeps nothing between runs: each run binds all keys and constants again.
pub struct Anew<'s, F> {
    resident: Resident<'s>,
    run: F,
}

impl<'s, F> Anew<'s, F>
where
    F: Fn(&Bindings<'_>, Request<'_>, &dyn Progress) -> Result<Outcome, DeviceError> + 's,
{
    /// Makes a session from the resident data and a function `run`, which runs the open program
    /// once on all its bindings.
    pub fn boxed(resident: Resident<'s>, run: F) -> Box<dyn Session + 's> {
        Box::new(Self { resident, run })
    }
}

impl<F> Session for Anew<'_, F>
where
    F: Fn(&Bindings<'_>, Request<'_>, &dyn Progress) -> Result<Outcome, DeviceError>,
{
    fn run(
        &mut self,
        inputs: Vec<Limb<'_>>,
        request: Request<'_>,
        progress: &dyn Progress,
    ) -> Result<Outcome, DeviceError> {
        (self.run)(&self.resident.with(inputs), request, progress)
    }
}

/// Refuses a program with values of types that the device does not hold.
///
/// # Errors
/// [`DeviceError::Kind`].
pub fn check_values(device: &dyn Device, program: &Verified) -> Result<(), DeviceError> {
    let refused = |name: &str, ty: ValueType| DeviceError::Kind {
        device: device.name(),
        input: name.to_owned(),
        kind: ty.kind(),
    };
    if let Some((input, ty)) = program.head().input_of(|ty| !device.holds(ty)) {
        return Err(refused(input, ty));
    }
    for procedure in program.bound_procs() {
        if let Some(&ty) = procedure.types.iter().find(|&&ty| !device.holds(ty)) {
            return Err(refused(&procedure.name, ty));
        }
    }
    Ok(())
}

/// Refuses a request's budget of bytes for expanded limbs ([`Request::expanded_bytes`]) if the device keeps to no
/// budget, or if the request is for timing only.
///
/// # Errors
/// [`DeviceError::NoBudget`].
pub fn check_budget(device: &dyn Device, request: &Request<'_>) -> Result<(), DeviceError> {
    let why = match (request.expanded_bytes, request.function) {
        (None, _) => return Ok(()),
        (Some(_), false) => "timing alone expands nothing",
        (Some(_), true) if !device.expands() => {
            "it takes some of the instructions and is handed whole keys and constants"
        }
        (Some(_), true) => return Ok(()),
    };
    let device = device.name();
    Err(DeviceError::NoBudget { device, why })
}

/// Checks a request to a device that runs a program as a whole. Such a device refuses a request for neither outputs nor
/// timing, values of types that it does not hold, a budget for expanded limbs that it cannot keep ([`check_budget`]),
/// and a checkpoint.
///
/// # Errors
/// [`DeviceError::NothingAsked`], [`DeviceError::Kind`], [`DeviceError::NoBudget`], or [`DeviceError::Checkpoint`].
pub fn check_request(
    device: &dyn Device,
    program: &Verified,
    request: &Request<'_>,
) -> Result<(), DeviceError> {
    if !request.function && !request.timing {
        return Err(DeviceError::NothingAsked);
    }
    check_values(device, program)?;
    check_budget(device, request)?;
    if request.saving.is_some() || request.resume.is_some() {
        let device = device.name();
        return Err(CheckpointError::NotHere { device }.into());
    }
    Ok(())
}
