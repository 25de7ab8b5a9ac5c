//! What a run will take, before it takes it: from the program's text, whose length it hangs on and not the run's.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ringmill_isa::mid::{Action, LocalId, Step as Line, ValueType, Verified};
use ringmill_math::Ring;

use super::plan::{Kernel, Plan, Step};

fn bytes_of(log_n: u8) -> u64 {
    (size_of::<u64>() as u64) << log_n.min(Ring::MAX_LOG_N)
}

/// Most bytes of limbs that the steps of one call hold at one time, taken in order: what they make until its last use, and
/// results to the end. `uses` counts the reads of each value, results' among them.
pub(super) fn inside(steps: &[Step], uses: &[u32]) -> u64 {
    let mut uses = uses.to_vec();
    let mut size = vec![0; uses.len()];
    let (mut held, mut peak) = (0, 0);
    for step in steps {
        // An expanded limb belongs to its seed.
        if !matches!(step.kernel, Kernel::Prng { .. }) {
            for made in &step.dst {
                size[made.value as usize] = bytes_of(made.log_n);
                held += bytes_of(made.log_n);
            }
        }
        peak = peak.max(held);
        for &value in &step.src {
            let left = &mut uses[value as usize];
            *left = left.saturating_sub(1);
            if *left == 0 {
                held -= std::mem::take(&mut size[value as usize]);
            }
        }
    }
    peak
}

/// What a run of some steps takes, repeats multiplied.
#[derive(Clone, Copy, Default)]
pub(super) struct Run {
    pub calls: u64,
    pub weight: u64,
    /// Most bytes of limbs held at one time when calls run in order, as one thread runs them. Bound inputs are not counted.
    peak: u64,
    /// Most bytes that one call holds inside.
    within: u64,
}

impl Run {
    /// Bytes of limbs that a run of `threads` threads holds at one time: one more call in progress for each further
    /// thread. Tests hold it above what runs take.
    pub fn pool(&self, threads: usize) -> u64 {
        let others = (threads as u64).saturating_sub(1);
        self.peak.saturating_add(others.saturating_mul(self.within))
    }
}

/// Of a whole program, from its text: blocks are gone through once, however often they run.
pub(super) fn run(program: &Verified, plans: &[Arc<Plan>]) -> Run {
    let text = program.program();
    let mut blocks: Vec<Run> = Vec::with_capacity(text.blocks.len());
    for block in &text.blocks {
        let run = Frame::new(program, plans, &blocks, &block.params).run(&block.steps);
        blocks.push(run);
    }
    Frame::new(program, plans, &blocks, &[]).run(&text.steps)
}

/// The limbs of a block's frame, as its steps are gone through.
struct Frame<'a> {
    program: &'a Verified,
    plans: &'a [Arc<Plan>],
    blocks: &'a [Run],
    /// Bytes of each limb that is alive.
    alive: HashMap<LocalId, u64>,
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
            alive: HashMap::new(),
            held: 0,
            run: Run::default(),
        };
        for (local, &ty) in (0..).map(LocalId).zip(params) {
            frame.define(local, ty);
        }
        frame
    }

    fn define(&mut self, local: LocalId, ty: ValueType) {
        let bytes = (size_of::<u64>() * ty.words()) as u64;
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
                let results = results.map(ValueType::from).collect();
                (plan.map_or(Run::default(), of), 1, results)
            }
            Action::Run { block } | Action::Repeat { block, .. } => {
                let times = match step.action {
                    Action::Repeat { count, .. } => count,
                    Action::Run { .. } | Action::Call { .. } => 1,
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

/// Bytes of the limbs that the program's seeds expand to, each once.
pub(super) fn seeds(program: &Verified, plans: &[Arc<Plan>]) -> u64 {
    let (mut calls, mut limbs) = (HashSet::new(), HashSet::new());
    let mut bytes = 0;
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
        for inner in steps {
            if let &Kernel::Prng {
                seed,
                stream,
                modulus,
                ring,
            } = &inner.kernel
                && limbs.insert((step.seeds.get(seed), stream, modulus.value(), ring))
            {
                bytes += bytes_of(ring.log_n);
            }
        }
    }
    bytes
}
