//! Where a call's operands go, and the schedule that follows.

use std::collections::HashMap;
use std::sync::Arc;

use ringmill_isa::mid::{Call, LimbId, Procedure};

use super::{MAX_CACHED, OnSchedule, Outcome, Run};
use crate::MachineError;
use crate::ring::model;
use crate::ring::residency::{Arrangement, Bundle, Residency};
use crate::ring::schedule::{Failure, Placement, Scheduled};
use crate::ring::search::Prepared;
use crate::ring::tally::Tally;

impl Run<'_> {
    /// Brings the bundles in, by the arrangement that makes the call fastest, and schedules it; spills where allowed.
    pub(super) fn place_and_schedule(
        &mut self,
        call: &Call,
        procedure: &Procedure,
        bundles: &[Bundle],
        on_schedule: &mut OnSchedule<'_>,
    ) -> Result<Arc<Outcome>, MachineError> {
        let arrangements = if bundles.is_empty() {
            &Arrangement::ALL[..1]
        } else {
            &Arrangement::ALL[..]
        };
        loop {
            let mut best: Option<(Arrangement, u64)> = None;
            let mut failure = Failure::NoRoom;
            for &arrangement in arrangements {
                let Some(settled) = self.residency.bring_in(bundles, arrangement) else {
                    continue;
                };
                let outcome = self.outcome(call, on_schedule);
                settled.into_iter().for_each(|l| self.residency.remove(l));
                match outcome? {
                    Ok(outcome) if best.is_none_or(|(_, least)| outcome.cycles < least) => {
                        best = Some((arrangement, outcome.cycles));
                    }
                    Ok(_) => {}
                    Err(why) => failure = why,
                }
            }
            if let Some((arrangement, _)) = best
                && self.residency.bring_in(bundles, arrangement).is_some()
                && let Ok(outcome) = self.outcome(call, on_schedule)?
            {
                return Ok(outcome);
            }
            let name = procedure.name.clone();
            if failure == Failure::TableFull {
                return Err(MachineError::Tables { procedure: name });
            }
            if !self.spill {
                return Err(self.refusal(call, procedure));
            }
            if !self.evict(call) {
                return self.inside(call, name, on_schedule);
            }
        }
    }

    /// The call with its operands on the host, to spill inside the procedure.
    fn inside(
        &mut self,
        call: &Call,
        procedure: String,
        on_schedule: &mut OnSchedule<'_>,
    ) -> Result<Arc<Outcome>, MachineError> {
        for &limb in &call.args {
            if self.residency.slots(limb).is_some() {
                self.leave(limb);
            }
            if let Some(came) = self.came.get_mut(limb.0 as usize) {
                *came = true;
            }
        }
        if let Some(outcome) = self.spilled.get(&call.proc) {
            return Ok(outcome.clone());
        }
        let slots = self.d.slots();
        let done = match self.prepared.get(&call.proc) {
            Some(prepared) => prepared.schedule_spilled(self.d)?,
            None => None,
        };
        let (scheduled, cycles) = done.ok_or(MachineError::TooFewSlots { procedure, slots })?;
        let outcome = self.counted(scheduled, cycles, on_schedule)?;
        self.spilled.insert(call.proc, outcome.clone());
        Ok(outcome)
    }

    /// A schedule and what its words do.
    fn counted(
        &self,
        scheduled: Scheduled,
        cycles: u64,
        on_schedule: &mut OnSchedule<'_>,
    ) -> Result<Arc<Outcome>, MachineError> {
        let mut tally = Tally::default();
        model::run(self.d, &scheduled.code, &mut tally)?;
        let outcome = Arc::new(Outcome {
            scheduled,
            cycles,
            tally,
        });
        on_schedule(&outcome)?;
        Ok(outcome)
    }

    /// Why the call does not fit: the peak it would need.
    fn refusal(&self, call: &Call, procedure: &Procedure) -> MachineError {
        let live = self
            .residency
            .busy()
            .iter()
            .map(|b| b.count_ones())
            .max()
            .unwrap_or(0) as usize;
        let mut trial = self.residency.clone();
        let placed = trial
            .bring_in(&self.missing(call, procedure), Arrangement::Together)
            .is_some();
        let needs = match self.prepared.get(&call.proc) {
            Some(prepared) if placed => prepared.appetite(self.d, &self.placement(&trial, call)),
            _ => live + prepared_inputs(self.prepared.get(&call.proc)),
        };
        MachineError::Memory {
            procedure: procedure.name.clone(),
            needs,
            live,
            slots: self.d.slots(),
        }
    }

    /// The call's placement by the current residency.
    fn placement(&self, residency: &Residency, call: &Call) -> Placement {
        let mut busy = residency.busy();
        let mut args = Vec::with_capacity(call.args.len());
        let mut pinned = Vec::with_capacity(call.args.len());
        let mut count: HashMap<LimbId, u32> = HashMap::new();
        call.args
            .iter()
            .for_each(|l| *count.entry(*l).or_default() += 1);
        for &limb in &call.args {
            let slots = residency.slots(limb).cloned().unwrap_or_default();
            let r = residency.rpau(limb);
            slots.iter().for_each(|s| busy[r] &= !(1 << s));
            args.push(slots);
            // An operand that occurs twice is two parameters in one slot: neither may be overwritten.
            pinned.push(self.calls.used_later(limb) || count[&limb] > 1);
        }
        Placement { args, pinned, busy }
    }

    fn outcome(
        &mut self,
        call: &Call,
        on_schedule: &mut OnSchedule<'_>,
    ) -> Result<Result<Arc<Outcome>, Failure>, MachineError> {
        let placement = self.placement(&self.residency, call);
        let key = (call.proc, placement);
        if let Some(outcome) = self.cache.get(&key) {
            return Ok(Ok(outcome.clone()));
        }
        let Some(prepared) = self.prepared.get_mut(&call.proc) else {
            return Err(MachineError::Program("a call of no procedure".into()));
        };
        let (scheduled, cycles) = match prepared.schedule(self.d, &key.1)? {
            Ok(done) => done,
            Err(failure) => return Ok(Err(failure)),
        };
        if let (Some(shape), Some(policy)) = (self.calls.shape(call.proc), prepared.policy()) {
            self.policies.entry(shape).or_insert(policy);
        }
        let outcome = self.counted(scheduled, cycles, on_schedule)?;
        if self.cache.len() >= MAX_CACHED {
            self.cache.clear();
        }
        self.cache.insert(key, outcome.clone());
        Ok(Ok(outcome))
    }
}

/// Slots of the arguments alone on the fullest RPAU.
fn prepared_inputs(prepared: Option<&Prepared>) -> usize {
    let mut counts: HashMap<u8, usize> = HashMap::new();
    if let Some(graph) = prepared.map(Prepared::graph) {
        for &v in graph.params.iter().flatten() {
            *counts.entry(graph.values[v as usize].rpau).or_default() += 1;
        }
    }
    counts.values().copied().max().unwrap_or(0)
}
