// SPDX-License-Identifier: Apache-2.0
//! Times a program on a card without data. It adds up the commands of each turn, the jobs of one co-processor
//! in one stage, from the model or from RTL.

use std::collections::HashMap;
use std::rc::Rc;

use ringmill_isa::mid::{Called, Head, LimbId, Order};
use ringmill_limits::Watch;

use super::claim::Partition;
use super::work::{Turn, Work};
use super::{Card, Resident, Schedule};
use crate::error::MachineError;
use crate::machine::Session;
use crate::options::SimOptions;
use ringmill_device::report::MachineReport;
use ringmill_device::trace::TraceSink;

/// A function that executes a turn, the jobs of one co-processor in one stage, and returns its commands with
/// their cycles.
pub type RunStage<'a, E> = dyn FnMut(Turn<'_>) -> Result<Schedule, E> + 'a;

/// The most cached schedules of turns with which a call begins; a turn is the jobs of one co-processor in one stage of
/// a procedure. If there are more, the cache is emptied before the call.
const MAX_KNOWN: usize = 1 << 14;

/// A turn (the jobs of one co-processor in one stage of a procedure), by its procedure, stage and
/// co-processor, with the data in the co-processor before it.
type Seen = (u32, usize, usize, Resident);

pub(super) struct Timing<'m, R> {
    order: Order<'m>,
    /// The partition into stages of each procedure of the program.
    partitions: Vec<Partition>,
    /// The cached schedules of turns, a turn being the jobs of one co-processor in one stage. A turn that
    /// recurs with the same data in the co-processor is not scheduled again.
    known: HashMap<Seen, Rc<Schedule>>,
    work: Work<'m>,
    run: R,
    trace: Option<&'m mut dyn TraceSink>,
    progress: Option<&'m mut dyn FnMut(u64)>,
    watch: Watch,
}

impl<'m, R> Timing<'m, R> {
    /// Makes the timing of a program on a card, before the program's first call.
    ///
    /// # Errors
    /// The errors of [`Card::work`].
    pub fn new(
        card: &'m Card,
        head: Head<'m>,
        options: SimOptions<'m>,
        run: R,
    ) -> Result<Self, MachineError> {
        let work = card.work(&head)?;
        Ok(Self {
            order: Order::new(&head),
            partitions: head.procs.iter().map(|p| work.partition(p)).collect(),
            known: HashMap::new(),
            work,
            run,
            trace: options.trace,
            progress: options.progress,
            watch: options.watch,
        })
    }

    /// Times the program's next call with the co-processors' commands from `run`.
    ///
    /// # Errors
    /// An error for a call that does not follow the calls before it; [`MachineError::Halt`] if the watch stops the run;
    /// the errors of `run`.
    pub fn take<E>(&mut self, called: &Called) -> Result<(), E>
    where
        E: From<MachineError>,
        R: FnMut(Turn<'_>) -> Result<Schedule, E>,
    {
        self.watch.check().map_err(MachineError::from)?;
        let procedure = self.order.take(called).map_err(MachineError::from)?;
        let proc = called.call.proc;
        let Some(partition) = self.partitions.get(proc as usize) else {
            return Err(MachineError::Program(format!("no procedure {proc}")).into());
        };
        if self.known.len() > MAX_KNOWN {
            self.known.clear();
        }
        let (known, run) = (&mut self.known, &mut self.run);
        self.work.begin(procedure, partition, &called.call);
        for number in 0..partition.stages.len() {
            let mut look_up = |turn: Turn<'_>| -> Result<Rc<Schedule>, E> {
                let seen = (proc, number, turn.unit, turn.holds.clone());
                if let Some(schedule) = known.get(&seen) {
                    return Ok(Rc::clone(schedule));
                }
                let schedule = Rc::new(run(turn)?);
                known.insert(seen, Rc::clone(&schedule));
                Ok(schedule)
            };
            let trace = self.trace.as_deref_mut();
            self.work
                .stage(procedure, partition, number, &mut look_up, trace)?;
        }
        self.work.end(procedure, partition, called);
        if let Some(tell) = &mut self.progress {
            tell(called.number + 1);
        }
        Ok(())
    }

    /// Returns the report of the run after the program's last call.
    ///
    /// # Errors
    /// An error if an output is neither an input of the program nor computed by a call.
    pub fn report(
        self,
        how: &'static str,
        outputs: &[LimbId],
    ) -> Result<MachineReport, MachineError> {
        self.order.check(outputs)?;
        Ok(self.work.report(how, outputs))
    }
}

impl<R> Session for Timing<'_, R>
where
    R: FnMut(Turn<'_>) -> Result<Schedule, MachineError>,
{
    fn feed(&mut self, called: Called) -> Result<(), MachineError> {
        self.take(&called)
    }

    fn cycles(&self) -> u64 {
        self.work.cycles()
    }

    fn finish(self: Box<Self>, outputs: Vec<LimbId>) -> Result<MachineReport, MachineError> {
        self.report("model", &outputs)
    }
}
