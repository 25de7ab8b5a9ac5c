// SPDX-License-Identifier: Apache-2.0
//! The CPU as a device: runs a limb program on one or several threads, in the order of its data dependences.
//!
//! Each procedure is planned on its first use ([`plan`]): the plan has a kernel with its tables for each step, and
//! counts the uses of each value. A run moves limbs through calls ([`state`]) and computes with the kernels of
//! `ringmill_math` ([`kernel`]). One thread runs the calls in order. Several threads take ready steps from one queue,
//! across calls, within a window that bounds memory ([`threads`]). Arithmetic is exact, so the bits do not depend on
//! the order.

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

/// The most plans of procedures in the cache. If a further program could exceed it, the cache is emptied first. A
/// program with more procedures is cached whole.
const MAX_PLANS: usize = 1 << 14;
/// The most threads with which the CPU device can be opened.
pub const MAX_THREADS: usize = 1024;

/// The size of the second-level cache that every core is assumed to have, in bytes. Steps are grouped, and results
/// written past the cache, by this size. A wrong assumption costs time only.
const CACHE_BYTES: usize = 2 << 20;

/// The name that traces give to the memory of limbs.
const BUFFERS: &str = "limb buffers";

/// A procedure and its plan. The procedure's address is the plan's key in the cache. Holding the procedure keeps the
/// address valid.
type Planned = (Arc<Procedure>, Arc<Plan>);

/// The CPU device. It keeps its threads, plans and buffers from run to run.
pub struct Cpu {
    threads: usize,
    fused: bool,
    /// The worker threads of the device, or `None` if it has one thread.
    workers: Option<rayon::ThreadPool>,
    plans: Mutex<HashMap<usize, Planned>>,
    /// The number of plans that the device has made so far.
    planned: AtomicU64,
    /// The cached programs, each of which calls one procedure once.
    calling: Calling,
    /// The pools of limb buffers that no run uses now.
    pools: Mutex<Vec<Pool>>,
}

impl Cpu {
    /// Opens the CPU as a device with `threads` threads, 1 to [`MAX_THREADS`].
    ///
    /// # Errors
    /// [`OpenError`] for another number of threads, or if the system does not start them.
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

    /// Returns the device without fusion: every instruction becomes one step, in its place in the procedure. It is
    /// slower and gives the same bits. Tests and measurements compare fusion with it.
    pub fn without_fusion(self) -> Self {
        Self {
            fused: false,
            plans: Mutex::default(),
            ..self
        }
    }

    /// Opens the CPU as a device with one thread for each core that the process may use, but at most
    /// [`MAX_THREADS`].
    ///
    /// # Errors
    /// [`OpenError`] if the system does not start the threads.
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

    /// Returns the most calls of procedures that a run may have begun and not finished at one
    /// time.
    fn open_calls(&self) -> usize {
        match self.workers {
            None => 1,
            Some(_) => self.threads * threads::CALLS_PER_THREAD,
        }
    }

    /// Returns the plans of the program's procedures; each procedure is planned on its first use.
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

    /// Runs a program. Returns its outputs, in the program's order, and the measurements.
    ///
    /// # Errors
    /// Fails if bindings do not fit the program, if one of its procedures cannot be planned or run, or if the run
    /// exceeds the default memory limit.
    pub fn execute(
        &self,
        program: &Verified,
        bindings: &Bindings<'_>,
        progress: &dyn Progress,
        spans: Option<&mut dyn SpanSink>,
    ) -> Result<(Vec<OutputLimb>, CpuStats), DeviceError> {
        self.execute_watched(program, bindings, progress, spans, &Watch::default())
    }

    /// Runs a program as [`Cpu::execute`] does, under limits. The run is refused if it would take more memory than
    /// `watch` allows, and stops if `watch` says so.
    ///
    /// # Errors
    /// The errors of [`Cpu::execute`] under the limit of `watch`, and a stop.
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

    /// Returns the number of plans that the device has made so far. It makes one on a procedure's first use, and
    /// another one if its cache was emptied meanwhile.
    pub fn planned(&self) -> u64 {
        self.planned.load(Ordering::Relaxed)
    }

    /// Returns the bytes of the limb buffers that the device keeps for later runs, in pools. `live` and `held` are sums
    /// over the pools, and `peak` is the largest of a pool. Buffers of outputs that a caller still holds count as in
    /// use. The pools of runs in progress are not counted.
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

/// Runs a program's calls and their steps in order on one thread, without synchronisation.
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
            // A run that is stopped during a save continues to its last save, which is tried again if it fails.
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

/// Returns an error if the run must stop now. A run with checkpoints (`saved`) goes on to the end of its open calls
/// when it is interrupted, so that it can be saved.
fn may_go_on(watch: &Watch, saved: bool) -> Result<(), Halt> {
    match watch.check() {
        Err(Halt::Interrupted) if saved => Ok(()),
        other => other,
    }
}

/// Reports the number of a run's finished calls as progress, at most ten times a second and at the end.
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

    /// Returns the time from the beginning of the run to the moment `at`.
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

/// Items for the crate's own tests, which are no part of the interface.
#[doc(hidden)]
pub mod internals {
    pub use crate::clock::Clock;
    pub use crate::estimate::Expands;
}
