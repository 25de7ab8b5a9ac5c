// SPDX-License-Identifier: Apache-2.0
//! The CPU as a device: runs a limb program on all cores along its data dependences.
//!
//! Each procedure is planned once ([`plan`]): tables looked up, uses counted. A run moves limbs through calls
//! ([`state`]) and computes with the kernels of `ringmill_math` ([`kernel`]). One thread runs straight through; several
//! take ready steps from one queue, across calls, within a window that bounds memory ([`threads`]). Arithmetic is exact,
//! so the bits do not depend on the order.

mod clock;
mod error;
mod estimate;
mod kernel;
mod plan;
mod procedure;
mod session;
mod state;
mod statistics;
mod threads;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ringmill_device::checkpoint::Saver;
use ringmill_device::pool::{OutputLimb, Pool, PoolUse};
use ringmill_device::procedures::Calling;
use ringmill_device::progress::{Progress, Step};
use ringmill_device::trace::SpanSink;
use ringmill_device::{Bindings, Device, DeviceError, Request, Resident, device};
use ringmill_isa::mid::{Procedure, ValueType, Verified};
use ringmill_limits::{Halt, Watch};

pub use error::OpenError;
pub use statistics::CpuStats;

use kernel::Task;
use plan::Plan;
use session::Session;
use state::{Opened, State};

/// Plans kept at most; beyond this the cache starts afresh.
const MAX_PLANS: usize = 1 << 14;
/// Threads a device may have.
pub const MAX_THREADS: usize = 1024;

/// A second-level cache that a core has at least, by which steps are grouped and results written around it. A wrong
/// guess costs time alone.
const CACHE_BYTES: usize = 2 << 20;

/// What traces call the memory of limbs.
const BUFFERS: &str = "limb buffers";

/// A procedure, by whose address its plan is found; holding it keeps the address its own.
type Planned = (Arc<Procedure>, Arc<Plan>);

/// The CPU device. Keeps its threads, its plans and its buffers from run to run.
pub struct Cpu {
    threads: usize,
    fused: bool,
    /// `None` with one thread.
    workers: Option<rayon::ThreadPool>,
    plans: Mutex<HashMap<usize, Planned>>,
    /// Procedures planned so far.
    planned: AtomicU64,
    /// Programs of single procedures.
    calling: Calling,
    /// Pools not in use by a run.
    pools: Mutex<Vec<Pool>>,
}

impl Cpu {
    /// A device of `threads` threads, 1 to [`MAX_THREADS`].
    pub fn new(threads: usize) -> Result<Self, DeviceError> {
        if !(1..=MAX_THREADS).contains(&threads) {
            return Err(OpenError::ThreadCount {
                got: format!("cpu:{threads}"),
                max: MAX_THREADS,
            }
            .into());
        }
        let start = || rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let workers = if threads == 1 { None } else { Some(start()) };
        let workers = workers.transpose().map_err(|e| OpenError::Threads {
            threads,
            reason: e.to_string(),
        })?;
        Ok(Self {
            threads,
            fused: true,
            workers,
            plans: Mutex::default(),
            planned: AtomicU64::new(0),
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
                    self.planned.fetch_add(1, Ordering::Relaxed);
                    cache.insert(key, (proc.clone(), plan.clone()));
                    plan
                }
            };
            plans.push(plan);
        }
        Ok(plans)
    }

    /// Runs a program: its outputs, in the order of the program's, and what it took.
    ///
    /// # Errors
    /// Bindings that do not fit the program; what its procedures refuse.
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
    ///
    /// # Errors
    /// As [`Cpu::execute`]; a limit, or a stop.
    pub fn execute_watched(
        &self,
        program: &Verified,
        bindings: &Bindings<'_>,
        progress: &dyn Progress,
        spans: Option<&mut dyn SpanSink>,
        watch: &Watch,
    ) -> Result<(Vec<OutputLimb>, CpuStats), DeviceError> {
        let resident = Resident::seeds(bindings.seeds.clone());
        let mut session = Session::new(self, program, resident, watch)?;
        let request = Request {
            // The reborrow lives as long as the request.
            cpu_spans: spans.map(|sink| -> &mut dyn SpanSink { sink }),
            watch: watch.clone(),
            ..Request::function_only()
        };
        session.execute(bindings.limbs.clone(), request, progress, None)
    }

    /// Procedures that were planned so far: each once, when it is first met.
    pub fn planned(&self) -> u64 {
        self.planned.load(Ordering::Relaxed)
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

    fn open<'s>(
        &'s self,
        program: &'s Verified,
        resident: Resident<'s>,
        watch: &Watch,
    ) -> Result<Box<dyn device::Session + 's>, DeviceError> {
        Ok(Box::new(Session::new(self, program, resident, watch)?))
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
    state.clock.look();
    loop {
        if let Some(saver) = saver.as_mut().filter(|saver| saver.is_due(watch)) {
            // A run that is stopped while it saves goes on to its last save, which is tried again where it fails.
            let last = watch.is_stopped();
            state.save(saver, last)?;
            state.clock.look();
            if last {
                watch.check()?;
            }
        }
        let Some(Opened { call, plan, entry }) = state.open()? else {
            break;
        };
        for (i, step) in plan.steps.iter().enumerate() {
            may_go_on(watch, saver.is_some())?;
            state.start(call, i as u32, &mut task)?;
            let began = spans.is_some().then(Instant::now);
            kernel::execute(step, &mut task, state.usage)
                .map_err(|fault| state.fault(call, i as u32, fault))?;
            if let (Some(sink), Some(began)) = (spans.as_deref_mut(), began) {
                let took = began.elapsed();
                let of = state.context(call, step)?;
                sink.span(
                    "thread 0",
                    step.op.mnemonic(),
                    meter.since(began),
                    took,
                    &of,
                );
            }
            state.finish(&mut task)?;
        }
        state.clock.lap(entry);
        if let Some(sink) = spans.as_deref_mut() {
            sink.memory(
                BUFFERS,
                meter.since(Instant::now()),
                state.pool.usage().live,
            );
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

/// Items that the crate's own tests reach; no part of the interface.
#[doc(hidden)]
pub mod internals {
    pub use crate::clock::Clock;
    pub use crate::estimate::Expands;
}
