// SPDX-License-Identifier: Apache-2.0
//! A program that is open on the CPU: its plans, keys and constants stay from run to run.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use ringmill_device::call::Take;
use ringmill_device::checkpoint::{Saver, Whose};
use ringmill_device::expanded::Usage;
use ringmill_device::pool::OutputLimb;
use ringmill_device::progress::Progress;
use ringmill_device::saving::Schedule;
use ringmill_device::trace::SpanSink;
use ringmill_device::{
    Device, DeviceError, Limb, Outcome, Request, Resident, check_values, device,
};
use ringmill_isa::mid::Verified;
use ringmill_limits::Watch;

use crate::plan::Plan;
use crate::state::State;
use crate::{Cpu, CpuStats, Meter, estimate, straight, threads};

/// A program that is open on the CPU, with its plans, keys and constants.
pub(crate) struct Session<'s> {
    cpu: &'s Cpu,
    program: &'s Verified,
    resident: Resident<'s>,
    /// The plan of each procedure that the program calls, in the order of their numbers.
    plans: Vec<Arc<Plan>>,
    /// The estimated memory and time of one run of the program.
    whole: estimate::Run,
    /// The estimated bytes of the limbs to which the program's seeds expand.
    seeds: estimate::Expands,
    /// The time in which the session planned the program's procedures; the first run's time includes it.
    opening: Duration,
}

impl<'s> Session<'s> {
    /// Opens a program on the CPU for several runs: plans its procedures, and keeps its resident keys and
    /// constants.
    ///
    /// # Errors
    /// Fails if the device does not hold a type of value, a procedure cannot be planned, or the work is
    /// stopped.
    pub fn new(
        cpu: &'s Cpu,
        program: &'s Verified,
        resident: Resident<'s>,
        watch: &Watch,
    ) -> Result<Self, DeviceError> {
        watch.check()?;
        check_values(cpu, program)?;
        let begin = Instant::now();
        let plans = cpu.plans(program, watch)?;
        Ok(Self {
            whole: estimate::run(program, &plans),
            seeds: estimate::seeds(program, &plans),
            cpu,
            program,
            resident,
            plans,
            opening: begin.elapsed(),
        })
    }

    /// Runs the open program. If there is a callback `take`, it receives all outputs, many of them as
    /// soon as they are computed, and the returned list is empty.
    ///
    /// # Errors
    /// Fails if the bindings do not fit the program, a limit or a checkpoint refuses the run, the run is
    /// stopped, or a step fails.
    pub fn execute(
        &mut self,
        inputs: Vec<Limb<'_>>,
        request: Request<'_>,
        progress: &dyn Progress,
        take: Option<Take<'_>>,
    ) -> Result<(Vec<OutputLimb>, CpuStats), DeviceError> {
        let (cpu, program) = (self.cpu, self.program);
        let opening = std::mem::take(&mut self.opening);
        let bindings = &self.resident.with(inputs);
        let watch = &request.watch;
        watch.check()?;
        bindings.check(program)?;
        let now = Instant::now();
        let begin = now.checked_sub(opening).unwrap_or(now);
        let expands = self.seeds.and_constants(bindings.constant_bytes());
        // Buffers that remain from earlier runs take no new memory.
        let limbs = self.whole.pool(cpu.threads);
        let limbs = limbs.saturating_sub(cpu.pool_usage().held);
        let places = bindings.expanded();
        let there: u64 = places.iter().map(|place| place.bytes()).sum();
        let budget = match places.len() {
            1 => {
                let room = watch.limits().memory.saturating_sub(limbs);
                expands.budget(request.expanded_bytes, there, room)
            }
            _ => request.expanded_bytes,
        };
        let usage = Usage::begin(places, budget, expands.largest)?;
        let expanded = expands.under(budget, cpu.open_calls());
        let expanded = expanded.saturating_sub(there);
        watch.admit("the run", limbs.saturating_add(expanded))?;
        let mut pool = cpu
            .pools
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop()
            .unwrap_or_default();
        pool.reset_peak();
        let meter = Meter::new(progress, self.whole, begin);
        let parallel = cpu.workers.is_some();
        let mut state = State::new(program, &self.plans, bindings, &usage, pool, parallel)?;
        if let Some(take) = take {
            state.hand_to(take);
        }
        let schedule = request.saving.as_ref();
        let schedule = schedule.map(|saving| Schedule::new(saving, progress));
        let schedule = schedule.transpose()?;
        let wanted = request.saving.is_some() || request.resume.is_some();
        let whose = wanted.then(|| Whose::of(program, bindings, &usage));
        let whose = whose.transpose()?;
        if let (Some(path), Some(whose)) = (&request.resume, whose) {
            state.resume(path, whose, watch)?;
        }
        let saver = schedule.zip(whose);
        let saver = saver.map(|(schedule, whose)| Saver::new(schedule, whose));
        let spans: Option<&mut dyn SpanSink> = request.cpu_spans;
        let state = match &cpu.workers {
            None => straight(state, meter, spans, watch, saver)?,
            Some(workers) => threads::run(state, meter, spans, workers, watch, saver)?,
        };
        let (outputs, mut pool, clock) = state.into_outputs()?;
        let buffers = pool.usage();
        cpu.pools
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(pool);
        let took = begin.elapsed();
        let stats = CpuStats {
            seconds: took.as_secs_f64(),
            threads: cpu.threads,
            pool_peak_bytes: buffers.peak,
            pool_held_bytes: buffers.held,
            expanded: usage.stats(),
            lines: clock.lines(program.bound_procs(), took.as_nanos() as u64),
        };
        Ok((outputs, stats))
    }
}

impl device::Session for Session<'_> {
    fn run(
        &mut self,
        inputs: Vec<Limb<'_>>,
        request: Request<'_>,
        progress: &dyn Progress,
    ) -> Result<Outcome, DeviceError> {
        if !request.function {
            return Err(match request.timing {
                true => DeviceError::NoTiming {
                    device: self.cpu.name(),
                },
                false => DeviceError::NothingAsked,
            });
        }
        let (outputs, stats) = self.execute(inputs, request, progress, None)?;
        Ok(Outcome {
            outputs: Some(outputs),
            statistics: Some(Arc::new(stats)),
            machine: None,
        })
    }
}
