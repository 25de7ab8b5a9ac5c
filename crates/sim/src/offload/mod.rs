// SPDX-License-Identifier: Apache-2.0
//! Machines that run only a part of a program beside the CPU: one co-processor or several on a card, as `sim:polymul`
//! and `rtl:basext`.
//!
//! Each procedure is cut into stages ([`ringmill_machines::coprocessor::Partition`]). In each stage the CPU's kernels
//! run the host's instructions ([`segment`]). Then the co-processors' jobs run on their RTL ([`Engine`]), or on the
//! CPU's kernels with the models' cycles. The run also measures the CPU's time for the co-processors' part, and for the
//! whole program. So the report can say what the offload is worth ([`ringmill_machines::coprocessor::OffloadTimes`]).

mod run;
mod segment;
mod time;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ringmill_cpu::Cpu;
use ringmill_device::device::Anew;
use ringmill_device::progress::Progress;
use ringmill_device::trace::TraceSink;
use ringmill_device::{
    Bindings, CheckpointError, Device, DeviceError, Outcome, Request, Resident, Session,
    check_budget, check_values,
};
use ringmill_isa::mid::{Procedure, Verified, stats};
use ringmill_limits::Watch;
use ringmill_machines::coprocessor::{Card, Engine, Turn, Work};
use ringmill_machines::{Machine, SimOptions};

use crate::sim::calls_done;
use run::Run;
use segment::Segments;

/// The most procedures in the cache of segments. If the procedures of a further program could exceed it, the cache is
/// emptied first. A program with more procedures is cached whole.
const MAX_KEPT: usize = 1 << 12;

/// An entry of the cache of segments: a procedure, and the segments into which it was cut. The entry's key is the
/// procedure's address, which stays valid while the entry holds the procedure.
type Kept = (Arc<Procedure>, Arc<Segments>);

/// A function that opens an RTL engine for each co-processor of a card, in their order.
pub type Engines = Box<dyn Fn(&Card) -> Result<Vec<Box<dyn Engine>>, DeviceError> + Send + Sync>;

/// A device that runs programs on a card: the card's co-processors run some instructions, and the CPU runs the others.
pub struct Offload {
    name: String,
    card: Card,
    cpu: Cpu,
    /// The function that opens the RTL of the card's co-processors. `None` for a card whose co-processors are cycle
    /// models.
    engines: Option<Engines>,
    kept: Mutex<HashMap<usize, Kept>>,
}

impl Offload {
    /// Makes a device of a card whose co-processors are cycle models. `name` is the name of the device.
    ///
    /// # Errors
    /// An error if the host's thread cannot be started.
    pub fn modelled(name: String, card: Card) -> Result<Self, DeviceError> {
        Self::new(name, card, None)
    }

    /// Makes a device of a card whose co-processors are engines, such as RTL in a simulator. Each run opens the engines
    /// anew. `name` is the name of the device.
    ///
    /// # Errors
    /// An error if the host's thread cannot be started.
    pub fn driven(name: String, card: Card, engines: Engines) -> Result<Self, DeviceError> {
        Self::new(name, card, Some(engines))
    }

    fn new(name: String, card: Card, engines: Option<Engines>) -> Result<Self, DeviceError> {
        Ok(Self {
            name,
            card,
            // The host has one thread, as in the papers' measurements; a stage of a procedure has little work for more
            // threads.
            cpu: Cpu::new(1)?,
            engines,
            kept: Mutex::default(),
        })
    }

    /// Returns the segments of each of the program's procedures. A procedure is cut on its first use.
    fn segments(
        &self,
        program: &Verified,
        work: &Work<'_>,
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
            let partition = work.partition(procedure);
            let segments = Arc::new(Segments::new(procedure, partition)?);
            kept.insert(key, (Arc::clone(procedure), Arc::clone(&segments)));
            all.push(segments);
        }
        Ok(all)
    }

    /// Opens the RTL engine of each co-processor, or returns `None` for a card of cycle models.
    fn engines(&self) -> Result<Option<Vec<Box<dyn Engine>>>, DeviceError> {
        let engines = self.engines.as_ref();
        engines.map(|open| open(&self.card)).transpose()
    }

    /// Computes the timing of a program on the card without data.
    fn time(
        &self,
        program: &Verified,
        trace: Option<&mut dyn TraceSink>,
        progress: &dyn Progress,
        watch: &Watch,
    ) -> Result<Outcome, DeviceError> {
        let mut tell = calls_done(progress, stats::calls(program.program()));
        let options = SimOptions {
            // The reborrow lives as long as `tell`.
            trace: trace.map(|sink| -> &mut dyn TraceSink { sink }),
            progress: Some(&mut tell),
            watch: watch.clone(),
            ..SimOptions::default()
        };
        let report = match self.engines()? {
            None => self.card.simulate(program, options)?,
            Some(mut engines) => {
                let mut run = |turn: Turn<'_>| {
                    watch.check()?;
                    let engine = engines.get_mut(turn.unit);
                    let engine = engine.ok_or_else(|| malformed("a co-processor without RTL"))?;
                    time::on(engine.as_mut(), &turn)
                };
                self.card
                    .simulate_with::<DeviceError>(program, options, "RTL", &mut run)?
            }
        };
        Ok(Outcome {
            machine: Some(report),
            ..Outcome::default()
        })
    }
}

fn malformed(what: &str) -> DeviceError {
    DeviceError::Malformed(what.to_owned())
}

impl Device for Offload {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn clock_mhz(&self) -> Option<f64> {
        Some(self.card.clock_mhz())
    }

    fn open<'s>(
        &'s self,
        program: &'s Verified,
        resident: Resident<'s>,
        _: &Watch,
    ) -> Result<Box<dyn Session + 's>, DeviceError> {
        check_values(self, program)?;
        Ok(Anew::boxed(resident, move |bindings, request, progress| {
            self.run_once(program, bindings, request, progress)
        }))
    }
}

impl Offload {
    fn run_once(
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
        if request.saving.is_some() || request.resume.is_some() {
            let device = self.name();
            return Err(CheckpointError::NotHere { device }.into());
        }
        if !request.function {
            return self.time(program, trace, progress, &request.watch);
        }
        let work = self.card.work(&program.head())?;
        bindings.check(program.program())?;
        let segments = self.segments(program, &work)?;
        let run = Run::new(work, &self.cpu, self.engines()?, trace, &request.watch);
        let mut outcome = run.program(program, &segments, bindings, progress)?;
        if !request.timing {
            outcome.machine = None;
        }
        Ok(outcome)
    }
}
