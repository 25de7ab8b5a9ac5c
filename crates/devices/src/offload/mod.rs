//! Machines that take over a part of a program: `sim:polymul` and `rtl:polymul`.
//!
//! Each procedure is cut into stages ([`ringmill_machines::polymul::partition`]): the host's instructions run by the
//! CPU's kernels ([`segment`]), then the machine's jobs on its RTL ([`rtl`]), or by the same kernels with the model's
//! cycles. What the CPU would take for the machine's part, and for all, is measured beside it, so the report can say what
//! the offload is worth ([`ringmill_machines::OffloadTimes`]).

mod rtl;
mod run;
mod segment;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use ringmill_hdl::Hdl;
use ringmill_isa::mid::{Procedure, Verified, stats};
use ringmill_limits::Watch;
use ringmill_machines::polymul::{Accepted, Description, PolymulMachine};
use ringmill_machines::{Machine, SimOptions, TraceSink};

use crate::DeviceError;
use crate::bindings::Bindings;
use crate::checkpoint::CheckpointError;
use crate::cpu::Cpu;
use crate::device::{Device, Outcome, Request, check_budget, check_values};
use crate::progress::Progress;
use crate::sim::calls_done;
use rtl::Rtl;
use run::Run;
use segment::Segments;

/// Procedures kept ready at most; beyond this the cache starts afresh.
const MAX_KEPT: usize = 1 << 12;

/// A procedure, by whose address its segments are found; holding it keeps the address its own.
type Kept = (Arc<Procedure>, Arc<Segments>);

/// A polynomial multiplier beside the CPU.
pub struct Offload {
    name: String,
    machine: PolymulMachine,
    cpu: Cpu,
    /// The RTL's tools; without them the machine is its model.
    hdl: Option<Hdl>,
    kept: Mutex<HashMap<usize, Kept>>,
}

impl Offload {
    /// The machine of a description by its cycle model.
    pub(crate) fn modelled(name: String, text: &str) -> Result<Self, DeviceError> {
        Self::new(name, text, None)
    }

    /// The machine of a description by its RTL: that of the workspace at or above the current directory.
    pub(crate) fn rtl(name: String, text: &str) -> Result<Self, DeviceError> {
        Self::new(name, text, Some(Hdl::find(Path::new("."))?))
    }

    fn new(name: String, text: &str, hdl: Option<Hdl>) -> Result<Self, DeviceError> {
        Ok(Self {
            name,
            machine: PolymulMachine::new(Description::parse(text)?)?,
            // One thread, as the paper measures its host; a stage has little for more.
            cpu: Cpu::new(1)?,
            hdl,
            kept: Mutex::default(),
        })
    }

    /// The program's procedures in segments; each is cut when first met.
    fn segments(
        &self,
        program: &Verified,
        accepted: &Accepted,
    ) -> Result<Vec<Arc<Segments>>, DeviceError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() + program.bound_procs().len() > MAX_KEPT {
            kept.clear();
        }
        let mut all = Vec::with_capacity(program.bound_procs().len());
        for procedure in program.bound_procs() {
            let key = Arc::as_ptr(procedure) as usize;
            if let Some((_, segments)) = kept.get(&key) {
                all.push(Arc::clone(segments));
                continue;
            }
            let partition = accepted.partition(procedure);
            let segments = Arc::new(Segments::new(procedure, partition)?);
            kept.insert(key, (Arc::clone(procedure), Arc::clone(&segments)));
            all.push(segments);
        }
        Ok(all)
    }

    fn engine(&self) -> Result<Option<Rtl>, DeviceError> {
        let shape = self.machine.shape();
        self.hdl
            .as_ref()
            .map(|hdl| Rtl::new(hdl, shape))
            .transpose()
    }

    /// Timing without data.
    fn time(
        &self,
        program: &Verified,
        trace: Option<&mut dyn TraceSink>,
        progress: &dyn Progress,
        watch: &Watch,
    ) -> Result<Outcome, DeviceError> {
        let degree = self.machine.accept(&program.head())?.degree();
        let mut tell = calls_done(progress, stats::calls(program.program()));
        let options = SimOptions {
            // The reborrow lives as long as `tell`.
            trace: trace.map(|sink| -> &mut dyn TraceSink { sink }),
            progress: Some(&mut tell),
            watch: watch.clone(),
            ..SimOptions::default()
        };
        let report = match self.engine()? {
            None => self.machine.simulate(program, options)?,
            Some(mut rtl) => {
                let tally = self.machine.tally_with::<DeviceError>(
                    program,
                    options,
                    &mut |procedure, stage, commands| {
                        watch.check()?;
                        rtl.time(procedure, stage, &commands, degree)
                    },
                )?;
                tally.report("RTL")
            }
        };
        Ok(Outcome {
            machine: Some(report),
            ..Outcome::default()
        })
    }
}

impl Device for Offload {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn clock_mhz(&self) -> Option<f64> {
        Some(self.machine.details().clock_mhz)
    }

    fn run(
        &self,
        program: &Verified,
        bindings: &Bindings<'_>,
        request: Request<'_>,
        progress: &dyn Progress,
    ) -> Result<Outcome, DeviceError> {
        check_budget(self, &request)?;
        let trace = request
            .machine_trace
            .map(|sink| -> &mut dyn TraceSink { sink });
        if !request.function && !request.timing {
            return Err(DeviceError::NothingAsked);
        }
        check_values(self, program)?;
        if request.saving.is_some() || request.resume.is_some() {
            let device = self.name();
            return Err(CheckpointError::NotHere { device }.into());
        }
        if !request.function {
            return self.time(program, trace, progress, &request.watch);
        }
        let accepted = self.machine.accept(&program.head())?;
        bindings.check(program.program())?;
        let segments = self.segments(program, &accepted)?;
        let degree = accepted.degree();
        let engine = self.engine()?;
        let run = Run::new(
            &self.machine,
            degree,
            &self.cpu,
            engine,
            trace,
            &request.watch,
        );
        let mut outcome = run.program(program, &segments, bindings, progress)?;
        if !request.timing {
            outcome.machine = None;
        }
        Ok(outcome)
    }
}
