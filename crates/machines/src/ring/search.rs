// SPDX-License-Identifier: Apache-2.0
//! Searches for a fast schedule of one call on the ring machine. The search tries a fixed list of policies and improves
//! the best two by one choice at a time, measured by the model's cycles.

use std::collections::BTreeMap;

use ringmill_isa::mid::expand::expand_composites;
use ringmill_isa::mid::{Op, ParamRole, Procedure};
use ringmill_limits::Watch;

use super::description::{Description, MAX_RPAUS};
use super::graph::Graph;
use super::legalise::{Rewrites, Unfuse, legalise};
use super::model::{self, Silent};
use super::policy::{Policy, neighbours, seeds, spilled};
use super::schedule::{Failure, Placement, Scheduled, schedule};
use super::spill::{plan_keys, spill};
use crate::MachineError;

/// The most rounds of the local search from one policy; a round tries all neighbours. The search begins once with each
/// of the best `STARTS` policies, no two of which take the same cycles.
const ROUNDS: usize = 6;
const STARTS: usize = 2;

/// A policy of the scheduler, with the cycles of the schedule that it gives, and that schedule.
type Found = (Policy, u64, Scheduled);
/// The windows that are tried for a procedure whose values cross the link for lack of room. A window is the number of
/// operations that a later operation may overtake.
const SPILLED_WINDOWS: [u32; 4] = [24, 10, 3, 0];

/// The rewritten forms of a procedure, and the policy with which it was fastest.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub name: String,
    forms: BTreeMap<Rewrites, Graph>,
    best: Option<Policy>,
    /// A handle that can stop the search before every trial.
    watch: Watch,
}

impl Prepared {
    pub fn watched(mut self, watch: Watch) -> Self {
        self.watch = watch;
        self
    }

    /// Expands the composite instructions of `procedure`, except sums of products, and rewrites the procedure to
    /// operations of the machine `d`.
    ///
    /// # Errors
    /// The errors of [`legalise`]; an error if the procedure does not verify or its expansion is too large.
    pub fn new(d: &Description, procedure: &Procedure) -> Result<Self, MachineError> {
        let expanded = expand_composites(procedure, |op| op == Op::Dot)?;
        let keyed = expanded.params.iter();
        let keyed = keyed
            .map(|p| p.role)
            .any(|r| matches!(r, ParamRole::Key { .. }));
        let parted = if d.main.mac || !keyed {
            &Unfuse::ALL[..1]
        } else {
            &Unfuse::ALL[..]
        };
        let mut forms = BTreeMap::new();
        for (retransform, unfuse) in [false, true]
            .into_iter()
            .flat_map(|r| parted.iter().map(move |&u| (r, u)))
        {
            let rewrites = Rewrites {
                retransform,
                unfuse,
            };
            let mut graph = legalise(d, &expanded, rewrites)?;
            plan_keys(&mut graph, d.rpaus, d.keys.slots);
            forms.insert(rewrites, graph);
        }
        Ok(Self {
            name: procedure.name.clone(),
            forms,
            best: None,
            watch: Watch::default(),
        })
    }

    /// Returns the procedure as a graph of operations without optional rewrites, with its parameters and results.
    pub fn graph(&self) -> &Graph {
        &self.forms[&Rewrites::default()]
    }

    /// Schedules the procedure for a placement of its operands, and counts the cycles by the model. If [`Self::policy`]
    /// has a policy under which the procedure fits, it returns that policy's schedule without a search. Otherwise it
    /// searches from every starting policy. The inner result is the schedule with its cycles, or the reason why the
    /// last policy that was tried gives none.
    ///
    /// # Errors
    /// [`MachineError::Halt`] if the watch stops the search; the errors of [`model::run`].
    pub fn schedule(
        &mut self,
        d: &Description,
        at: &Placement,
    ) -> Result<Result<(Scheduled, u64), Failure>, MachineError> {
        if let Some(policy) = self.best
            && let Ok(done) = self.try_policy(d, at, &policy)
        {
            let cycles = cycles(d, &done)?;
            return Ok(Ok((done, cycles)));
        }
        let mut failure = Failure::NoRoom;
        let mut trial = |policy: Policy| -> Result<Option<Found>, MachineError> {
            self.watch.check()?;
            match self.try_policy(d, at, &policy) {
                Ok(done) => Ok(Some((policy, cycles(d, &done)?, done))),
                Err(why) => {
                    failure = why;
                    Ok(None)
                }
            }
        };
        let mut starts: Vec<Found> = Vec::new();
        for policy in seeds(self.graph()) {
            if let Some(found) = trial(policy)? {
                // The best few, and among equal ones the first.
                let at = starts.partition_point(|start| start.1 <= found.1);
                starts.insert(at, found);
                starts.dedup_by_key(|start| start.1);
                starts.truncate(STARTS);
            }
        }
        let mut best: Option<Found> = None;
        for start in starts {
            let mut here = start;
            for _ in 0..ROUNDS {
                let before = here.1;
                for policy in neighbours(here.0, self.graph(), self.forms.keys().copied()) {
                    if let Some(found) = trial(policy)?
                        && found.1 < here.1
                    {
                        here = found;
                    }
                }
                if here.1 >= before {
                    break;
                }
            }
            if best.as_ref().is_none_or(|best| here.1 < best.1) {
                best = Some(here);
            }
        }
        let Some((policy, cycles, done)) = best else {
            return Ok(Err(failure));
        };
        self.best = Some(policy);
        Ok(Ok((done, cycles)))
    }

    /// Schedules the procedure from an empty polynomial memory with its operands on the host. Values cross the link
    /// when they must. Returns `None` if none of the schedules that it tries fits the machine's slots and tables.
    ///
    /// # Errors
    /// [`MachineError::Halt`] if the watch stops the search; the errors of [`model::run`].
    pub fn schedule_spilled(
        &self,
        d: &Description,
    ) -> Result<Option<(Scheduled, u64)>, MachineError> {
        let params = self.graph().params.len();
        let at = Placement {
            args: vec![Vec::new(); params],
            pinned: vec![false; params],
            busy: [0; MAX_RPAUS],
        };
        let mut best: Option<(Scheduled, u64)> = None;
        // Broadcasts need a slot that is free on all their receivers. Some slack, or one receiver for each broadcast,
        // helps.
        for (split, slack) in [false, true]
            .into_iter()
            .flat_map(|s| (0..4).map(move |n| (s, n)))
        {
            if best.is_some() {
                break;
            }
            for form in self.forms.values() {
                let capacity = d.slots().saturating_sub(slack);
                let Some(graph) = spill(form, d.rpaus, capacity, split) else {
                    continue;
                };
                for policy in SPILLED_WINDOWS.into_iter().flat_map(spilled) {
                    self.watch.check()?;
                    let Ok(done) = schedule(d, &graph, &at, &policy) else {
                        continue;
                    };
                    let cycles = cycles(d, &done)?;
                    if best.as_ref().is_none_or(|(_, least)| cycles < *least) {
                        best = Some((done, cycles));
                    }
                }
            }
        }
        Ok(best)
    }

    /// Returns the policy with which the procedure was fastest, or that of [`Self::prefer`]. Returns `None` if there is
    /// neither.
    pub fn policy(&self) -> Option<Policy> {
        self.best
    }

    /// Begins later searches with the policy `policy`. If the schedule that it gives fits, the search ends there. A policy
    /// of another procedure may have rewrites for which this procedure has no form ([`Self::try_policy`]). Such a policy
    /// changes nothing.
    pub fn prefer(&mut self, policy: Policy) {
        if self.forms.contains_key(&policy.rewrites) {
            self.best = Some(policy);
        }
    }

    /// Returns whether the procedure fits a placement of its operands under one of the policies from which the search
    /// starts. The policies with the least memory are tried first.
    pub fn fits(&self, d: &Description, at: &Placement) -> bool {
        let mut policies = seeds(self.graph()).into_iter().rev();
        policies.any(|policy| self.try_policy(d, at, &policy).is_ok())
    }

    /// Schedules the procedure for a placement of its operands under one policy, a set of choices of the scheduler.
    ///
    /// # Errors
    /// The errors of [`schedule`].
    ///
    /// # Panics
    /// If [`Self::new`] made no form for the policy's `rewrites`. A form whose [`Rewrites::unfuse`] is not
    /// [`Unfuse::None`] exists only for a procedure with keys on a machine without `main.mac`.
    pub fn try_policy(
        &self,
        d: &Description,
        at: &Placement,
        policy: &Policy,
    ) -> Result<Scheduled, Failure> {
        schedule(d, &self.forms[&policy.rewrites], at, policy)
    }

    /// Returns the most slots in use at once on an RPAU of a machine with [`MAX_SLOTS`](super::description::MAX_SLOTS)
    /// slots, under that starting policy for which they are fewest. If no starting policy gives a schedule there, the
    /// number is one above those slots. The error of a refused procedure shows this number.
    pub fn appetite(&self, d: &Description, at: &Placement) -> usize {
        let mut roomy = d.clone();
        let missing = super::description::MAX_SLOTS - d.slots();
        if let Some(group) = roomy.memory.first_mut() {
            group.slots += missing;
        }
        // Slots keep their numbers: the new ones stand behind the first group's, so the others move up.
        let first = d.memory.first().map_or(0, |g| g.slots) as u8;
        let shift = |slot: u8| {
            if slot >= first {
                slot + missing as u8
            } else {
                slot
            }
        };
        let mut at = at.clone();
        at.args.iter_mut().flatten().for_each(|s| *s = shift(*s));
        for mask in &mut at.busy {
            *mask = (0..32u8)
                .filter(|&s| *mask >> s & 1 == 1)
                .fold(0, |m, s| m | 1 << shift(s).min(31));
        }
        let peaks = seeds(self.graph()).into_iter().rev().filter_map(|policy| {
            let done = schedule(&roomy, &self.forms[&policy.rewrites], &at, &policy).ok()?;
            done.peak.iter().copied().max().map(usize::from)
        });
        peaks.min().unwrap_or(super::description::MAX_SLOTS + 1)
    }
}

/// Returns the cycles of a scheduled procedure by the cycle model.
///
/// # Errors
/// The errors of [`model::run`].
pub fn cycles(d: &Description, scheduled: &Scheduled) -> Result<u64, MachineError> {
    model::run(d, &scheduled.code, &mut Silent)
}
