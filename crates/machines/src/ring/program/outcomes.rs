// SPDX-License-Identifier: Apache-2.0
//! Caches schedules by procedure and placement of the arguments, and counts how often each is used.

use std::collections::HashMap;
use std::sync::Arc;

use ringmill_isa::mid::Procedure;

use super::{Outcome, Totals};
use crate::ring::description::Tables;
use crate::ring::micro::MicroCode;
use crate::ring::policy::Policy;
use crate::ring::schedule::Failure;

/// The most schedules by placement, and the most failures, that the cache holds. A full cache is emptied.
const MAX_CACHED: usize = 4096;

/// The index of a schedule in the cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Index(usize);

struct Used {
    procedure: Arc<Procedure>,
    outcome: Arc<Outcome>,
    calls: u64,
    /// Whether the machine's program memories and tables contain the schedule's instruction words.
    held: bool,
}

/// The rows that a schedule takes in program memories and tables: instruction words of the longest stream, constants,
/// generator streams, Galois elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Size {
    rows: [usize; 4],
    /// The number of instruction words in all four streams together.
    words: usize,
}

impl Size {
    /// Returns the rows of program memories and tables that a procedure's micro code takes.
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

    /// Returns the rows that the machine's program memories and tables have.
    pub fn held(tables: &Tables) -> Self {
        let rows = [
            tables.words,
            tables.constants,
            tables.streams,
            tables.galois,
        ];
        Self { rows, words: 0 }
    }

    /// Returns the bytes that load a schedule's rows over the link: eight for an instruction word,
    /// a constant and a Galois element, sixteen for a generator stream.
    pub fn bytes(self, rpaus: usize) -> u64 {
        let [_, constants, streams, galois] = self.rows;
        8 * (self.words + constants * rpaus + 2 * streams * rpaus + galois) as u64
    }
}

#[derive(Default)]
pub struct Outcomes {
    list: Vec<Used>,
    /// The indices of the schedules by procedure and placement, as bytes ([`super::placing::Key`]).
    at: HashMap<Vec<u8>, Index>,
    /// The placements of operands for which no schedule was found, with the policy with which the search began. A
    /// search that begins with the same policy fails again.
    failures: HashMap<Vec<u8>, (Option<Policy>, Failure)>,
    /// The schedule of each procedure that does not fit the memory, so that values cross the link inside it. Such a
    /// schedule starts from an empty memory, so a procedure has only one.
    spilled: HashMap<u32, Index>,
    /// The rows that are in use of the machine's program memories and tables.
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

    /// Returns why no schedule exists for a placement, if a search that began with `policy` has failed.
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

    /// Loads a schedule's instruction words into program memory, and returns whether they must
    /// cross the link. If the free rows among the `room` are too few, the instruction words of all
    /// other schedules are dropped.
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

    /// Drops all schedules from the cache, except those of procedures that do not fit polynomial memory, inside
    /// which values cross the link.
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

    /// Counts one more call that has used a cached schedule.
    pub fn count(&mut self, index: Index) {
        if let Some(used) = self.list.get_mut(index.0) {
            used.calls += 1;
        }
    }

    /// Adds the tallies and cycles of the counted calls to the totals, and updates the peaks of slots in use. Sets the
    /// counts to zero.
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
