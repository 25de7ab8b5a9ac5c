// SPDX-License-Identifier: Apache-2.0
//! Starts and finishes steps of a run: takes operands out of the call's frame, takes buffers for results, and puts
//! results into the frame.

use super::{State, lost};
use crate::kernel::Task;
use crate::plan::{Kernel, Made, Plan};
use ringmill_device::DeviceError;
use ringmill_device::value::Value;

impl<'a> State<'a> {
    /// Fills `task` with the operands of step number `step` of call number `call`, and with buffers
    /// for the step's results.
    pub fn start(&mut self, call: u64, step: u32, task: &mut Task<'a>) -> Result<(), DeviceError> {
        let plan = self.plan(call)?;
        let code = plan
            .steps
            .get(step as usize)
            .ok_or_else(|| lost("a step"))?;
        (task.call, task.step) = (call, step);
        (task.in_place, task.streamed) = (None, false);
        task.src.clear();
        task.dst.clear();
        let frame = self.frame(call)?;
        for &v in &code.src {
            frame.uses[v as usize] -= 1;
            let held = &mut frame.values[v as usize];
            let value = if frame.uses[v as usize] == 0 {
                held.take()
            } else {
                held.clone()
            };
            task.src.push(value.ok_or_else(|| lost("a value"))?);
        }
        if let Kernel::Prng { seed, .. } = code.kernel {
            let number = self.open_frame(call)?.seeds.get(seed).copied();
            let bound = number.and_then(|s| self.bindings.seeds.get(s as usize));
            task.seed = Some(bound.ok_or_else(|| lost("a seed"))?.clone());
            task.dst.push(Value::Bound(&[]));
            return Ok(());
        }
        for &words in &code.room {
            task.room.push(self.pool.take(words, false)?);
        }
        let short = code.dst.iter().any(|made| made.short);
        let updated = code.kernel.updates();
        if updated > 0 && !short {
            let operands = task.src.get_mut(..updated).ok_or_else(|| lost("a sum"))?;
            let taken = operands
                .iter_mut()
                .map(|v| std::mem::replace(v, Value::Bound(&[])));
            task.dst.extend(taken);
            return Ok(());
        }
        let reused = (code.kernel.overwritable().iter().copied())
            .find(|&k| task.src.get(k).is_some_and(Value::is_sole));
        if let Some(k) = reused.filter(|_| !short && code.room.is_empty()) {
            task.dst
                .push(std::mem::replace(&mut task.src[k], Value::Bound(&[])));
            task.in_place = Some(k);
            return Ok(());
        }
        let streams = code.dst.iter().all(|made| made.short) || code.kernel.streams();
        task.streamed = streams && self.leave(call, plan, &code.dst);
        for made in &code.dst {
            let buf = self.pool.take(made.words, made.short)?;
            task.dst.push(Value::Pooled(buf));
        }
        Ok(())
    }

    /// Returns whether all values `made`, which a step of a call computes, are outputs of the program that steps write
    /// past the cache.
    fn leave(&self, call: u64, plan: &Plan, made: &[Made]) -> bool {
        let results = self
            .open_frame(call)
            .map_or(&[][..], |frame| &frame.results);
        let leaves = |&r: &u32| results.get(r as usize).is_some_and(|&l| self.streamed(l));
        made.iter().all(|m| {
            let exports = plan.exports.get(m.value);
            plan.consumers.get(m.value).is_empty()
                && !exports.is_empty()
                && exports.iter().all(leaves)
        })
    }

    /// Puts the results of the finished step in `task` into its call's frame, and releases the
    /// step's operands.
    pub fn finish(&mut self, task: &mut Task<'a>) -> Result<(), DeviceError> {
        let plan = self.plan(task.call)?;
        let code = plan
            .steps
            .get(task.step as usize)
            .ok_or_else(|| lost("a step"))?;
        for value in task.src.drain(..) {
            if let Value::Pooled(buf) = value {
                self.pool.give(buf);
            }
        }
        for buf in task.room.drain(..) {
            self.pool.give(buf);
        }
        for (made, value) in code.dst.iter().zip(task.dst.drain(..)) {
            self.arrivals.push((task.call, made.value, value));
        }
        self.settle_arrivals()?;
        self.advance(task.call, 1)
    }
}
