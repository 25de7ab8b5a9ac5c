// SPDX-License-Identifier: Apache-2.0
//! The state of a card that runs a program: the data in its co-processors and in its memory, and the sums of the run.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::sync::Arc;

use ringmill_isa::mid::{Call, Called, Head, LimbId, Procedure, ValueId};

use super::claim::{Claim, Partition};
use super::shelf::Shelf;
use super::tally::Tally;
use super::{Accepted, Card, Crosses, Keep, Resident, Schedule, Step};
use ringmill_device::report::MachineReport;
use ringmill_device::trace::TraceSink;

/// A turn: the jobs of one co-processor in one stage of a procedure, and the state in which it runs
/// them. The co-processor is idle before and after the turn.
pub struct Turn<'t> {
    /// The index of the co-processor on its card.
    pub unit: usize,
    pub accepted: &'t dyn Accepted,
    pub procedure: &'t Procedure,
    pub jobs: &'t [&'t Claim],
    pub holds: &'t Resident,
}

impl Turn<'_> {
    /// Returns the co-processor's commands for the jobs of the turn, with the cycles of the co-processor's model.
    pub fn model(&self) -> Schedule {
        self.accepted
            .schedule(self.procedure, self.jobs, self.holds)
    }
}

/// The bytes that one command of a co-processor moves over the host link.
#[derive(Clone, Copy, Default)]
pub(super) struct Moved {
    pub bytes_in: u64,
    pub bytes_out: u64,
}

/// A run of a program on a card, call after call and stage after stage.
pub struct Work<'m> {
    card: &'m Card,
    procs: Vec<Arc<Procedure>>,
    accepted: Vec<Option<Box<dyn Accepted>>>,
    /// For each co-processor the places of its memories whose content may stay between jobs.
    keeps: Vec<Vec<Keep>>,
    log_n: u8,
    /// The data that each co-processor holds after the latest stage in which it had jobs.
    residents: Vec<Resident>,
    shelf: Shelf,
    /// For the current call, each parameter that is passed the same limb as an earlier parameter, with that earlier
    /// parameter.
    twins: HashMap<ValueId, ValueId>,
    tally: Tally,
}

impl<'m> Work<'m> {
    pub(super) fn new(
        card: &'m Card,
        head: &Head<'_>,
        accepted: Vec<Option<Box<dyn Accepted>>>,
    ) -> Self {
        let keeps = |unit: &Option<Box<dyn Accepted>>| {
            unit.as_ref().map_or_else(Vec::new, |unit| unit.keeps())
        };
        Self {
            residents: vec![Resident::default(); accepted.len()],
            shelf: Shelf::new(card.limbs(head.log_n)),
            keeps: accepted.iter().map(keeps).collect(),
            log_n: head.log_n,
            card,
            procs: head.procs.to_vec(),
            accepted,
            twins: HashMap::new(),
            tally: Tally::default(),
        }
    }

    /// Partitions a procedure of the program into stages of the host and of the card's co-processors.
    pub fn partition(&self, procedure: &Procedure) -> Partition {
        Partition::new(procedure, &self.accepted)
    }

    /// Returns the cycles that the run has taken on the card so far: for each co-processor in each stage, those until
    /// its last command ended. Commands that overlap count once.
    pub fn cycles(&self) -> u64 {
        self.tally.cycles()
    }

    /// Begins a call of a procedure. The caller then runs each stage, and ends the call with [`Self::end`].
    pub fn begin(&mut self, procedure: &Procedure, partition: &Partition, call: &Call) {
        self.tally.call(procedure, partition, call);
        for resident in &mut self.residents {
            *resident = std::mem::take(resident).enter(procedure, call);
        }
        self.shelf.enter(procedure, call);
        self.twins.clear();
        let mut first: HashMap<LimbId, ValueId> = HashMap::new();
        for (param, &limb) in procedure.params.iter().zip(&call.args) {
            let known = *first.entry(limb).or_insert(param.value);
            if known != param.value {
                self.twins.insert(param.value, known);
            }
        }
    }

    /// Runs one stage of a call: the host gets copies of the values that it reads, then `run` executes the jobs of each
    /// co-processor in turn.
    ///
    /// # Errors
    /// The errors of `run`.
    pub fn stage<'t, S: Borrow<Schedule>, E>(
        &mut self,
        procedure: &Procedure,
        partition: &Partition,
        number: usize,
        run: &mut dyn FnMut(Turn<'_>) -> Result<S, E>,
        mut trace: Option<&mut (dyn TraceSink + 't)>,
    ) -> Result<(), E> {
        let Some(stage) = partition.stages.get(number) else {
            return Ok(());
        };
        for &value in &stage.host_reads {
            let value = known(&self.twins, partition, value);
            let bytes = self.shelf.show(value);
            self.tally.sums().bytes_out += bytes;
        }
        for (unit, jobs) in stage.jobs.iter().enumerate() {
            let (Some(accepted), Some(holds)) = (
                self.accepted.get(unit).and_then(Option::as_deref),
                self.residents.get(unit),
            ) else {
                continue;
            };
            if jobs.is_empty() {
                continue;
            }
            let jobs: Vec<&Claim> = jobs.iter().collect();
            let schedule = run(Turn {
                unit,
                accepted,
                procedure,
                jobs: &jobs,
                holds,
            })?;
            let schedule = schedule.borrow();
            let crosses = self.cross(partition, number, &schedule.steps);
            let trace = trace.as_deref_mut();
            let of = (self.card, unit);
            self.tally.steps(of, procedure, schedule, &crosses, trace);
            let shelved = self.shelf.held();
            self.tally
                .held(unit, &schedule.after, &self.keeps[unit], shelved);
            self.residents[unit].clone_from(&schedule.after);
        }
        Ok(())
    }

    /// Returns the bytes that each command moves over the host link. Operands in the card's memory do not cross the
    /// link, nor do results that stay there.
    fn cross(&mut self, partition: &Partition, stage: usize, steps: &[Step]) -> Vec<Moved> {
        let twins = &self.twins;
        // An operand of a job of this stage may also be an operand of the next job.
        let lives = |value| stage == 0 || partition.lives_after(value, stage - 1);
        let needed = |value: ValueId| {
            let same = || twins.iter().filter(|(_, first)| **first == value);
            lives(value) || same().any(|(twin, _)| lives(*twin))
        };
        let real = |value| known(twins, partition, value);
        let mut all = Vec::with_capacity(steps.len());
        for step in steps {
            let mut moved = Moved::default();
            for &crosses in &step.crosses {
                let sums = self.tally.sums();
                match crosses {
                    Crosses::Tables { bytes } => moved.bytes_in += bytes,
                    Crosses::In { limb, bytes } => {
                        sums.moved += bytes;
                        if self.shelf.take((real(limb), bytes), &needed, sums) {
                            sums.crossed += bytes;
                            moved.bytes_in += bytes;
                        }
                    }
                    Crosses::Out { limb, bytes } => {
                        sums.moved += bytes;
                        if self.shelf.give((limb, bytes), &needed, sums) {
                            sums.crossed += bytes;
                            moved.bytes_out += bytes;
                        }
                    }
                }
            }
            all.push(moved);
        }
        all
    }

    /// Ends a call of a procedure: gives the limbs on the card the program's names, and drops limbs that die with the
    /// call.
    pub fn end(&mut self, procedure: &Procedure, partition: &Partition, called: &Called) {
        let call = &called.call;
        for resident in &mut self.residents {
            *resident = std::mem::take(resident).leave(procedure, call);
        }
        let real = |value| known(&self.twins, partition, value);
        self.shelf.leave((procedure, call), &real, &called.dies);
    }

    /// Returns the report of the run. `how` is the source of the cycles, "model" or "RTL". The host reads the program's
    /// `outputs` at the end.
    pub fn report(mut self, how: &'static str, outputs: &[LimbId]) -> MachineReport {
        for &limb in outputs {
            let bytes = self.shelf.show_limb(limb);
            self.tally.sums().bytes_out += bytes;
        }
        let bytes = self.card.limb_bytes(self.log_n);
        let shelf = bytes.map(|bytes| (self.shelf.capacity() as u64, bytes));
        self.tally
            .report(self.card, &self.procs, how, &self.keeps, shelf)
    }
}

/// Returns the procedure's value under whose name the card has `value`. For a value from a `LOAD` it is the stored
/// value; for several parameters with the same limb it is the first parameter.
fn known(twins: &HashMap<ValueId, ValueId>, partition: &Partition, value: ValueId) -> ValueId {
    let value = partition.real(value);
    twins.get(&value).copied().unwrap_or(value)
}
