//! Steps on whole limbs as micro instructions in one stream, in the order in which the machine can send them.
//!
//! The controller sends instructions in the stream's order and waits with one that cannot be sent. So the stream is made by the
//! machine's own clockwork: of what could come next (the next instruction of each unit's work) the one that can be sent
//! first is the next. The same clockwork, fed the stream, then sends every instruction at the same time.

use std::collections::{HashMap, VecDeque};

use ringmill_isa::vector::{Chunk, Instr, MicroOp, Place, Register, Shape, Unit};

use super::clockwork::{Clockwork, reads};
use super::code::{Code, Spot};
use super::description::Order;
use super::graph::Value;
use super::order::Work;
use super::place::{Step, StepKind};
use crate::MachineError;

/// A step's instructions.
fn instructions(step: &Step, shape: Shape) -> Vec<Instr> {
    let limb = shape.limb_chunks();
    let at = |place: u32, chunk: u32| Place::Chunk(Chunk((place * limb + chunk) as u16));
    let of = |list: &[(Value, u32)]| list.first().map_or(0, |&(_, place)| place);
    let (from, to) = (of(&step.reads), of(&step.writes));
    let passes = |first, second, modulus| {
        let pass = move |op, a: u32, chunk| Instr {
            d: at(to, chunk),
            a: at(a, chunk),
            modulus,
            ..Instr::new(op)
        };
        let one = (0..limb).map(move |chunk| pass(first, from, chunk));
        one.chain((0..limb).map(move |chunk| pass(second, to, chunk)))
            .collect()
    };
    match &step.kind {
        StepKind::Load(source) => (0..limb)
            .map(|chunk| Instr {
                d: at(to, chunk),
                n: source * limb + chunk,
                ..Instr::new(MicroOp::Load)
            })
            .collect(),
        StepKind::Store(target) => (0..limb)
            .map(|chunk| Instr {
                a: at(from, chunk),
                n: target * limb + chunk,
                ..Instr::new(MicroOp::Store)
            })
            .collect(),
        StepKind::Task { work, modulus } => match work {
            Work::Forward => passes(MicroOp::Ntt1, MicroOp::Ntt2, *modulus),
            Work::Inverse => passes(MicroOp::Intt1, MicroOp::Intt2, *modulus),
            Work::Morph(galois) => (0..limb)
                .map(|chunk| Instr {
                    d: at(to, 0),
                    a: at(from, chunk),
                    n: *galois,
                    ..Instr::new(MicroOp::Morph)
                })
                .collect(),
            Work::Sums(code) => sums(step, code, shape),
        },
    }
}

/// A kernel's code for all chunks. Where twice the registers are there, a chunk's are filled before the one before it is done.
fn sums(step: &Step, code: &Code, shape: Shape) -> Vec<Instr> {
    let limb = shape.limb_chunks();
    let all = step.reads.iter().chain(&step.writes);
    let places: HashMap<Value, u32> = all.copied().collect();
    let twice = 2 * code.registers <= usize::from(shape.registers);
    let line = |number: usize, chunk: u32| {
        let line = &code.lines[number];
        let shift = if twice && chunk % 2 == 1 {
            code.registers as u8
        } else {
            0
        };
        let spot = |spot: Spot| match spot {
            Spot::None => Place::None,
            Spot::Buffer(value) => {
                let place = places.get(&value).copied().unwrap_or(0);
                Place::Chunk(Chunk((place * limb + chunk) as u16))
            }
            Spot::Register(Register(register)) => Place::Register(Register(register + shift)),
            Spot::Accumulator => Place::Accumulator,
        };
        Instr {
            op: line.op,
            d: spot(line.d),
            a: spot(line.a),
            b: spot(line.b),
            modulus: line.modulus,
            n: line.n,
        }
    };
    let mut found = Vec::with_capacity(code.lines.len() * limb as usize);
    if !twice || code.loads == 0 {
        for chunk in 0..limb {
            found.extend((0..code.lines.len()).map(|number| line(number, chunk)));
        }
        return found;
    }
    found.extend((0..code.loads).map(|number| line(number, 0)));
    for chunk in 0..limb {
        if chunk + 1 < limb {
            found.extend((0..code.loads).map(|number| line(number, chunk + 1)));
        }
        found.extend((code.loads..code.lines.len()).map(|number| line(number, chunk)));
    }
    found
}

/// For each step, the earlier ones that must have been sent whole before it begins.
fn before(steps: &[Step]) -> Vec<Vec<usize>> {
    let mut writer: HashMap<u32, usize> = HashMap::new();
    let mut readers: HashMap<u32, Vec<usize>> = HashMap::new();
    let mut stored: HashMap<u32, usize> = HashMap::new();
    let mut found = Vec::with_capacity(steps.len());
    for (at, step) in steps.iter().enumerate() {
        let mut of = Vec::new();
        for (_, place) in &step.reads {
            of.extend(writer.get(place));
        }
        for (_, place) in &step.writes {
            of.extend(writer.get(place));
            of.extend(readers.get(place).into_iter().flatten());
        }
        match step.kind {
            StepKind::Load(from) => of.extend(stored.get(&from)),
            StepKind::Store(to) => {
                stored.insert(to, at);
            }
            StepKind::Task { .. } => {}
        }
        for (_, place) in &step.reads {
            readers.entry(*place).or_default().push(at);
        }
        for (_, place) in &step.writes {
            writer.insert(*place, at);
            readers.remove(place);
        }
        of.sort_unstable();
        of.dedup();
        found.push(of);
    }
    found
}

/// Work in progress.
struct Lane {
    /// Which queue it takes its steps from.
    queue: usize,
    step: Option<usize>,
    instrs: VecDeque<Instr>,
}

/// The micro instructions of steps, as `clock` sends them; it goes on from where it is.
///
/// # Errors
/// [`MachineError::Program`] where the machine could not go on.
pub fn merge(
    steps: &[Step],
    shape: Shape,
    order: Order,
    clock: &mut Clockwork,
    told: &mut dyn FnMut() -> Result<(), MachineError>,
) -> Result<Vec<Instr>, MachineError> {
    let before = before(steps);
    let queue_of = |step: &Step| match (order, &step.kind) {
        (Order::InOrder, _) => 0,
        (_, StepKind::Load(_) | StepKind::Store(_)) => 0,
        (_, StepKind::Task { work, .. }) => match work {
            Work::Sums(_) => 1,
            Work::Forward | Work::Inverse | Work::Morph(_) => 2,
        },
    };
    let mut queues: [VecDeque<usize>; 3] = Default::default();
    for (at, step) in steps.iter().enumerate() {
        queues[queue_of(step)].push_back(at);
    }
    let queue_of_lanes: &[usize] = match order {
        Order::InOrder => &[0],
        // Two transforms at once: while one waits for its first pass to be written, the other goes on.
        Order::Overlapped => &[0, 1, 2, 2],
    };
    let mut lanes: Vec<Lane> = queue_of_lanes
        .iter()
        .map(|&queue| Lane {
            queue,
            step: None,
            instrs: VecDeque::new(),
        })
        .collect();
    let mut done = vec![false; steps.len()];
    let mut left = steps.len();
    let mut found = Vec::new();
    // The lane whose instruction is to be next, whenever it can be sent.
    let mut forced: Option<usize> = None;
    while left > 0 {
        for lane in &mut lanes {
            if lane.step.is_some() {
                continue;
            }
            let queue = &mut queues[lane.queue];
            let free = |at: &usize| before[*at].iter().all(|&step| done[step]);
            if queue.front().is_some_and(free)
                && let Some(at) = queue.pop_front()
            {
                lane.step = Some(at);
                lane.instrs = instructions(&steps[at], shape).into();
            }
        }
        // The lane whose next instruction can be sent first. Where a sum is to be written, another sum: what reads would come
        // before the write and hold up the unit that has most to do.
        let mut best: Option<(u64, usize)> = None;
        let mut port = false;
        let sums = |lane: &Lane| {
            let next = lane.instrs.front();
            next.is_some_and(|next| next.op.info().unit == Unit::Mac)
        };
        if forced.is_none() && clock.sum_waits() {
            forced = lanes.iter().position(sums);
        }
        for (at, lane) in lanes.iter().enumerate() {
            if forced.is_some_and(|forced| forced != at) {
                continue;
            }
            let Some(next) = lane.instrs.front() else {
                continue;
            };
            let Some(when) = clock.earliest(next) else {
                continue;
            };
            match best {
                Some((first, _)) if when > first => {}
                Some((first, _)) if when == first => port |= reads(next),
                Some(_) | None => {
                    best = Some((when, at));
                    port = reads(next);
                }
            }
        }
        // A read of any lane that could be at that time would come before the write, whichever is next.
        if clock.write_before(best.map(|(when, _)| when), port) {
            continue;
        }
        let Some((when, at)) = best else {
            return Err(MachineError::Program(
                "the machine waits for what nothing writes".to_owned(),
            ));
        };
        let lane = &mut lanes[at];
        forced = None;
        if let Some(instr) = lane.instrs.pop_front() {
            clock.send(&instr, when);
            found.push(instr);
        }
        if lane.instrs.is_empty()
            && let Some(step) = lane.step.take()
        {
            done[step] = true;
            left -= 1;
            told()?;
        }
    }
    Ok(found)
}
