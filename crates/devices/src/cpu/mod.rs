//! The CPU device: runs a limb program on all cores along its data dependences.
//!
//! Each procedure is planned once ([`plan`]): tables looked up, uses counted. A run moves limbs through calls
//! ([`state`]) and computes with the kernels of `ringmill_math` ([`kernel`]). One thread runs straight through; several
//! take ready steps from one queue, across calls, within a window that bounds memory ([`threads`]). Arithmetic is exact,
//! so the bits do not depend on the order.

mod estimate;
mod kernel;
mod plan;
mod procedure;
mod state;
mod threads;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ringmill_isa::mid::{Procedure, ValueType, Verified};
use ringmill_limits::{Halt, Watch};
use ringmill_schemes::call::Take;

use crate::DeviceError;
use crate::bindings::Bindings;
use crate::checkpoint::{Saver, Whose};
use crate::device::{CpuStats, Device, Outcome, Request, check_values};
use crate::expanded::Usage;
use crate::pool::{OutputLimb, Pool, PoolUse};
use crate::procedures::Calling;
use crate::progress::{Progress, Step};
use crate::saving::{Saving, Schedule};
use crate::trace::SpanSink;
use kernel::Task;
use plan::Plan;
use state::State;

/// Plans kept at most; beyond this the cache starts afresh.
const MAX_PLANS: usize = 1 << 14;
/// Threads a device may have.
pub const MAX_THREADS: usize = 1024;

/// A second-level cache that a core has at least, by which steps are grouped and results written around it. A wrong
/// guess costs time alone.
const CACHE_BYTES: usize = 2 << 20;

/// How a run outlives its process, and what it keeps of what it expands.
#[derive(Clone, Copy, Default)]
pub struct Kept<'a> {
    pub saving: Option<&'a Saving>,
    /// The checkpoint to go on from.
    pub resume: Option<&'a Path>,
    /// [`Request::expanded_bytes`].
    pub expanded_bytes: Option<u64>,
}

/// A procedure, by whose address its plan is found; holding it keeps the address its own.
type Planned = (Arc<Procedure>, Arc<Plan>);

/// The CPU device. Keeps its threads, its plans and its buffers from run to run.
pub struct Cpu {
    threads: usize,
    fused: bool,
    /// `None` with one thread.
    workers: Option<rayon::ThreadPool>,
    plans: Mutex<HashMap<usize, Planned>>,
    /// Programs of single procedures.
    calling: Calling,
    /// Pools not in use by a run.
    pools: Mutex<Vec<Pool>>,
}

impl Cpu {
    /// A device of `threads` threads, 1 to [`MAX_THREADS`].
    pub fn new(threads: usize) -> Result<Self, DeviceError> {
        if !(1..=MAX_THREADS).contains(&threads) {
            return Err(DeviceError::ThreadCount {
                got: format!("cpu:{threads}"),
                max: MAX_THREADS,
            });
        }
        let start = || rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let workers = if threads == 1 { None } else { Some(start()) };
        let workers = workers.transpose().map_err(|e| DeviceError::Threads {
            threads,
            reason: e.to_string(),
        })?;
        Ok(Self {
            threads,
            fused: true,
            workers,
            plans: Mutex::default(),
            calling: Calling::default(),
            pools: Mutex::default(),
        })
    }

    /// The device with every instruction a step of its own, in its written place: slower, the same bits. It is what
    /// fusion is tested and measured against.
    pub fn without_fusion(self) -> Self {
        Self {
            fused: false,
            plans: Mutex::default(),
            ..self
        }
    }

    /// One thread a core.
    pub fn all_cores() -> Result<Self, DeviceError> {
        Self::new(
            std::thread::available_parallelism()
                .map_or(1, |n| n.get())
                .min(MAX_THREADS),
        )
    }

    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Calls that a run has open at most.
    fn open_calls(&self) -> usize {
        match self.workers {
            None => 1,
            Some(_) => self.threads * threads::CALLS_PER_THREAD,
        }
    }

    /// Plans of the program's procedures; each procedure is verified and planned when first met.
    fn plans(&self, program: &Verified, watch: &Watch) -> Result<Vec<Arc<Plan>>, DeviceError> {
        let procs = program.bound_procs();
        let mut cache = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.len() + procs.len() > MAX_PLANS {
            cache.clear();
        }
        let mut plans = Vec::with_capacity(procs.len());
        for proc in procs {
            let key = Arc::as_ptr(proc) as usize;
            let plan = match cache.get(&key) {
                Some((_, plan)) => plan.clone(),
                None => {
                    watch.check()?;
                    let plan = Arc::new(Plan::new(proc, self.fused)?);
                    cache.insert(key, (proc.clone(), plan.clone()));
                    plan
                }
            };
            plans.push(plan);
        }
        Ok(plans)
    }

    /// Buffers held for later runs.
    pub fn pool_usage(&self) -> PoolUse {
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        pools.iter_mut().fold(PoolUse::default(), |sum, pool| {
            let one = pool.usage();
            PoolUse {
                live: sum.live + one.live,
                peak: sum.peak.max(one.peak),
                held: sum.held + one.held,
            }
        })
    }

    /// Runs a program: its outputs, in the order of the program's, and what it took.
    pub fn execute(
        &self,
        program: &Verified,
        bindings: &Bindings<'_>,
        progress: &dyn Progress,
        spans: Option<&mut dyn SpanSink>,
    ) -> Result<(Vec<OutputLimb>, CpuStats), DeviceError> {
        self.execute_watched(program, bindings, progress, spans, &Watch::default())
    }

    /// As [`Cpu::execute`], under limits: refused when it would take more memory than `watch` allows, stopped when that
    /// says so.
    pub fn execute_watched(
        &self,
        program: &Verified,
        bindings: &Bindings<'_>,
        progress: &dyn Progress,
        spans: Option<&mut dyn SpanSink>,
        watch: &Watch,
    ) -> Result<(Vec<OutputLimb>, CpuStats), DeviceError> {
        let kept = Kept::default();
        self.execute_kept(program, bindings, progress, spans, watch, kept)
    }

    /// As [`Cpu::execute_watched`], saved between calls and gone on with as `kept` says.
    pub fn execute_kept(
        &self,
        program: &Verified,
        bindings: &Bindings<'_>,
        progress: &dyn Progress,
        spans: Option<&mut dyn SpanSink>,
        watch: &Watch,
        kept: Kept<'_>,
    ) -> Result<(Vec<OutputLimb>, CpuStats), DeviceError> {
        self.execute_into(program, bindings, progress, spans, watch, kept, None)
    }

    /// The same; outputs that `take` takes as they are made are not among those given.
    #[expect(clippy::too_many_arguments, reason = "what a run can be asked for")]
    fn execute_into(
        &self,
        program: &Verified,
        bindings: &Bindings<'_>,
        progress: &dyn Progress,
        spans: Option<&mut dyn SpanSink>,
        watch: &Watch,
        kept: Kept<'_>,
        take: Option<Take<'_>>,
    ) -> Result<(Vec<OutputLimb>, CpuStats), DeviceError> {
        watch.check()?;
        check_values(self, program)?;
        bindings.check(program)?;
        let begin = Instant::now();
        let plans = self.plans(program, watch)?;
        let whole = estimate::run(program, &plans);
        let expands = estimate::seeds(program, &plans).and_constants(bindings.constant_bytes());
        // What is there from runs before takes nothing new.
        let limbs = whole.pool(self.threads);
        let limbs = limbs.saturating_sub(self.pool_usage().held);
        let places = bindings.expanded();
        let there: u64 = places.iter().map(|place| place.bytes()).sum();
        let budget = match places.len() {
            1 => {
                let room = watch.limits().memory.saturating_sub(limbs);
                expands.budget(kept.expanded_bytes, there, room)
            }
            _ => kept.expanded_bytes,
        };
        let usage = Usage::begin(places, budget, expands.largest)?;
        let expanded = expands.under(budget, self.open_calls());
        let expanded = expanded.saturating_sub(there);
        watch.admit("the run", limbs.saturating_add(expanded))?;
        let mut pool = self
            .pools
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop()
            .unwrap_or_default();
        pool.reset_peak();
        let meter = Meter::new(progress, whole, begin);
        let mut state = State::new(
            program,
            &plans,
            bindings,
            &usage,
            pool,
            self.workers.is_some(),
        )?;
        if let Some(take) = take {
            state.hand_to(take);
        }
        let schedule = kept.saving.map(|saving| Schedule::new(saving, progress));
        let schedule = schedule.transpose()?;
        let wanted = kept.saving.is_some() || kept.resume.is_some();
        let whose = wanted.then(|| Whose::of(program, bindings, &usage));
        let whose = whose.transpose()?;
        if let (Some(path), Some(whose)) = (kept.resume, whose) {
            state.resume(path, whose, watch)?;
        }
        let saver = schedule.zip(whose);
        let saver = saver.map(|(schedule, whose)| Saver::new(schedule, whose));
        let state = match &self.workers {
            None => straight(state, meter, spans, watch, saver)?,
            Some(workers) => threads::run(state, meter, spans, workers, watch, saver)?,
        };
        let (outputs, mut pool) = state.into_outputs()?;
        let buffers = pool.usage();
        self.pools
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(pool);
        let stats = CpuStats {
            seconds: begin.elapsed().as_secs_f64(),
            threads: self.threads,
            pool_peak_bytes: buffers.peak,
            pool_held_bytes: buffers.held,
            expanded: usage.stats(),
        };
        Ok((outputs, stats))
    }
}

impl Device for Cpu {
    fn name(&self) -> String {
        format!("cpu:{}", self.threads)
    }

    fn holds(&self, _: ValueType) -> bool {
        true
    }

    fn expands(&self) -> bool {
        true
    }

    fn run(
        &self,
        program: &Verified,
        bindings: &Bindings<'_>,
        request: Request<'_>,
        progress: &dyn Progress,
    ) -> Result<Outcome, DeviceError> {
        if !request.function {
            return Err(match request.timing {
                true => DeviceError::NoTiming {
                    device: self.name(),
                },
                false => DeviceError::NothingAsked,
            });
        }
        let (outputs, stats) = self.execute_kept(
            program,
            bindings,
            progress,
            request.cpu_spans,
            &request.watch,
            Kept {
                saving: request.saving.as_ref(),
                resume: request.resume.as_deref(),
                expanded_bytes: request.expanded_bytes,
            },
        )?;
        Ok(Outcome {
            outputs: Some(outputs),
            cpu: Some(stats),
            machine: None,
        })
    }
}

/// Calls in order, steps in order, one thread, no synchronisation.
fn straight<'a>(
    mut state: State<'a>,
    mut meter: Meter<'_>,
    mut spans: Option<&mut dyn SpanSink>,
    watch: &Watch,
    mut saver: Option<Saver<'_>>,
) -> Result<State<'a>, DeviceError> {
    let mut task = Task::default();
    loop {
        if let Some(saver) = saver.as_mut().filter(|saver| saver.is_due(watch)) {
            // A run that is stopped while it saves goes on to its last save, which is tried again where it fails.
            let last = watch.is_stopped();
            state.save(saver, last)?;
            if last {
                watch.check()?;
            }
        }
        let Some((call, plan)) = state.open()? else {
            break;
        };
        for (i, step) in plan.steps.iter().enumerate() {
            may_go_on(watch, saver.is_some())?;
            state.start(call, i as u32, &mut task)?;
            let began = spans.is_some().then(Instant::now);
            kernel::execute(step, &mut task, state.usage)
                .map_err(|fault| state.fault(call, i as u32, fault))?;
            if let (Some(sink), Some(began)) = (spans.as_deref_mut(), began) {
                sink.span(
                    "thread 0",
                    step.op.mnemonic(),
                    meter.since(began),
                    began.elapsed(),
                );
            }
            state.finish(&mut task)?;
        }
        meter.tick(&state);
    }
    Ok(state)
}

/// What is to be saved goes on to the end of its call.
fn may_go_on(watch: &Watch, saved: bool) -> Result<(), Halt> {
    match watch.check() {
        Err(Halt::Interrupted) if saved => Ok(()),
        other => other,
    }
}

/// Turns finished calls into steps of progress, a few a second.
struct Meter<'p> {
    progress: &'p dyn Progress,
    total: u64,
    weight: u64,
    begin: Instant,
    last: Option<Instant>,
}

impl<'p> Meter<'p> {
    const INTERVAL: Duration = Duration::from_millis(100);

    fn new(progress: &'p dyn Progress, whole: estimate::Run, begin: Instant) -> Self {
        Self {
            progress,
            total: whole.calls,
            weight: whole.weight,
            begin,
            last: None,
        }
    }

    /// Time from the beginning of the run to `at`.
    fn since(&self, at: Instant) -> Duration {
        at.duration_since(self.begin)
    }

    fn tick(&mut self, state: &State<'_>) {
        let now = Instant::now();
        let last = state.calls_done == self.total;
        if !last
            && self
                .last
                .is_some_and(|t| now.duration_since(t) < Self::INTERVAL)
        {
            return;
        }
        self.last = Some(now);
        let elapsed = now.duration_since(self.begin);
        let left = self.weight.saturating_sub(state.weight_done) as f64
            / (state.weight_done.max(1)) as f64;
        let remaining = (state.weight_done > 0).then(|| elapsed.mul_f64(left));
        self.progress.step(Step {
            stage: "running",
            done: state.calls_done,
            total: self.total,
            elapsed,
            remaining,
        });
    }
}
