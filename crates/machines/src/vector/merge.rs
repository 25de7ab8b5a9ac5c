// SPDX-License-Identifier: Apache-2.0
//! Merges steps on whole limbs into one stream of micro instructions, in the order in which the vector machine can
//! send them.
//!
//! The controller sends instructions in the stream's order, and waits with an instruction that cannot be sent. So the
//! performance simulator itself chooses the order: among the next instructions of each unit's work, the one that can be
//! sent first comes next. If a finished sum waits to be written, the next instruction of a kernel comes first. With the
//! schedule [`Order::InOrder`] the steps keep their order. The same simulator, fed the finished stream, sends every
//! instruction at the time by which the order was chosen.

use std::collections::{HashMap, VecDeque};

use ringmill_isa::vector::{Instr, Shape};

use super::clockwork::{Clockwork, Decoded};
use super::description::Order;
use super::emit::Emitter;
use super::order::{Task, Work};
use super::place::{Placed, StepKind};
use crate::MachineError;

/// For each step of a procedure, the steps that must be sent completely before it begins.
struct Waits {
    /// For each step, the number of its waits for steps that are not sent completely. If it waits for one step because
    /// of two places of the buffer, that counts twice.
    missing: Vec<u32>,
    /// The steps that wait for each step, all in one list. `begin` has the position where each step's list begins.
    after: Vec<u32>,
    begin: Vec<u32>,
}

impl Waits {
    fn new(placed: &Placed, places: usize) -> Self {
        let mut writer: Vec<Option<u32>> = vec![None; places];
        let mut readers: Vec<Vec<u32>> = vec![Vec::new(); places];
        let mut stored: HashMap<u32, u32> = HashMap::new();
        // Pairs of steps; the second waits for the first. A pair that occurs twice counts twice in all lists.
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for (at, step) in (0u32..).zip(&placed.steps) {
            let (reads, writes) = placed.of(step);
            let all = || reads.iter().chain(writes).map(|&place| place as usize);
            for place in all() {
                pairs.extend(writer[place].map(|before| (before, at)));
            }
            for &place in writes {
                let readers = &mut readers[place as usize];
                pairs.extend(readers.drain(..).map(|before| (before, at)));
            }
            match step.kind {
                StepKind::Load(from) => pairs.extend(stored.get(&from).map(|&before| (before, at))),
                StepKind::Store(to) => {
                    stored.insert(to, at);
                }
                StepKind::Task(_) => {}
            }
            for &place in reads {
                readers[place as usize].push(at);
            }
            for &place in writes {
                writer[place as usize] = Some(at);
                readers[place as usize].clear();
            }
        }
        let count = placed.steps.len();
        let mut missing = vec![0; count];
        let mut begin = vec![0u32; count + 1];
        for &(before, at) in &pairs {
            missing[at as usize] += 1;
            begin[before as usize + 1] += 1;
        }
        for at in 0..count {
            begin[at + 1] += begin[at];
        }
        let mut next = begin.clone();
        let mut after = vec![0; pairs.len()];
        for &(before, at) in &pairs {
            let next = &mut next[before as usize];
            after[*next as usize] = at;
            *next += 1;
        }
        Self {
            missing,
            after,
            begin,
        }
    }

    fn free(&self, step: usize) -> bool {
        self.missing[step] == 0
    }

    /// Notes that all instructions of a step were sent, so that the steps that wait for this step
    /// may begin.
    fn done(&mut self, step: usize) {
        let of = self.begin[step] as usize..self.begin[step + 1] as usize;
        for &after in &self.after[of] {
            self.missing[after as usize] -= 1;
        }
    }
}

/// A lane of the merge: one step of a procedure whose instructions are being sent, beside the steps of other lanes.
struct Lane {
    /// The index of the queue of steps from which the lane takes its next step. Loads and stores, sums, and
    /// transforms with permutations have a queue each; without overlap all steps are in one.
    queue: usize,
    step: Option<usize>,
    rest: Emitter,
    next: Option<(Instr, Decoded)>,
}

impl Lane {
    fn advance(&mut self, clock: &Clockwork) {
        let next = self.rest.next();
        self.next = next.map(|instr| (instr, clock.decode(&instr)));
    }
}

/// Generates the micro instructions of steps whose limbs have places, in the order in which `clock` sends them from its
/// current state on. `sent` receives each instruction with its time, and `told` is called after each step.
///
/// # Errors
/// [`MachineError::Program`] if the machine cannot continue; errors of `sent` and `told`.
pub fn merge(
    (placed, tasks): (&Placed, &[Task]),
    shape: Shape,
    order: Order,
    clock: &mut Clockwork,
    mut sent: impl FnMut(&Instr, &Decoded, u64) -> Result<(), MachineError>,
    mut told: impl FnMut() -> Result<(), MachineError>,
) -> Result<(), MachineError> {
    let mut waits = Waits::new(placed, shape.slots() as usize);
    let queue_of = |kind: StepKind| match (order, kind) {
        (Order::InOrder, _) => 0,
        (_, StepKind::Load(_) | StepKind::Store(_)) => 0,
        (_, StepKind::Task(at)) => match tasks.get(at).map(|task| &task.work) {
            Some(Work::Sums(_)) => 1,
            Some(Work::Forward | Work::Inverse | Work::Morph(_)) | None => 2,
        },
    };
    let mut queues: [VecDeque<usize>; 3] = Default::default();
    for (at, step) in placed.steps.iter().enumerate() {
        queues[queue_of(step.kind)].push_back(at);
    }
    let queue_of_lanes: &[usize] = match order {
        Order::InOrder => &[0],
        // Two transforms at once: while one waits for its first pass to be written, the other continues.
        Order::Overlapped => &[0, 1, 2, 2],
    };
    let lanes = queue_of_lanes.iter().map(|&queue| Lane {
        queue,
        step: None,
        rest: Emitter::new(shape),
        next: None,
    });
    let mut lanes: Vec<Lane> = lanes.collect();
    let mut left = placed.steps.len();
    // Whether a step may have become free to begin.
    let mut freed = true;
    // The lane whose instruction must come next, whenever it can be sent.
    let mut forced: Option<usize> = None;
    while left > 0 {
        if std::mem::take(&mut freed) {
            for lane in lanes.iter_mut().filter(|lane| lane.step.is_none()) {
                let queue = &mut queues[lane.queue];
                if queue.front().is_some_and(|&at| waits.free(at))
                    && let Some(at) = queue.pop_front()
                {
                    let step = &placed.steps[at];
                    let (reads, writes) = placed.of(step);
                    lane.step = Some(at);
                    lane.rest.fill(step.kind, tasks, reads, writes);
                    lane.advance(clock);
                }
            }
        }
        // The lane whose next instruction can be sent first. If a finished sum waits for its write, another sum comes
        // next: a read of another lane would come before the write and hold up the unit with most work.
        let mut best: Option<(u64, usize)> = None;
        if forced.is_none() && clock.sum_waits() {
            let sums = |lane: &Lane| lane.next.as_ref().is_some_and(|(_, next)| next.is_sum());
            forced = lanes.iter().position(sums);
        }
        for (at, lane) in lanes.iter().enumerate() {
            if forced.is_some_and(|forced| forced != at) {
                continue;
            }
            let Some((_, next)) = &lane.next else {
                continue;
            };
            let Some(when) = clock.earliest(next) else {
                continue;
            };
            if best.is_none_or(|(first, _)| when < first) {
                best = Some((when, at));
            }
        }
        if clock.write_before(best.map(|(when, _)| when)) {
            continue;
        }
        let Some((when, at)) = best else {
            return Err(MachineError::Program(
                "the machine waits for what nothing writes".to_owned(),
            ));
        };
        let lane = &mut lanes[at];
        forced = None;
        if let Some((instr, decoded)) = lane.next.take() {
            clock.send(&decoded, when);
            sent(&instr, &decoded, when)?;
            lane.advance(clock);
        }
        if lane.next.is_none()
            && let Some(step) = lane.step.take()
        {
            waits.done(step);
            freed = true;
            left -= 1;
            told()?;
        }
    }
    Ok(())
}
