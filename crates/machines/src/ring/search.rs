//! Finds a schedule for one call: starts from a few policies and improves the best one choice at a time, by the model's
//! cycles.

use std::collections::HashMap;

use ringmill_isa::mid::Procedure;
use ringmill_isa::mid::expand::expand_composites;

use super::description::Description;
use super::graph::Graph;
use super::legalise::{Rewrites, legalise};
use super::model::{self, Silent};
use super::policy::{Policy, neighbours, seeds};
use super::schedule::{Failure, Placement, Scheduled, schedule};
use crate::MachineError;

/// Steps of the local search over policies.
const ROUNDS: usize = 4;

/// A procedure's legal forms and the policy that served it best.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub name: String,
    forms: HashMap<bool, Graph>,
    best: Option<Policy>,
}

impl Prepared {
    /// Expands and legalises `procedure` for machine `d`.
    pub fn new(d: &Description, procedure: &Procedure) -> Result<Self, MachineError> {
        let expanded = expand_composites(procedure, |op| op != ringmill_isa::mid::Op::Bext)?;
        let form = |retransform| legalise(d, &expanded, Rewrites { retransform });
        let forms = HashMap::from([(false, form(false)?), (true, form(true)?)]);
        Ok(Self {
            name: procedure.name.clone(),
            forms,
            best: None,
        })
    }

    /// The procedure as it was legalised without rewrites: shapes of its parameters and results.
    pub fn graph(&self) -> &Graph {
        &self.forms[&false]
    }

    /// Schedules the procedure at a placement and counts its cycles by the model. The first call tries every policy;
    /// later ones start from the best.
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
        let mut best: Option<(Policy, Scheduled, u64)> = None;
        let mut failure = Failure::NoRoom;
        let mut trial = |policy: Policy,
                         best: &mut Option<(Policy, Scheduled, u64)>|
         -> Result<(), MachineError> {
            match self.try_policy(d, at, &policy) {
                Ok(done) => {
                    let cycles = cycles(d, &done)?;
                    if best.as_ref().is_none_or(|(_, _, least)| cycles < *least) {
                        *best = Some((policy, done, cycles));
                    }
                }
                Err(why) => failure = why,
            }
            Ok(())
        };
        for policy in seeds(self.graph()) {
            trial(policy, &mut best)?;
        }
        for _ in 0..ROUNDS {
            let Some((from, _, before)) = best.as_ref().map(|(p, s, c)| (*p, s, *c)) else {
                break;
            };
            for policy in neighbours(from, self.graph()) {
                trial(policy, &mut best)?;
            }
            if best.as_ref().is_none_or(|(_, _, now)| *now >= before) {
                break;
            }
        }
        let Some((policy, done, cycles)) = best else {
            return Ok(Err(failure));
        };
        self.best = Some(policy);
        Ok(Ok((done, cycles)))
    }

    /// Schedules the procedure under one policy.
    pub fn try_policy(
        &self,
        d: &Description,
        at: &Placement,
        policy: &Policy,
    ) -> Result<Scheduled, Failure> {
        schedule(d, &self.forms[&policy.rewrites.retransform], at, policy)
    }

    /// Slots an RPAU would need if it had plenty, under the most frugal policy; for the message of a refusal.
    pub fn appetite(&self, d: &Description, at: &Placement) -> usize {
        let mut roomy = d.clone();
        let missing = super::description::MAX_SLOTS - d.slots();
        if let Some(group) = roomy.memory.first_mut() {
            group.slots += missing;
        }
        // Slots keep their numbers: the new ones stand behind the first group's, so shift the others.
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
            let done = schedule(
                &roomy,
                &self.forms[&policy.rewrites.retransform],
                &at,
                &policy,
            )
            .ok()?;
            done.peak.iter().copied().max().map(usize::from)
        });
        peaks.min().unwrap_or(super::description::MAX_SLOTS + 1)
    }
}

/// Cycles of a scheduled procedure by the model.
pub fn cycles(d: &Description, scheduled: &Scheduled) -> Result<u64, MachineError> {
    model::run(d, &scheduled.code, &mut Silent)
}
