// SPDX-License-Identifier: Apache-2.0
//! Assigns memory slots to the operands of a call, then schedules the call.

use std::collections::HashMap;
use std::sync::Arc;

use super::outcomes::Index;
use super::state::{Now, Run};
use super::{Outcome, Told};
use crate::MachineError;
use crate::ring::description::{MAX_PIECES, MAX_RPAUS};
use crate::ring::model;
use crate::ring::residency::{Arrangement, Bundle, Residency};
use crate::ring::schedule::{Failure, Placement, Scheduled};
use crate::ring::search::Prepared;
use crate::ring::tally::Tally;

/// The key of a schedule in the cache: a procedure and a [`Placement`] of its arguments as bytes.
/// It has the procedure's index, [`MAX_PIECES`] bytes for each argument (the slots of its pieces,
/// and whether it must stay), and the slots of other values.
#[derive(Default)]
pub struct Key {
    bytes: Vec<u8>,
}

impl Key {
    const HEAD: usize = size_of::<u32>();
    /// A flag in the first byte that a [`Key`] has for an argument, beside the number of a slot: whether the
    /// argument must stay in its slot.
    const PINNED: u8 = 1 << 7;

    /// Computes the key of a call's placement from the slots in which limbs lie now.
    fn of(&mut self, run_residency: &Residency, now: &Now<'_>) {
        let mut busy = run_residency.busy();
        let bytes = &mut self.bytes;
        bytes.clear();
        bytes.extend(now.call.proc.to_le_bytes());
        let pinned = now.pinned.iter();
        bytes.extend(pinned.flat_map(|&pinned| {
            let mut places = [0; MAX_PIECES];
            places[0] = if pinned { Self::PINNED } else { 0 };
            places
        }));
        for value in &now.layout.values {
            let at = Self::HEAD + MAX_PIECES * value.at;
            let Some(pieces) = run_residency.pieces(now.call.args[value.at]) else {
                continue;
            };
            for (byte, slot) in bytes[at..at + MAX_PIECES].iter_mut().zip(pieces.slots()) {
                *byte |= slot + 1;
                busy[usize::from(value.rpau)] &= !(1 << slot);
            }
        }
        bytes.extend(busy.iter().flat_map(|mask| mask.to_le_bytes()));
    }

    fn placement(&self) -> Placement {
        let tail = self.bytes.len().saturating_sub(4 * MAX_RPAUS);
        let args = self.bytes.get(Self::HEAD..tail).unwrap_or_default();
        let slots = |bytes: &[u8]| {
            let slots = bytes.iter().map(|byte| byte & !Self::PINNED);
            slots.filter_map(|slot| slot.checked_sub(1)).collect()
        };
        let mut busy = [0; MAX_RPAUS];
        let masks = self.bytes.get(tail..).unwrap_or_default().chunks_exact(4);
        for (mask, bytes) in busy.iter_mut().zip(masks) {
            *mask = bytes.iter().rev().fold(0, |m, &b| m << 8 | u32::from(b));
        }
        Placement {
            args: args.chunks_exact(MAX_PIECES).map(slots).collect(),
            pinned: args
                .chunks_exact(MAX_PIECES)
                .map(|bytes| bytes[0] & Self::PINNED != 0)
                .collect(),
            busy,
        }
    }
}

impl Run<'_> {
    /// Brings the call's missing arguments into slots in the arrangement with which the call is fastest, and returns
    /// the index of the call's schedule in the cache. If there is no room, it moves limbs to the host, provided the
    /// options allow that. If no limb is left to move, the call starts with all operands on the host.
    pub(super) fn place_and_schedule(
        &mut self,
        now: &Now<'_>,
        bundles: &[Bundle],
        told: &mut dyn Told,
    ) -> Result<Index, MachineError> {
        let arrangements = match bundles {
            [] => &Arrangement::ALL[..1],
            _ => &Arrangement::ALL[..],
        };
        loop {
            let mut best: Option<(Arrangement, u64)> = None;
            let mut failure = Failure::NoRoom;
            for &arrangement in arrangements {
                let Some(settled) = self.residency.bring_in(bundles, arrangement) else {
                    continue;
                };
                let outcome = self.outcome(now, told);
                settled.into_iter().for_each(|l| self.residency.remove(l));
                match outcome? {
                    // There is no choice.
                    Ok((index, _)) if bundles.is_empty() => return Ok(index),
                    Ok((_, cycles)) if best.is_none_or(|(_, least)| cycles < least) => {
                        best = Some((arrangement, cycles));
                    }
                    Ok(_) => {}
                    Err(why) => failure = why,
                }
            }
            if let Some((arrangement, _)) = best
                && self.residency.bring_in(bundles, arrangement).is_some()
                && let Ok((index, _)) = self.outcome(now, told)?
            {
                return Ok(index);
            }
            if failure == Failure::TableFull {
                let procedure = now.procedure.name.clone();
                return Err(MachineError::Tables { procedure });
            }
            if !self.spill {
                return Err(self.refusal(now, bundles));
            }
            if !self.evict(now.call) {
                return self.inside(now, told);
            }
        }
    }

    /// Schedules a call that does not fit polynomial memory. It starts with its operands on the host, and values
    /// cross the link inside the procedure.
    fn inside(&mut self, now: &Now<'_>, told: &mut dyn Told) -> Result<Index, MachineError> {
        for &limb in &now.call.args {
            if self.residency.pieces(limb).is_some() {
                self.leave(limb);
            }
            if let Some(came) = self.came.get_mut(limb.0 as usize) {
                *came = true;
            }
        }
        if let Some(index) = self.outcomes.spilled(now.call.proc) {
            return Ok(index);
        }
        let slots = self.d.slots();
        let done = match self.prepared(now.call.proc) {
            Some(prepared) => prepared.schedule_spilled(self.d)?,
            None => None,
        };
        let procedure = || now.procedure.name.clone();
        let (scheduled, cycles) = done.ok_or_else(|| MachineError::TooFewSlots {
            procedure: procedure(),
            slots,
        })?;
        let outcome = self.counted(scheduled, cycles, told)?;
        let procedure = now.procedure;
        Ok(self.outcomes.add_spilled(now.call.proc, procedure, outcome))
    }

    /// Counts the instruction words and cycles of a schedule, passes the schedule to `told`, and returns it with its
    /// counts.
    fn counted(
        &self,
        scheduled: Scheduled,
        cycles: u64,
        told: &mut dyn Told,
    ) -> Result<Arc<Outcome>, MachineError> {
        let mut tally = Tally::default();
        model::run(self.d, &scheduled.code, &mut tally)?;
        let outcome = Arc::new(Outcome {
            scheduled,
            cycles,
            tally,
        });
        told.schedule(&outcome)?;
        Ok(outcome)
    }

    /// Returns the error of a call that does not fit polynomial memory, with the slots that the call would need.
    fn refusal(&self, now: &Now<'_>, bundles: &[Bundle]) -> MachineError {
        let busy = self.residency.busy();
        let live = busy.iter().map(|b| b.count_ones()).max().unwrap_or(0) as usize;
        let mut trial = self.residency.clone();
        let placed = trial.bring_in(bundles, Arrangement::Together).is_some();
        let mut key = Key::default();
        key.of(&trial, now);
        let prepared = self.prepared(now.call.proc);
        let needs = match prepared {
            Some(prepared) if placed => prepared.appetite(self.d, &key.placement()),
            _ => live + prepared_inputs(prepared),
        };
        MachineError::Memory {
            procedure: now.procedure.name.clone(),
            needs,
            live,
            slots: self.d.slots(),
        }
    }

    /// Returns the call's schedule for the slots in which its arguments lie, and the schedule's cycles. The schedule
    /// comes from the cache or is made.
    fn outcome(
        &mut self,
        now: &Now<'_>,
        told: &mut dyn Told,
    ) -> Result<Result<(Index, u64), Failure>, MachineError> {
        self.key.of(&self.residency, now);
        if let Some(index) = self.outcomes.find(&self.key.bytes) {
            let cycles = self.outcomes.get(index).map_or(0, |o| o.cycles);
            return Ok(Ok((index, cycles)));
        }
        let proc = now.call.proc;
        let Some(ready) = self.ready.get_mut(&proc) else {
            return Err(MachineError::Program("a call of no procedure".into()));
        };
        let began = ready.prepared.policy();
        if let Some(failure) = self.outcomes.failure(&self.key.bytes, began) {
            return Ok(Err(failure));
        }
        let placement = self.key.placement();
        let (scheduled, cycles) = match ready.prepared.schedule(self.d, &placement)? {
            Ok(done) => done,
            Err(failure) => {
                self.outcomes.failed(&self.key.bytes, began, failure);
                return Ok(Err(failure));
            }
        };
        if let (Some(shape), Some(policy)) = (self.calls.shape(proc), ready.prepared.policy()) {
            self.policies.entry(shape).or_insert(policy);
        }
        let outcome = self.counted(scheduled, cycles, told)?;
        let (key, totals) = (&self.key.bytes, &mut self.totals);
        let index = self.outcomes.add(key, now.procedure, outcome, totals);
        Ok(Ok((index, cycles)))
    }
}

/// Returns the number of slots of a procedure's arguments on the RPAU with most of them.
fn prepared_inputs(prepared: Option<&Prepared>) -> usize {
    let mut counts: HashMap<u8, usize> = HashMap::new();
    if let Some(graph) = prepared.map(Prepared::graph) {
        for &v in graph.params.iter().flatten() {
            *counts.entry(graph.values[v as usize].rpau).or_default() += 1;
        }
    }
    counts.values().copied().max().unwrap_or(0)
}
