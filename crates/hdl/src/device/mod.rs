// SPDX-License-Identifier: Apache-2.0
//! Simulated RTL as devices: machines that run whole programs, engines of co-processors, and a registry of all kinds.

mod basext;
mod error;
mod polymul;
mod registry;
mod ring;
mod torus;
mod vector;

use crate::{BuildOptions, Optimise};
use ringmill_device::report::MachineReport;
use ringmill_isa::mid::{ValueType, Verified};
use ringmill_machines::{Machine, MachineError, SimOptions};

use ringmill_device::DeviceError;
use ringmill_device::bindings::Bindings;
use ringmill_device::device::Anew;
use ringmill_device::pool::OutputLimb;
use ringmill_device::{Device, Outcome, Request, Resident, Session, check_request};
use ringmill_limits::Watch;

pub use error::RtlError;
pub use registry::{Described, Design, Designs, Folder, OpenEngine, Runs};

/// A machine's RTL as a device that runs whole programs, in contrast to a co-processor that runs
/// parts of them.
trait Whole: Send + Sync {
    fn machine(&self) -> &dyn Machine;

    /// Runs a program whose bindings were checked. `report` is the cycle model's report of the program, in which the
    /// RTL's cycles replace the model's.
    fn execute(
        &self,
        job: &Job<'_, '_>,
        report: &mut MachineReport,
    ) -> Result<Vec<OutputLimb>, DeviceError>;
}

/// A program that an RTL device runs once, with the caller's inputs and keys (`bindings`) and the
/// caller's options (`request`).
struct Job<'j, 'r> {
    device: &'j str,
    program: &'j Verified,
    bindings: &'j Bindings<'j>,
    request: &'j Request<'r>,
}

/// Returns the cycle model's options for a request to an RTL device. `resident_keys` tells whether the machine's key
/// memory has keys at the program's start, those that are used first.
fn options(request: &Request<'_>, resident_keys: bool) -> SimOptions<'static> {
    SimOptions {
        spill: request.spill,
        resident_keys,
        watch: request.watch.clone(),
        ..SimOptions::default()
    }
}

/// Returns the options with which a machine's simulation model is built. The C++ of a small machine
/// is compiled quickly; that of another machine is compiled to run fast.
const fn built(small: bool) -> BuildOptions {
    BuildOptions {
        optimise: match small {
            true => Optimise::Build,
            false => Optimise::Run,
        },
        waves: false,
        open: false,
    }
}

/// The build options of a simulation model that the C++ compiler optimises for speed.
const FAST: BuildOptions = built(false);

/// Returns the error that the RTL does not support the value `got` of a field in a machine's
/// description.
fn unbuilt(field: &'static str, got: String, expected: &str) -> DeviceError {
    MachineError::Field {
        field,
        got,
        expected: expected.to_owned(),
    }
    .into()
}

/// The RTL of a machine as a device with a name.
struct Rtl<W> {
    name: String,
    whole: W,
}

impl<W: Whole> Device for Rtl<W> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn clock_mhz(&self) -> Option<f64> {
        Some(self.whole.machine().clock_mhz())
    }

    fn holds(&self, ty: ValueType) -> bool {
        self.whole.machine().holds(ty)
    }

    fn open<'s>(
        &'s self,
        program: &'s Verified,
        resident: Resident<'s>,
        _: &Watch,
    ) -> Result<Box<dyn Session + 's>, DeviceError> {
        Ok(Anew::boxed(resident, move |bindings, request, _| {
            self.run_once(program, bindings, request)
        }))
    }
}

impl<W: Whole> Rtl<W> {
    fn run_once(
        &self,
        program: &Verified,
        bindings: &Bindings<'_>,
        request: Request<'_>,
    ) -> Result<Outcome, DeviceError> {
        check_request(self, program, &request)?;
        // The model decides whether the machine can run the program.
        let asked = options(&request, request.resident_keys);
        let mut report = self.whole.machine().simulate(program, asked)?;
        if !request.function {
            return Ok(Outcome {
                machine: Some(report),
                ..Outcome::default()
            });
        }
        bindings.check(program.program())?;
        let job = Job {
            device: &self.name,
            program,
            bindings,
            request: &request,
        };
        let outputs = self.whole.execute(&job, &mut report)?;
        report.how = "RTL";
        Ok(Outcome {
            outputs: Some(outputs),
            statistics: None,
            machine: request.timing.then_some(report),
        })
    }
}
