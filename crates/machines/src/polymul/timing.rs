//! A run of a program without data, fed its calls: each stage's commands, from the model or as they ran, added up.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use ringmill_isa::mid::{Called, Head, LimbId, Order, Procedure};
use ringmill_limits::Watch;

use super::jobs::{Partition, Stage};
use super::tally::Tally;
use super::timeline::{Timed, loaded_after};
use super::{PolymulMachine, Resident};
use crate::report::MachineReport;
use crate::{MachineError, Session, SimOptions, TraceSink};

/// Carries out a stage: given the procedure, the stage and the model's commands, the commands as they ran.
pub type RunStage<'a, E> = dyn FnMut(&Procedure, &Stage, Vec<Timed>) -> Result<Vec<Timed>, E> + 'a;

/// A procedure and what is resident when it is called.
type State = (u32, Resident);

pub(super) struct Timing<'m, R> {
    machine: &'m PolymulMachine,
    order: Order<'m>,
    /// Of each procedure of the head.
    partitions: Vec<Partition>,
    /// The commands of each stage: a procedure that is called again in the same state costs a look-up.
    plans: HashMap<State, Vec<Vec<Timed>>>,
    loaded: Resident,
    pub tally: Tally,
    run: R,
    trace: Option<&'m mut dyn TraceSink>,
    progress: Option<&'m mut dyn FnMut(u64)>,
    watch: Watch,
}

impl<'m, R> Timing<'m, R> {
    /// # Errors
    /// Those of [`PolymulMachine::accept`].
    pub fn new(
        machine: &'m PolymulMachine,
        head: Head<'m>,
        options: SimOptions<'m>,
        run: R,
    ) -> Result<Self, MachineError> {
        let accepted = machine.accept(&head)?;
        Ok(Self {
            machine,
            order: Order::new(&head),
            partitions: head.procs.iter().map(|p| accepted.partition(p)).collect(),
            plans: HashMap::new(),
            loaded: Resident::default(),
            tally: machine.tally(accepted.degree()),
            run,
            trace: options.trace,
            progress: options.progress,
            watch: options.watch,
        })
    }

    /// Takes the next call.
    ///
    /// # Errors
    /// A call that cannot come next; those of `run`.
    pub fn feed<E>(&mut self, called: Called) -> Result<(), E>
    where
        E: From<MachineError>,
        R: FnMut(&Procedure, &Stage, Vec<Timed>) -> Result<Vec<Timed>, E>,
    {
        self.watch.check().map_err(MachineError::from)?;
        let procedure = self.order.take(&called).map_err(MachineError::from)?;
        let Called { number, call, .. } = called;
        let Some(partition) = self.partitions.get(call.proc as usize) else {
            return Err(MachineError::Program(format!("no procedure {}", call.proc)).into());
        };
        let mut loaded = self.loaded.enter(procedure, &call);
        let stages = match self.plans.entry((call.proc, loaded)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(slot) => {
                let mut at = loaded;
                let mut stages = Vec::with_capacity(partition.stages.len());
                for stage in &partition.stages {
                    let commands = self.machine.commands(stage, self.tally.degree(), at);
                    at = loaded_after(&commands, at);
                    stages.push((self.run)(procedure, stage, commands)?);
                }
                slot.insert(stages)
            }
        };
        self.tally.call(procedure, partition);
        for commands in stages.iter() {
            // Not a `map`: a reborrow of the sink lives for one call.
            match &mut self.trace {
                Some(sink) => self.tally.stage(commands, Some(&mut **sink)),
                None => self.tally.stage(commands, None),
            }
            loaded = loaded_after(commands, loaded);
        }
        self.loaded = loaded.leave(procedure, &call);
        if let Some(tell) = &mut self.progress {
            tell(number + 1);
        }
        Ok(())
    }
}

impl<R> Session for Timing<'_, R>
where
    R: FnMut(&Procedure, &Stage, Vec<Timed>) -> Result<Vec<Timed>, MachineError>,
{
    fn feed(&mut self, called: Called) -> Result<(), MachineError> {
        Timing::feed(self, called)
    }

    fn cycles(&self) -> u64 {
        self.tally.cycles()
    }

    fn finish(self: Box<Self>, outputs: Vec<LimbId>) -> Result<MachineReport, MachineError> {
        self.order.check(&outputs)?;
        Ok(self.tally.report("model"))
    }
}
