// SPDX-License-Identifier: Apache-2.0
//! A device: anything that runs limb programs.

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
    /// Most bytes of expanded key limbs and encoded constants to keep; what is dropped is made again when it is read.
    /// Without one everything is kept that the limit of [`Request::watch`] leaves room for. Refused where it cannot be kept to: by machines that take some instructions
    /// only, and where only timing is asked for, which expands nothing.
    pub expanded_bytes: Option<u64>,
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
            expanded_bytes: None,
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
    /// What was measured of it, when function was asked for.
    pub statistics: Option<Arc<dyn Statistics>>,
    /// What the machine would take, when timing was asked for.
    pub machine: Option<MachineReport>,
}

/// Anything that runs limb programs. All devices give identical bits.
pub trait Device: Send + Sync {
    /// The name that it was opened by.
    fn name(&self) -> String;

    /// The clock of the machine behind this device; `None` where there is no cycle model, so no timing to ask for.
    fn clock_mhz(&self) -> Option<f64> {
        None
    }

    /// Whether it holds values of this type: limbs, unless a device says more.
    fn holds(&self, ty: ValueType) -> bool {
        ty.limb().is_some()
    }

    /// Whether it makes constants when it reads them, and keeps to [`Request::expanded_bytes`] where function is asked
    /// for. Others are given every constant encoded.
    fn expands(&self) -> bool {
        false
    }

    /// Opens a program. What is resident stays where it is from run to run: keys, constants, and what the device makes of
    /// them and of the program.
    ///
    /// # Errors
    /// A program that the device does not run.
    fn open<'s>(
        &'s self,
        program: &'s Verified,
        resident: Resident<'s>,
        watch: &Watch,
    ) -> Result<Box<dyn Session + 's>, DeviceError>;

    /// One run. Bindings are ignored when only timing is asked for.
    ///
    /// # Errors
    /// Those of [`Device::open`] and [`Session::run`].
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

/// A program that was opened on a device.
pub trait Session {
    /// Runs the program on a limb for each input that is not resident, in the order of the program's inputs. They are
    /// ignored when only timing is asked for.
    ///
    /// # Errors
    /// Inputs that do not fit; what the device refuses of the request; a limit, or a stop.
    fn run(
        &mut self,
        inputs: Vec<Limb<'_>>,
        request: Request<'_>,
        progress: &dyn Progress,
    ) -> Result<Outcome, DeviceError>;
}

/// The session of a device that keeps nothing: each run has all bindings anew.
pub struct Anew<'s, F> {
    resident: Resident<'s>,
    run: F,
}

impl<'s, F> Anew<'s, F>
where
    F: Fn(&Bindings<'_>, Request<'_>, &dyn Progress) -> Result<Outcome, DeviceError> + 's,
{
    /// `run` runs the program once.
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

/// Refuses a program with values that the device does not hold.
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

/// Refuses a budget for what is expanded where nothing would keep to it.
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

/// What a device that runs a program in one go refuses of a request: nothing to do, values that it does not hold,
/// a budget, a checkpoint.
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
