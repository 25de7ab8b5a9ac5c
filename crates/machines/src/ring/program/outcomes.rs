// SPDX-License-Identifier: Apache-2.0
//! Schedules by procedure and placement, looked up when a call comes again, and how often each was used.

use std::collections::HashMap;
use std::sync::Arc;

use ringmill_isa::mid::Procedure;

use super::{Outcome, Totals};
use crate::ring::description::Tables;
use crate::ring::micro::MicroCode;
use crate::ring::policy::Policy;
use crate::ring::schedule::Failure;

/// Schedules kept at once.
const MAX_CACHED: usize = 4096;

/// A schedule among those that are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Index(usize);

struct Used {
    procedure: Arc<Procedure>,
    outcome: Arc<Outcome>,
    calls: u64,
    /// Whether the machine's program memories and tables hold it.
    held: bool,
}

/// Rows of program memories and tables: words of the longest stream, constants, streams, Galois elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Size {
    rows: [usize; 4],
    /// Words of all streams.
    words: usize,
}

impl Size {
    /// What a procedure's code takes.
    pub fn of(code: &MicroCode) -> Self {
        let lengths = || code.streams.iter().map(Vec::len);
        Self {
            rows: [
                lengths().max().unwrap_or(0),
                code.constants.len(),
                code.generators.len(),
                code.galois.len(),
            ],
            words: lengths().sum(),
        }
    }

    /// What there is room for.
    pub fn held(tables: &Tables) -> Self {
        let rows = [
            tables.words,
            tables.constants,
            tables.streams,
            tables.galois,
        ];
        Self { rows, words: 0 }
    }

    /// Bytes over the link: eight a word, a constant and a Galois element, sixteen a generator stream.
    pub fn bytes(self, rpaus: usize) -> u64 {
        let [_, constants, streams, galois] = self.rows;
        8 * (self.words + constants * rpaus + 2 * streams * rpaus + galois) as u64
    }
}

#[derive(Default)]
pub struct Outcomes {
    list: Vec<Used>,
    /// By procedure and placement, as bytes ([`super::placing::Key`]).
    at: HashMap<Vec<u8>, Index>,
    /// Placements that have no room, and the policy that the search began with then: with the same one it would end so
    /// again.
    failures: HashMap<Vec<u8>, (Option<Policy>, Failure)>,
    /// Procedures that spill inside: these start from an empty memory, so one schedule each.
    spilled: HashMap<u32, Index>,
    /// What the machine's program memories and tables hold.
    held: [usize; 4],
}

impl Outcomes {
    pub fn get(&self, index: Index) -> Option<&Arc<Outcome>> {
        self.list.get(index.0).map(|used| &used.outcome)
    }

    pub fn find(&self, key: &[u8]) -> Option<Index> {
        self.at.get(key).copied()
    }

    pub fn spilled(&self, proc: u32) -> Option<Index> {
        self.spilled.get(&proc).copied()
    }

    /// Why the search fails that begins with `policy`, where that is known.
    pub fn failure(&self, key: &[u8], policy: Option<Policy>) -> Option<Failure> {
        let &(began, failure) = self.failures.get(key)?;
        (began == policy).then_some(failure)
    }

    pub fn failed(&mut self, key: &[u8], policy: Option<Policy>, failure: Failure) {
        if self.failures.len() >= MAX_CACHED {
            self.failures.clear();
        }
        self.failures.insert(key.to_vec(), (policy, failure));
    }

    pub fn add(
        &mut self,
        key: &[u8],
        procedure: &Arc<Procedure>,
        outcome: Arc<Outcome>,
        totals: &mut Totals,
    ) -> Index {
        if self.at.len() >= MAX_CACHED {
            self.settle(totals);
            self.clear();
        }
        let index = self.push(procedure, outcome);
        self.at.insert(key.to_vec(), index);
        index
    }

    pub fn add_spilled(
        &mut self,
        proc: u32,
        procedure: &Arc<Procedure>,
        outcome: Arc<Outcome>,
    ) -> Index {
        let index = self.push(procedure, outcome);
        self.spilled.insert(proc, index);
        index
    }

    /// The machine needs a schedule's code: whether it has to come over the link. Where the room that is left is too little
    /// for it, all that is held makes way.
    pub fn bring_in(&mut self, index: Index, size: Size, room: Size) -> bool {
        if self.list.get(index.0).is_none_or(|used| used.held) {
            return false;
        }
        let mut sizes = self.held.iter().zip(size.rows).zip(room.rows);
        if sizes.any(|((held, more), room)| held + more > room) {
            self.list.iter_mut().for_each(|used| used.held = false);
            self.held = [0; 4];
        }
        if let Some(used) = self.list.get_mut(index.0) {
            used.held = true;
        }
        for (held, more) in self.held.iter_mut().zip(size.rows) {
            *held += more;
        }
        true
    }

    fn push(&mut self, procedure: &Arc<Procedure>, outcome: Arc<Outcome>) -> Index {
        self.list.push(Used {
            procedure: Arc::clone(procedure),
            outcome,
            calls: 0,
            held: false,
        });
        Index(self.list.len() - 1)
    }

    /// Lets go of all but what spills inside.
    fn clear(&mut self) {
        self.at.clear();
        let mut kept = Vec::with_capacity(self.spilled.len());
        let mut list: Vec<_> = self.list.drain(..).map(Some).collect();
        for index in self.spilled.values_mut() {
            kept.extend(list.get_mut(index.0).and_then(Option::take));
            *index = Index(kept.len() - 1);
        }
        self.list = kept;
    }

    /// A call has used the schedule.
    pub fn count(&mut self, index: Index) {
        if let Some(used) = self.list.get_mut(index.0) {
            used.calls += 1;
        }
    }

    /// Adds what was counted to the totals, and counts from nothing again.
    pub fn settle(&mut self, totals: &mut Totals) {
        for used in self.list.iter_mut().filter(|used| used.calls > 0) {
            let calls = std::mem::take(&mut used.calls);
            let outcome = &used.outcome;
            totals.tally.add(&outcome.tally, calls);
            let procedures = &mut totals.procedures;
            let entry = procedures.entry(used.procedure.name.clone()).or_default();
            entry.calls += calls;
            entry.cycles += calls * outcome.cycles;
            for (peak, now) in totals.peak.iter_mut().zip(outcome.scheduled.peak) {
                *peak = now.max(*peak);
            }
        }
    }
}
