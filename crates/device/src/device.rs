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

/// The options of a run. Programs are data-oblivious, so outputs and timing can each be asked for alone.
pub struct Request<'a> {
    /// Whether the run computes the outputs.
    pub function: bool,
    /// Whether the run counts the machine's cycles, which needs a `sim:` or `rtl:` device.
    pub timing: bool,
    /// Whether a program that does not fit the machine's memory may spill over the host link; the report then says what
    /// the spills cost. Without leave such a program is refused.
    pub spill: bool,
    /// Whether evaluation keys are on the machine before the run starts, as the papers count; otherwise their transfer
    /// is counted.
    pub resident_keys: bool,
    /// Receives what the machine's units do, cycle by cycle.
    pub machine_trace: Option<&'a mut dyn TraceSink>,
    /// Receives what the CPU's threads do.
    pub cpu_spans: Option<&'a mut dyn SpanSink>,
    /// Limits the run's memory, and can stop it.
    pub watch: Watch,
    /// The file to which the run is saved between calls: at intervals, and when it is stopped.
    pub saving: Option<Saving>,
    /// The checkpoint from which the run continues.
    pub resume: Option<PathBuf>,
    /// The most bytes of expanded key limbs and encoded constants to keep. Dropped limbs are made again when a step
    /// reads them. With `None` the run keeps all that the limit of [`Request::watch`] leaves room for. A budget is
    /// refused by machines that take some instructions only. It is also refused for a run with timing only, which
    /// expands nothing.
    pub expanded_bytes: Option<u64>,
}

impl Request<'_> {
    /// Returns a request for outputs only.
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

    /// Returns a request for timing only, which needs no data.
    pub fn timing_only() -> Self {
        Self {
            function: false,
            timing: true,
            ..Self::function_only()
        }
    }

    /// Returns a request for outputs and timing.
    pub fn both() -> Self {
        Self {
            timing: true,
            ..Self::function_only()
        }
    }
}

/// The results of a run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The output limbs in the program's order, if the request had `function`.
    pub outputs: Option<Vec<OutputLimb>>,
    /// The measurements of the run, if the request had `function`.
    pub statistics: Option<Arc<dyn Statistics>>,
    /// The time that the machine would take, if the request had `timing`.
    pub machine: Option<MachineReport>,
}

/// A device: runs limb programs. All devices give identical bits.
pub trait Device: Send + Sync {
    /// Returns the name by which the device was opened.
    fn name(&self) -> String;

    /// Returns the clock of the machine behind this device, or `None` for a device without a cycle model and so without
    /// timing.
    fn clock_mhz(&self) -> Option<f64> {
        None
    }

    /// Returns whether the device holds values of this type. All devices hold limbs.
    fn holds(&self, ty: ValueType) -> bool {
        ty.limb().is_some()
    }

    /// Returns whether the device encodes constants when a step reads them, and keeps to [`Request::expanded_bytes`] in
    /// runs with `function`. Other devices need every constant encoded.
    fn expands(&self) -> bool {
        false
    }

    /// Opens a program. `resident` data stay on the device from run to run: keys, constants, and all that the device
    /// derives from them and from the program.
    ///
    /// # Errors
    /// A program that the device cannot run.
    fn open<'s>(
        &'s self,
        program: &'s Verified,
        resident: Resident<'s>,
        watch: &Watch,
    ) -> Result<Box<dyn Session + 's>, DeviceError>;

    /// Runs a program once. Bindings are ignored in a request for timing only.
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

/// A program that is open on a device.
pub trait Session {
    /// Runs the program on one limb for each input that is not resident, in the order of the program's inputs. Inputs
    /// are ignored in a request for timing only.
    ///
    /// # Errors
    /// Inputs that do not fit, a request that the device does not support, a limit, or a stop.
    fn run(
        &mut self,
        inputs: Vec<Limb<'_>>,
        request: Request<'_>,
        progress: &dyn Progress,
    ) -> Result<Outcome, DeviceError>;
}

/// A session on a device that keeps nothing: each run brings all bindings again.
pub struct Anew<'s, F> {
    resident: Resident<'s>,
    run: F,
}

impl<'s, F> Anew<'s, F>
where
    F: Fn(&Bindings<'_>, Request<'_>, &dyn Progress) -> Result<Outcome, DeviceError> + 's,
{
    /// Makes a session from `run`, which runs the program once.
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

/// Refuses a budget for expanded limbs on a device or for a request that does not keep to budgets.
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

/// Checks a request to a device that runs a program in one go. The device refuses a request for nothing, values that it
/// does not hold, a budget, and a checkpoint.
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
