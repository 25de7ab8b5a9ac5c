//! What a run holds: program limbs, the calls in progress, the pool. Starting and finishing steps moves limbs between
//! these; computing happens elsewhere, so one lock around this state is held for moments only.
//!
//! Ownership is the references' count: a limb is moved out at its last use, so a step that finds itself the sole owner of
//! an operand writes its result there, and a buffer goes back to the pool with its last reference.

mod steps;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use ringmill_isa::mid::{Call, LimbId, Unrolled};
use ringmill_math::{MathError, Ring};

use super::CACHE_BYTES;
use super::kernel::{Fault, Value};
use super::plan::Plan;
use crate::DeviceError;
use crate::bindings::Bindings;
use crate::pool::{OutputLimb, Pool};

/// A program-level limb.
#[derive(Default)]
struct Slot<'a> {
    value: Option<Value<'a>>,
    /// Arguments and outputs that still want it.
    uses: u32,
    /// Leaves the run and is not read in it, as one of many.
    streamed: bool,
    /// Open calls (and which of their values) that wait for it.
    waiters: Vec<(u32, u32)>,
}

/// A call in progress.
#[derive(Default)]
struct Frame<'a> {
    values: Vec<Option<Value<'a>>>,
    uses: Vec<u32>,
    pending: Vec<u32>,
    /// Steps not finished and results not published.
    left: usize,
}

pub(super) struct State<'a> {
    program: &'a Unrolled,
    plans: &'a [Arc<Plan>],
    bindings: &'a Bindings<'a>,
    slots: Vec<Slot<'a>>,
    /// Open calls, from call number `first_open` on.
    frames: VecDeque<Frame<'a>>,
    first_open: u32,
    /// Frames to be reused.
    spare: Vec<Frame<'a>>,
    /// Steps whose operands are all there, the earliest in program order first: memory stays near what the
    /// straight-through order needs. Used by the threaded run only.
    ready: BinaryHeap<Reverse<(u32, u32)>>,
    track_ready: bool,
    /// Limbs that came to be and are still to be handed to the steps that wait: (call, value, limb).
    arrivals: Vec<(u32, u32, Value<'a>)>,
    pub pool: Pool,
    pub calls_done: u64,
    pub weight_done: u64,
}

fn lost(what: &str) -> DeviceError {
    DeviceError::Malformed(format!("{what} is used before it is defined"))
}

fn slot<'s, 'a>(slots: &'s mut [Slot<'a>], limb: LimbId) -> Result<&'s mut Slot<'a>, DeviceError> {
    let slot = slots.get_mut(limb.0 as usize);
    slot.ok_or_else(|| lost("a limb"))
}

impl<'a> State<'a> {
    /// `plans` has one entry for each procedure; program and bindings are verified.
    pub fn new(
        program: &'a Unrolled,
        plans: &'a [Arc<Plan>],
        bindings: &'a Bindings<'a>,
        pool: Pool,
        track_ready: bool,
    ) -> Result<Self, DeviceError> {
        let mut slots: Vec<Slot<'a>> = Vec::new();
        slots.resize_with(program.limbs.len(), Slot::default);
        for &limb in program.calls.iter().flat_map(|c| &c.args) {
            slot(&mut slots, limb)?.uses += 1;
        }
        let types = program
            .outputs
            .iter()
            .map(|o| program.limbs.get(o.limb.0 as usize));
        let bytes = types
            .flatten()
            .map(|ty| size_of::<u64>() << ty.ring.log_n.min(Ring::MAX_LOG_N));
        let large = bytes.sum::<usize>() > CACHE_BYTES / 2;
        for output in &program.outputs {
            let slot = slot(&mut slots, output.limb)?;
            slot.streamed = large && slot.uses == 0;
            slot.uses += 1;
        }
        for (input, limb) in program.inputs.iter().zip(&bindings.limbs) {
            slots
                .get_mut(input.limb.0 as usize)
                .ok_or_else(|| lost("a limb"))?
                .value = Some(limb.value());
        }
        Ok(Self {
            program,
            plans,
            bindings,
            slots,
            frames: VecDeque::new(),
            first_open: 0,
            spare: Vec::new(),
            ready: BinaryHeap::new(),
            track_ready,
            arrivals: Vec::new(),
            pool,
            calls_done: 0,
            weight_done: 0,
        })
    }

    pub fn open_calls(&self) -> usize {
        self.frames.len()
    }

    pub fn ready_steps(&self) -> usize {
        self.ready.len()
    }

    /// Number of the next call to open; `None` when all have been.
    pub fn next_call(&self) -> Option<u32> {
        let next = self.first_open as usize + self.frames.len();
        (next < self.program.calls.len()).then_some(next as u32)
    }

    pub fn plan(&self, call: u32) -> Result<&'a Arc<Plan>, DeviceError> {
        let call = self
            .program
            .calls
            .get(call as usize)
            .ok_or_else(|| lost("a call"))?;
        self.plans
            .get(call.proc as usize)
            .ok_or_else(|| lost("a procedure"))
    }

    /// Opens the next call: its arguments that exist are handed in, the others will be when they come to be.
    pub fn open(&mut self, number: u32) -> Result<(), DeviceError> {
        let program = self.program;
        let call: &'a Call = program
            .calls
            .get(number as usize)
            .ok_or_else(|| lost("a call"))?;
        let plan = self.plan(number)?;
        let mut frame = self.spare.pop().unwrap_or_default();
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
            let wanted = plan.uses.get(param as usize).is_some_and(|&u| u > 0);
            let slot = self
                .slots
                .get_mut(limb.0 as usize)
                .ok_or_else(|| lost("a limb"))?;
            if slot.value.is_none() && wanted {
                slot.waiters.push((number, param));
                continue;
            }
            slot.uses = slot.uses.saturating_sub(1);
            let value = if slot.uses == 0 {
                slot.value.take()
            } else {
                slot.value.clone()
            };
            match value {
                Some(value) if wanted => self.arrivals.push((number, param, value)),
                Some(value) => self.recycle(value),
                None => {}
            }
        }
        self.settle_arrivals()?;
        if plan.steps.len() + plan.results == 0 {
            self.close(number)?;
        }
        Ok(())
    }

    fn frame(&mut self, call: u32) -> Result<&mut Frame<'a>, DeviceError> {
        let index = (call as usize).checked_sub(self.first_open as usize);
        index
            .and_then(|i| self.frames.get_mut(i))
            .ok_or_else(|| lost("a call"))
    }

    fn recycle(&mut self, value: Value<'a>) {
        if let Value::Pooled(buf) = value {
            self.pool.give(buf);
        }
    }

    /// Hands every arrived limb to its frame: publishes it where it is a result, then marks the steps it completes.
    fn settle_arrivals(&mut self) -> Result<(), DeviceError> {
        while let Some((call, index, value)) = self.arrivals.pop() {
            let plan = self.plan(call)?;
            let results = &self.program.calls[call as usize].results;
            for &r in plan.exports.get(index) {
                let limb = *results.get(r as usize).ok_or_else(|| lost("a result"))?;
                self.publish(limb.0, value.clone())?;
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

    /// One operand of each of these steps has come.
    fn mark_ready(&mut self, call: u32, steps: &[u32]) -> Result<(), DeviceError> {
        for &step in steps {
            let pending = &mut self.frame(call)?.pending[step as usize];
            *pending -= 1;
            if *pending == 0 {
                self.ready.push(Reverse((call, step)));
            }
        }
        Ok(())
    }

    /// A program-level limb has come to be.
    fn publish(&mut self, limb: u32, value: Value<'a>) -> Result<(), DeviceError> {
        let slot = self
            .slots
            .get_mut(limb as usize)
            .ok_or_else(|| lost("a limb"))?;
        let waiters = std::mem::take(&mut slot.waiters);
        slot.uses = slot.uses.saturating_sub(waiters.len() as u32);
        for (call, param) in waiters {
            self.arrivals.push((call, param, value.clone()));
        }
        if slot.uses == 0 {
            self.recycle(value);
        } else {
            slot.value = Some(value);
        }
        Ok(())
    }

    /// Takes the earliest ready step.
    pub fn pop_ready(&mut self) -> Option<(u32, u32)> {
        self.ready.pop().map(|Reverse(at)| at)
    }

    /// `count` more of the call's steps and results are done.
    fn advance(&mut self, call: u32, count: usize) -> Result<(), DeviceError> {
        let frame = self.frame(call)?;
        frame.left -= count;
        if count > 0 && frame.left == 0 {
            self.close(call)?;
        }
        Ok(())
    }

    /// Counts a call whose steps are all done, and lets go of the oldest frames that are finished.
    fn close(&mut self, call: u32) -> Result<(), DeviceError> {
        self.calls_done += 1;
        self.weight_done += self.plan(call)?.weight;
        while self.frames.front().is_some_and(|f| f.left == 0) {
            self.spare.extend(self.frames.pop_front());
            self.first_open += 1;
        }
        Ok(())
    }

    /// The error of a step that could not run.
    pub fn fault(&self, call: u32, step: u32, fault: Fault) -> DeviceError {
        let reason = match fault {
            Fault::Halt(halt) | Fault::Math(MathError::Halt(halt)) => return halt.into(),
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

    /// Lends the outputs out and gives everything else back to the pool.
    pub fn into_outputs(mut self) -> Result<(Vec<OutputLimb>, Pool), DeviceError> {
        let mut outputs = Vec::with_capacity(self.program.outputs.len());
        for output in &self.program.outputs {
            let slot = self.slots.get(output.limb.0 as usize);
            let value = slot
                .and_then(|s| s.value.as_ref())
                .ok_or_else(|| lost(&output.name))?;
            outputs.push(match value {
                Value::Pooled(buf) => self.pool.lend(buf.clone()),
                Value::Shared(limb) => OutputLimb::shared(limb.clone()),
                Value::Bound(limb) => OutputLimb::shared((*limb).into()),
            });
        }
        for slot in std::mem::take(&mut self.slots) {
            if let Some(value) = slot.value {
                self.recycle(value);
            }
        }
        Ok((outputs, self.pool))
    }
}
