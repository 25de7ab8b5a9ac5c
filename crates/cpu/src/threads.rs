// SPDX-License-Identifier: Apache-2.0
//! Runs a program on several threads. Each worker takes the earliest ready step, computes it outside the lock, and
//! puts its results back.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::kernel::{self, Task};
use super::state::State;
use super::{BUFFERS, Meter, may_go_on};
use ringmill_device::DeviceError;
use ringmill_device::checkpoint::Saver;
use ringmill_device::expanded::Usage;
use ringmill_device::trace::SpanSink;
use ringmill_limits::Watch;

/// The most calls that are open at one time for each thread. With several open calls, ready steps rarely run out, and
/// memory stays near that of a run in order.
pub(super) const CALLS_PER_THREAD: usize = 4;

struct Shared<'a, 'm, 'p> {
    state: State<'a>,
    meter: Meter<'p>,
    spans: Option<&'m mut dyn SpanSink>,
    /// The number of steps that workers compute now.
    running: usize,
    /// The number of workers that wait for a ready step.
    asleep: usize,
    calls_seen: u64,
    failed: Option<DeviceError>,
    saver: Option<Saver<'p>>,
}

struct Crew<'a, 'm, 'p> {
    shared: Mutex<Shared<'a, 'm, 'p>>,
    wake: Condvar,
    threads: usize,
    watch: &'p Watch,
    usage: &'a Usage,
    saved: bool,
}

/// Runs all calls of a program on the worker threads.
pub(super) fn run<'a, 'p>(
    mut state: State<'a>,
    meter: Meter<'p>,
    spans: Option<&mut dyn SpanSink>,
    workers: &rayon::ThreadPool,
    watch: &'p Watch,
    saver: Option<Saver<'p>>,
) -> Result<State<'a>, DeviceError> {
    let usage = state.usage;
    state.clock.look();
    let shared = Shared {
        state,
        meter,
        spans,
        running: 0,
        asleep: 0,
        calls_seen: 0,
        failed: None,
        saver,
    };
    let saved = shared.saver.is_some();
    let threads = workers.current_num_threads();
    let crew = Crew {
        shared: Mutex::new(shared),
        wake: Condvar::new(),
        threads,
        watch,
        usage,
        saved,
    };
    workers.broadcast(|worker| crew.work(worker.index()));
    let shared = crew
        .shared
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    match shared.failed {
        Some(error) => Err(error),
        None => Ok(shared.state),
    }
}

impl<'a, 'm, 'p> Crew<'a, 'm, 'p> {
    fn lock(&self) -> MutexGuard<'_, Shared<'a, 'm, 'p>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, index: usize) {
        let lane = format!("thread {index}");
        let _alarm = Alarm(self); // declared before the guard, so that the lock is free when it is dropped
        let mut task = Task::default();
        let mut shared = self.lock();
        while let Some(at) = self.next(&mut shared) {
            let Some((call, number)) = at else {
                shared.asleep += 1;
                shared = self
                    .wake
                    .wait(shared)
                    .unwrap_or_else(PoisonError::into_inner);
                shared.asleep -= 1;
                shared.state.clock.look();
                continue;
            };
            let started = shared.state.plan(call).and_then(|plan| {
                shared.state.start(call, number, &mut task)?;
                plan.steps
                    .get(number as usize)
                    .ok_or_else(|| DeviceError::Malformed("a step is absent".into()))
            });
            let step = match started {
                Ok(step) => step,
                Err(error) => {
                    shared.failed.get_or_insert(error);
                    continue;
                }
            };
            shared.running += 1;
            let begun = shared.state.clock.begin();
            self.wake_others(&shared);
            let traced = shared.spans.is_some();
            drop(shared);

            let began = traced.then(Instant::now);
            let done = kernel::execute(step, &mut task, self.usage);
            let took = began.map(|b| (b, b.elapsed()));

            shared = self.lock();
            shared.running -= 1;
            let s = &mut *shared;
            if let Ok(entry) = s.state.entry(call) {
                s.state.clock.end(entry, begun);
            }
            if let (Some(sink), Some((began, took))) = (s.spans.as_deref_mut(), took) {
                let of = s.state.context(call, step).unwrap_or_default();
                sink.span(&lane, step.op.mnemonic(), s.meter.since(began), took, &of);
            }
            let finished = done
                .map_err(|fault| s.state.fault(call, number, fault))
                .and_then(|()| s.state.finish(&mut task));
            if let Err(error) = finished {
                s.failed.get_or_insert(error);
            }
            if s.state.calls_done != s.calls_seen {
                s.calls_seen = s.state.calls_done;
                s.meter.tick(&s.state);
                if let Some(sink) = s.spans.as_deref_mut() {
                    let at = s.meter.since(Instant::now());
                    sink.memory(BUFFERS, at, s.state.pool.usage().live);
                }
            }
        }
        drop(shared);
        self.wake.notify_all();
    }

    /// Returns the next step to compute, `Some(None)` if the worker must wait for one, or `None` if the run is
    /// over.
    fn next(&self, shared: &mut Shared<'a, 'm, 'p>) -> Option<Option<(u64, u32)>> {
        if shared.failed.is_some() {
            return None;
        }
        if let Err(halt) = may_go_on(self.watch, self.saved) {
            shared.failed = Some(halt.into());
            return None;
        }
        let state = &mut shared.state;
        let due = shared
            .saver
            .as_mut()
            .filter(|saver| saver.is_due(self.watch));
        let mut saves = due.is_some();
        if let (Some(saver), 0, 0) = (due, state.open_calls(), shared.running) {
            saves = false;
            // A run that is stopped during a save continues to its last save, which is tried again if it fails.
            let last = self.watch.is_stopped();
            let ends = |()| {
                if last {
                    Ok(self.watch.check()?)
                } else {
                    Ok(())
                }
            };
            if let Err(error) = state.save(saver, last).and_then(ends) {
                shared.failed = Some(error);
                return None;
            }
        }
        // The open calls are finished before a save.
        while !saves
            && state.ready_steps() < self.threads
            && state.open_calls() < self.threads * CALLS_PER_THREAD
        {
            match state.open() {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) => {
                    shared.failed = Some(error);
                    return None;
                }
            }
        }
        if let Some(at) = state.pop_ready() {
            return Some(Some(at));
        }
        if shared.running > 0 {
            return Some(None);
        }
        if state.open_calls() > 0 {
            shared.failed = Some(DeviceError::Malformed(
                "its calls wait for one another".into(),
            ));
        }
        None
    }

    /// Wakes a sleeping worker for each ready step.
    fn wake_others(&self, shared: &Shared<'a, 'm, 'p>) {
        for _ in 0..shared.asleep.min(shared.state.ready_steps()) {
            self.wake.notify_one();
        }
    }
}

/// A guard that ends the run if its worker thread panics, which no step should do. Otherwise the other workers
/// would wait forever.
struct Alarm<'c, 'a, 'm, 'p>(&'c Crew<'a, 'm, 'p>);

impl Drop for Alarm<'_, '_, '_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().failed = Some(DeviceError::Malformed("a worker thread panicked".into()));
            self.0.wake.notify_all();
        }
    }
}
