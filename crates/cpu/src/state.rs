// SPDX-License-Identifier: Apache-2.0
//! The state of a run on the CPU: the program's limbs, the calls in progress, and the pool of buffers.
//!
//! Starting and finishing steps moves limbs between these three. Kernels compute outside of this state, so the lock
//! around it is held for moments only. Reference counts decide ownership: a limb is moved out at its last use. So a
//! step that is the sole owner of an operand writes its result there. A buffer returns to the pool with its last
//! reference.

mod steps;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use ringmill_device::call::Take;
use ringmill_isa::mid::{Ahead, Called, LimbId, LimbMap, Stream, Verified};
use ringmill_isa::source::SourceLoc;
use ringmill_limits::Watch;
use ringmill_math::MathError;

use super::CACHE_BYTES;
use super::clock::Clock;
use super::kernel::Fault;
use super::plan::{Plan, Step};
use ringmill_device::DeviceError;
use ringmill_device::bindings::Bindings;
use ringmill_device::checkpoint::{self, Saver, Whose};
use ringmill_device::expanded::Usage;
use ringmill_device::pool::{OutputLimb, Pool, bytes_of, holds_short, limb_modulus};
use ringmill_device::report::Entry;
use ringmill_device::trace::Context;
use ringmill_device::value::Value;

/// The least number of calls after the open ones (begun and not finished) that the run reads from the program in
/// advance, if so many are left. So in a short program the run knows, when it computes a limb, whether a later call
/// reads it or it is only an output.
const WINDOW: usize = 64;

/// A limb of the program that a call or a checkpoint gave, or for which open calls wait.
#[derive(Default)]
struct Slot<'a> {
    value: Option<Value<'a>>,
    /// Whether the run has opened every call that reads the limb.
    ended: bool,
    /// The open calls (begun and not finished) that wait for the limb, each with the number of the value
    /// that the limb becomes there.
    waiters: Vec<(u64, u32)>,
}

/// A call of a procedure that the run has just opened.
pub struct Opened<'a> {
    /// The number of the call in the order of the program, from 0 on.
    pub call: u64,
    pub plan: &'a Arc<Plan>,
    /// The row of the clock's ledger of time by line and procedure, to which the call's time is
    /// added.
    pub entry: Entry,
}

/// A call of a procedure in progress, with its values.
#[derive(Default)]
struct Frame<'a> {
    proc: u32,
    loc: Option<SourceLoc>,
    seeds: Vec<u32>,
    results: Vec<LimbId>,
    values: Vec<Option<Value<'a>>>,
    uses: Vec<u32>,
    pending: Vec<u32>,
    /// The number of the call's steps that are not finished, plus the number of the procedure's results that do not
    /// exist yet.
    left: usize,
    /// The row of the clock's ledger of time by line and procedure, to which the call's time is
    /// added.
    entry: Option<Entry>,
}

pub(super) struct State<'a> {
    program: &'a Verified,
    stream: Stream<'a>,
    ahead: Ahead,
    plans: &'a [Arc<Plan>],
    bindings: &'a Bindings<'a>,
    pub usage: &'a Usage,
    /// The limbs that calls computed and that later calls read or the run returns, and the limbs for which open calls
    /// wait.
    slots: LimbMap<Slot<'a>>,
    /// Whether the program's outputs are so large that steps write them past the cache.
    large: bool,
    /// The calls from number `first_open` on that the run has opened. A finished call stays here until all calls before
    /// it are finished.
    frames: VecDeque<Frame<'a>>,
    first_open: u64,
    /// The frames of finished calls, which later calls reuse.
    spare: Vec<Frame<'a>>,
    /// The steps whose operands all exist, the earliest in program order first. This order keeps memory near that of a
    /// run in order. Only a run on several threads uses this queue.
    ready: BinaryHeap<Reverse<(u64, u32)>>,
    track_ready: bool,
    /// Arguments and computed limbs that are still to be put into the frames of open calls: the call, the number of the
    /// value in the call, and the limb.
    arrivals: Vec<(u64, u32, Value<'a>)>,
    pub pool: Pool,
    pub clock: Clock,
    pub calls_done: u64,
    pub weight_done: u64,
    /// A callback that receives each output with its number. It gets an output when a step has computed it, if the run
    /// then knows that no later call reads it. It gets all other outputs at the end. Without a callback the run holds
    /// all outputs to the end.
    take: Option<Take<'a>>,
    /// The outputs that the callback `take` has received before the end of the run.
    taken: LimbMap<()>,
}

fn lost(what: &str) -> DeviceError {
    DeviceError::Malformed(format!("{what} is used before it is defined"))
}

impl<'a> State<'a> {
    /// Makes the state of a run that begins. `plans` has one plan for each of the program's procedures. The caller has
    /// checked the bindings. `track_ready` says that ready steps are queued for several threads.
    pub fn new(
        program: &'a Verified,
        plans: &'a [Arc<Plan>],
        bindings: &'a Bindings<'a>,
        usage: &'a Usage,
        pool: Pool,
        track_ready: bool,
    ) -> Result<Self, DeviceError> {
        let outputs = program.types().outputs.iter();
        let moduli = &program.program().moduli;
        let bytes =
            outputs.map(|&ty| bytes_of(ty.words(), holds_short(limb_modulus(ty, moduli))) as usize);
        Ok(Self {
            program,
            stream: program.stream(),
            ahead: Ahead::new(program.inputs.len(), WINDOW),
            plans,
            bindings,
            usage,
            slots: LimbMap::default(),
            large: bytes.sum::<usize>() > CACHE_BYTES / 2,
            frames: VecDeque::new(),
            first_open: 0,
            spare: Vec::new(),
            ready: BinaryHeap::new(),
            track_ready,
            arrivals: Vec::new(),
            pool,
            clock: Clock::new(Instant::now()),
            calls_done: 0,
            weight_done: 0,
            take: None,
            taken: LimbMap::default(),
        })
    }

    /// Sets `take`, the callback that receives the outputs. The run passes an output on when a step has computed it, if
    /// it then knows that no later call reads it. So it holds few outputs. It passes all others on at the end.
    pub fn hand_to(&mut self, take: Take<'a>) {
        self.take = Some(take);
    }

    /// Advances the run to the position of the checkpoint file at `path`, before any call is
    /// opened. `whose` are the identities that program and data must have.
    pub fn resume(&mut self, path: &Path, whose: Whose, watch: &Watch) -> Result<(), DeviceError> {
        let (plans, weight_done) = (self.plans, &mut self.weight_done);
        let saved = checkpoint::read(path, whose, self.program, &mut self.stream, watch, |proc| {
            *weight_done += plans.get(proc as usize).map_or(0, |plan| plan.weight);
        })?;
        self.calls_done = saved.calls;
        self.first_open = saved.calls;
        self.ahead.look(&mut self.stream)?;
        for limb in saved.absent {
            if self.ahead.next_read(limb).is_some() || self.ahead.is_output(limb) {
                return Err(checkpoint::lacks(path, limb).into());
            }
        }
        for (limb, residues) in saved.limbs {
            let slot = self.slots.entry(limb).or_default();
            slot.value = Some(Value::Shared(residues.into()));
        }
        Ok(())
    }

    /// Writes a checkpoint of the run with `saver`, while no call is open. `last` says that the run
    /// ends with this checkpoint.
    pub fn save(&self, saver: &mut Saver<'_>, last: bool) -> Result<(), DeviceError> {
        let held = self.slots.iter();
        let held = held.filter_map(|(&limb, slot)| Some((limb, slot.value.clone()?)));
        let mut limbs: Vec<_> = held.collect();
        for (_, value) in &mut limbs {
            value.read(self.usage)?;
            value.write_out();
        }
        let limbs = limbs.iter().map(|(limb, value)| (*limb, value.wide()));
        let limbs: Vec<_> = limbs.collect();
        Ok(saver.save(self.calls_done, &limbs, last)?)
    }

    pub fn open_calls(&self) -> usize {
        self.frames.len()
    }

    pub fn ready_steps(&self) -> usize {
        self.ready.len()
    }

    pub fn plan(&self, call: u64) -> Result<&'a Arc<Plan>, DeviceError> {
        let proc = self.open_frame(call)?.proc;
        self.plan_of(proc)
    }

    fn plan_of(&self, proc: u32) -> Result<&'a Arc<Plan>, DeviceError> {
        let plan = self.plans.get(proc as usize);
        plan.ok_or_else(|| lost("a procedure"))
    }

    /// Opens the next call and gives it the arguments that exist; it gets the others when they are computed. Returns
    /// `None` if all calls have been opened.
    pub fn open(&mut self) -> Result<Option<Opened<'a>>, DeviceError> {
        self.ahead.look(&mut self.stream)?;
        let Some(Called { number, call, dies }) = self.ahead.next_call() else {
            return Ok(None);
        };
        let plan = self.plan_of(call.proc)?;
        let mut frame = self.spare.pop().unwrap_or_default();
        frame.proc = call.proc;
        let entry = self.clock.call(call.loc.as_ref(), call.proc);
        frame.entry = Some(entry);
        frame.loc = call.loc;
        frame.seeds = call.seeds;
        frame.results = call.results;
        frame.values.clear();
        frame.values.resize(plan.uses.len(), None);
        frame.uses.clone_from(&plan.uses);
        frame.pending.clone_from(&plan.pending);
        frame.left = plan.steps.len() + plan.results;
        self.frames.push_back(frame);
        if self.track_ready {
            let free = plan.pending.iter().enumerate().filter(|(_, p)| **p == 0);
            self.ready
                .extend(free.map(|(i, _)| Reverse((number, i as u32))));
        }
        for (&param, limb) in plan.params.iter().zip(&call.args) {
            if plan.uses.get(param as usize).is_none_or(|&uses| uses == 0) {
                continue;
            }
            if self.ahead.is_input(*limb) {
                self.arrivals.push((number, param, self.bound(*limb)?));
                continue;
            }
            // An open call may still be making the limb.
            let slot = self.slots.entry(*limb).or_default();
            match &slot.value {
                Some(value) => self.arrivals.push((number, param, value.clone())),
                None => slot.waiters.push((number, param)),
            }
        }
        for limb in dies {
            self.end(limb);
        }
        self.settle_arrivals()?;
        if plan.steps.len() + plan.results == 0 {
            self.close(number)?;
        }
        Ok(Some(Opened {
            call: number,
            plan,
            entry,
        }))
    }

    /// Returns the input of the program that `limb` names, as the caller bound it.
    fn bound(&self, limb: LimbId) -> Result<Value<'a>, DeviceError> {
        let limb = self.bindings.limbs.get(limb.0 as usize);
        Ok(limb.ok_or_else(|| lost("an input"))?.value())
    }

    /// Notes that no call after the open ones (begun and not finished) reads the limb, so that its
    /// memory can be released after its last use.
    fn end(&mut self, limb: LimbId) {
        self.ahead.forget(limb);
        let slot = self.slots.entry(limb).or_default();
        slot.ended = true;
        if let Some(value) = slot.value.take() {
            self.slots.remove(&limb);
            self.recycle(value);
        }
    }

    /// Returns the row of the clock's ledger of time by line and procedure, to which the time of an
    /// open call is added.
    pub fn entry(&self, call: u64) -> Result<Entry, DeviceError> {
        let entry = self.open_frame(call)?.entry;
        entry.ok_or_else(|| lost("a call"))
    }

    /// Returns the call and the line of the user's program to which a step of an open call belongs.
    pub fn context(&self, call: u64, step: &Step) -> Result<Context<'_>, DeviceError> {
        let frame = self.open_frame(call)?;
        let procedure = self.program.bound_procs().get(frame.proc as usize);
        let procedure = procedure.ok_or_else(|| lost("a procedure"))?;
        let made = step.dst.first().map(|made| made.value as usize);
        let modulus = made.and_then(|value| procedure.types.get(value)?.modulus());
        let of = Context::of_call(frame.loc.as_ref(), procedure);
        Ok(of.limb(modulus.map(|id| id.0)))
    }

    fn open_frame(&self, call: u64) -> Result<&Frame<'a>, DeviceError> {
        let index = call.checked_sub(self.first_open);
        index
            .and_then(|i| self.frames.get(i as usize))
            .ok_or_else(|| lost("a call"))
    }

    fn frame(&mut self, call: u64) -> Result<&mut Frame<'a>, DeviceError> {
        let index = call.checked_sub(self.first_open);
        index
            .and_then(|i| self.frames.get_mut(i as usize))
            .ok_or_else(|| lost("a call"))
    }

    fn recycle(&mut self, value: Value<'a>) {
        if let Value::Pooled(buf) = value {
            self.pool.give(buf);
        }
    }

    /// Puts each limb of the list `arrivals` into the frame of its call. A limb that is a result of the call becomes
    /// readable for other calls. Steps that then have all operands are queued, if ready steps are tracked.
    fn settle_arrivals(&mut self) -> Result<(), DeviceError> {
        while let Some((call, index, value)) = self.arrivals.pop() {
            let plan = self.plan(call)?;
            for &r in plan.exports.get(index) {
                let limb = self.open_frame(call)?.results.get(r as usize).copied();
                self.publish(limb.ok_or_else(|| lost("a result"))?, value.clone());
            }
            let exported = plan.exports.get(index).len();
            let frame = self.frame(call)?;
            frame.uses[index as usize] -= exported as u32;
            if frame.uses[index as usize] == 0 {
                self.recycle(value);
            } else {
                frame.values[index as usize] = Some(value);
                if self.track_ready {
                    self.mark_ready(call, plan.consumers.get(index))?;
                }
            }
            self.advance(call, exported)?;
        }
        Ok(())
    }

    /// Counts one more computed operand for each of the steps `steps` of a call, and queues each step that then has all
    /// its operands.
    fn mark_ready(&mut self, call: u64, steps: &[u32]) -> Result<(), DeviceError> {
        for &step in steps {
            let pending = &mut self.frame(call)?.pending[step as usize];
            *pending -= 1;
            if *pending == 0 {
                self.ready.push(Reverse((call, step)));
            }
        }
        Ok(())
    }

    /// Makes `value`, the limb `limb` of the program, readable for the open calls that wait for it, and for later
    /// calls. If the run knows already that no later call reads it, an output in a buffer of the pool goes to the
    /// callback `take`, if there is one. Any other limb that no later call reads is released, except outputs.
    fn publish(&mut self, limb: LimbId, value: Value<'a>) {
        let slot = self.slots.entry(limb).or_default();
        for (call, param) in std::mem::take(&mut slot.waiters) {
            self.arrivals.push((call, param, value.clone()));
        }
        let unread =
            self.ahead.sees_end() && !self.ahead.read_later(limb) && !self.ahead.is_output(limb);
        if slot.ended || unread {
            self.slots.remove(&limb);
            self.recycle(value);
            return;
        }
        // Whether it is an output that no call reads again, in a program whose end is in sight.
        let last = self.ahead.is_output(limb) && !self.ahead.read_later(limb);
        match (&mut self.take, &value) {
            (Some(take), Value::Pooled(buf)) if last => {
                let outputs = self.ahead.outputs().unwrap_or_default().iter();
                let numbers = outputs.enumerate().filter(|&(_, &output)| output == limb);
                numbers.for_each(|(number, _)| take(number, buf.residues()));
                self.taken.insert(limb, ());
                self.slots.remove(&limb);
                self.recycle(value);
            }
            _ => slot.value = Some(value),
        }
    }

    /// Returns whether steps write a limb of the program past the cache. They do if it is an output that no call reads,
    /// no callback `take` receives outputs, and the program's outputs together exceed half of the cache.
    fn streamed(&self, limb: LimbId) -> bool {
        let waited = || {
            self.slots
                .get(&limb)
                .is_some_and(|slot| !slot.waiters.is_empty())
        };
        // The callback `take` reads outputs at once, so they stay in the cache.
        let held = self.large && self.take.is_none();
        held && self.ahead.is_output(limb) && !self.ahead.read_later(limb) && !waited()
    }

    /// Takes the ready step that is the earliest in program order from the queue.
    pub fn pop_ready(&mut self) -> Option<(u64, u32)> {
        self.ready.pop().map(|Reverse(at)| at)
    }

    /// Counts `count` more of the call's steps and results as finished. The call is closed when
    /// none is left.
    fn advance(&mut self, call: u64, count: usize) -> Result<(), DeviceError> {
        let frame = self.frame(call)?;
        frame.left -= count;
        if count > 0 && frame.left == 0 {
            self.close(call)?;
        }
        Ok(())
    }

    /// Counts a call whose steps are all finished, and releases the oldest frames if their calls are finished.
    fn close(&mut self, call: u64) -> Result<(), DeviceError> {
        self.calls_done += 1;
        self.weight_done += self.plan(call)?.weight;
        while self.frames.front().is_some_and(|f| f.left == 0) {
            self.spare.extend(self.frames.pop_front());
            self.first_open += 1;
        }
        Ok(())
    }

    /// Returns the error for the fault of step number `step` of call number `call`, which could not
    /// run, with the step's place in the program.
    pub fn fault(&self, call: u64, step: u32, fault: Fault) -> DeviceError {
        let reason = match fault {
            Fault::Math(MathError::Halt(halt)) => return halt.into(),
            Fault::Expanded(error) => return error,
            Fault::Math(e) => e.to_string(),
            Fault::Shape => {
                "its operands or results do not have the shape its plan says".to_owned()
            }
        };
        match self.plan(call) {
            Ok(plan) => {
                let instr = plan.steps.get(step as usize).map_or(0, |s| s.instr);
                DeviceError::Instruction {
                    proc: plan.name.clone(),
                    instr,
                    reason,
                }
            }
            Err(e) => e,
        }
    }

    /// Returns the outputs, and gives all other limbs back to the pool. An output in a buffer of the pool is lent. An
    /// output that is an input, a constant or an expanded limb is a copy. If there is a callback `take`, it receives
    /// the outputs that it has not received yet, and the returned list is empty.
    pub fn into_outputs(mut self) -> Result<(Vec<OutputLimb>, Pool, Clock), DeviceError> {
        let limbs = self.ahead.outputs().ok_or_else(|| lost("the end"))?;
        let mut outputs = Vec::with_capacity(limbs.len());
        let (text, types) = (self.program.program(), self.program.types());
        let named = text.outputs.iter().zip(&types.outputs);
        for (number, (&limb, (output, &ty))) in limbs.iter().zip(named).enumerate() {
            if self.taken.contains_key(&limb) {
                continue;
            }
            let held = match self.ahead.is_input(limb) {
                true => Some(self.bound(limb)?),
                false => self.slots.get(&limb).and_then(|slot| slot.value.clone()),
            };
            let mut held = held.ok_or_else(|| lost(&output.name))?;
            held.read(self.usage)?;
            held.write_values_out();
            if let Some(take) = &mut self.take {
                take(number, held.held());
                continue;
            }
            let modulus = limb_modulus(ty, &text.moduli);
            outputs.push(match held {
                Value::Pooled(buf) if buf.is_short() == holds_short(modulus) => self.pool.lend(buf),
                // An output that is an input, a constant or a seed's limb is the caller's own.
                held => OutputLimb::of(held.held(), modulus),
            });
        }
        for (_, slot) in std::mem::take(&mut self.slots) {
            if let Some(value) = slot.value {
                self.recycle(value);
            }
        }
        Ok((outputs, self.pool, self.clock))
    }
}
