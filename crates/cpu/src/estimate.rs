// SPDX-License-Identifier: Apache-2.0
//! Estimates the memory and time of a run before it starts.
//!
//! The estimate reads each block of the program once, even if a repeat runs it many times. So its cost depends on the
//! length of the text, not of the run.

use std::collections::HashSet;
use std::sync::Arc;

use ringmill_isa::mid::{Action, LimbMap, LocalId, Step as Line, ValueType, Verified};

use super::plan::{Kernel, Plan};
use ringmill_device::pool::{buffer_bytes, holds_short, limb_modulus};

/// The estimated memory and time of a program, or of one block of its calls. A repeated block counts as often as it
/// runs.
#[derive(Clone, Copy, Default)]
pub(super) struct Run {
    pub calls: u64,
    pub weight: u64,
    /// The most bytes of limbs and scratch buffers at one time if calls run in order, as on one thread. The caller's
    /// inputs are not counted.
    peak: u64,
    /// The most bytes that one call in progress holds: the limbs that its steps have computed and still need, and
    /// scratch buffers.
    within: u64,
}

impl Run {
    /// Estimates the most bytes of limbs and scratch buffers that a run on `threads` threads holds at one time. Each
    /// further thread adds one call in progress.
    pub fn pool(&self, threads: usize) -> u64 {
        let others = (threads as u64).saturating_sub(1);
        self.peak.saturating_add(others.saturating_mul(self.within))
    }
}

/// Estimates a whole program from its text. A block is read once, even if it runs several times.
pub(super) fn run(program: &Verified, plans: &[Arc<Plan>]) -> Run {
    let text = program.program();
    let mut blocks: Vec<Run> = Vec::with_capacity(text.blocks.len());
    for block in &text.blocks {
        let run = Frame::new(program, plans, &blocks, &block.params).run(&block.steps);
        blocks.push(run);
    }
    Frame::new(program, plans, &blocks, &[]).run(&text.steps)
}

/// The limbs that are alive in a block of the program while the estimate reads the block's calls.
struct Frame<'a> {
    program: &'a Verified,
    plans: &'a [Arc<Plan>],
    blocks: &'a [Run],
    /// The bytes of each limb that the block of calls still reads.
    alive: LimbMap<u64, LocalId>,
    held: u64,
    run: Run,
}

impl<'a> Frame<'a> {
    fn new(
        program: &'a Verified,
        plans: &'a [Arc<Plan>],
        blocks: &'a [Run],
        params: &[ValueType],
    ) -> Self {
        let mut frame = Self {
            program,
            plans,
            blocks,
            alive: LimbMap::default(),
            held: 0,
            run: Run::default(),
        };
        for (local, &ty) in (0..).map(LocalId).zip(params) {
            frame.define(local, ty);
        }
        frame
    }

    fn define(&mut self, local: LocalId, ty: ValueType) {
        let bytes = buffer_bytes(
            ty.words(),
            holds_short(limb_modulus(ty, &self.program.program().moduli)),
        );
        self.alive.insert(local, bytes);
        self.held += bytes;
        self.run.peak = self.run.peak.max(self.held);
    }

    fn run(mut self, steps: &[Line]) -> Run {
        for step in steps {
            self.step(step);
        }
        self.run
    }

    fn step(&mut self, step: &Line) {
        let called = self.program.called(step).map(|proc| proc as usize);
        let types = &self.program.types().blocks;
        let (inner, times, results): (Run, u64, Vec<ValueType>) = match step.action {
            Action::Call { .. } => {
                let plan = called.and_then(|proc| self.plans.get(proc));
                let procedure = called.and_then(|proc| self.program.bound_procs().get(proc));
                let of = |plan: &Arc<Plan>| Run {
                    calls: 1,
                    weight: plan.weight,
                    peak: plan.peak_bytes,
                    within: plan.peak_bytes,
                };
                let results = procedure.into_iter().flat_map(|p| p.result_types());
                (plan.map_or(Run::default(), of), 1, results.collect())
            }
            Action::Halt => return,
            Action::Run { block } | Action::Repeat { block, .. } => {
                let times = match step.action {
                    Action::Repeat { count, .. } => count,
                    Action::Run { .. } | Action::Call { .. } | Action::Halt => 1,
                };
                let at = block as usize;
                let results = types.get(at).cloned().unwrap_or_default();
                (
                    self.blocks.get(at).copied().unwrap_or_default(),
                    times,
                    results,
                )
            }
        };
        let run = &mut self.run;
        run.calls = run.calls.saturating_add(inner.calls.saturating_mul(times));
        run.weight = run
            .weight
            .saturating_add(inner.weight.saturating_mul(times));
        run.peak = run.peak.max(self.held.saturating_add(inner.peak));
        run.within = run.within.max(inner.within);
        for local in &step.dies {
            self.held -= self.alive.remove(local).unwrap_or(0);
        }
        for (&local, ty) in step.results.iter().zip(results) {
            self.define(local, ty);
        }
    }
}

/// The bytes of the key limbs that a program's seeds expand to, and of its encoded constants.
#[derive(Clone, Copy, Default)]
pub struct Expands {
    /// The bytes of all expanded key limbs and encoded constants, each counted once.
    pub all: u64,
    /// The bytes of the largest expanded limb or constant.
    pub largest: u64,
    /// The most bytes of expanded key limbs that one call reads, plus those of the largest encoded constant.
    pub within: u64,
}

impl Expands {
    /// Returns the estimate with encoded constants added: `all` bytes together, the largest of
    /// `largest` bytes.
    pub fn and_constants(self, (all, largest): (u64, u64)) -> Self {
        Self {
            all: self.all.saturating_add(all),
            largest: self.largest.max(largest),
            within: self.within.saturating_add(largest),
        }
    }

    /// Returns the budget in bytes for expanded limbs and constants, or `None` if all are kept. The
    /// budget is `asked` if the caller gave one. Otherwise it is `there` + `room` bytes, if these
    /// are too few for all limbs and constants and enough for the largest. If they are too few for
    /// the largest one, it is also `None`. `there` bytes are expanded already, and `room` bytes are
    /// free beside the run's limbs.
    pub fn budget(&self, asked: Option<u64>, there: u64, room: u64) -> Option<u64> {
        let left = there.saturating_add(room);
        asked.or_else(|| (self.all > left && left >= self.largest).then_some(left))
    }

    /// Returns the most bytes of expanded limbs and constants that a run with `calls` calls in progress holds at one
    /// time. It is the budget, or the bytes that `calls` calls read if these are more, but never more than all limbs
    /// and constants.
    pub fn under(&self, budget: Option<u64>, calls: usize) -> u64 {
        let held = self.within.saturating_mul(calls as u64);
        self.all.min(budget.unwrap_or(u64::MAX).max(held))
    }
}

/// Estimates the bytes of the limbs to which the program's seeds expand.
pub(super) fn seeds(program: &Verified, plans: &[Arc<Plan>]) -> Expands {
    let (mut calls, mut limbs) = (HashSet::new(), HashSet::new());
    let mut expands = Expands::default();
    let text = program.program();
    let steps = text.blocks.iter().flat_map(|block| &block.steps);
    for step in steps.chain(&text.steps) {
        let Some(proc) = program.called(step) else {
            continue;
        };
        if step.seeds.is_empty() || !calls.insert((proc, &step.seeds)) {
            continue;
        }
        let steps = plans.get(proc as usize).map_or(&[][..], |p| &p.steps);
        let mut within = 0;
        for inner in steps {
            if let &Kernel::Prng {
                seed,
                stream,
                modulus,
                ring,
            } = &inner.kernel
            {
                let bytes = buffer_bytes(ring.len(), false);
                within += bytes;
                expands.largest = expands.largest.max(bytes);
                if limbs.insert((step.seeds.get(seed), stream, modulus.value(), ring)) {
                    expands.all += bytes;
                }
            }
        }
        expands.within = expands.within.max(within);
    }
    expands
}
