// SPDX-License-Identifier: Apache-2.0
//! Long work under the process's limits, stopped by Ctrl-C.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use ringmill_limits::{Limits, Watch};

use crate::errors::RingmillError;

/// Between two looks for signals.
const LOOK: Duration = Duration::from_millis(10);
/// What the work has, from a signal on, to stop by itself; after that it is left behind, and its result with it.
const GRACE: Duration = Duration::from_millis(120);
/// The work's stack: as large as a main thread's.
const STACK: usize = 8 << 20;

/// What `ringmill.limits` set, in bytes; 0 where it set nothing.
static MEMORY: AtomicU64 = AtomicU64::new(0);

/// The limits that hold now.
pub fn limits() -> PyResult<Limits> {
    match MEMORY.load(Ordering::Relaxed) {
        0 => Limits::from_environment()
            .map_err(|e| RingmillError::new_err(format!("{}: {e}", Limits::VARIABLE))),
        memory => Ok(Limits { memory }),
    }
}

/// Sets the memory limit, if one is given, and gives the one that holds.
#[pyfunction]
fn memory_limit(text: Option<&str>) -> PyResult<u64> {
    if let Some(text) = text {
        let limits = Limits::parse(text).map_err(|e| PyValueError::new_err(e.to_string()))?;
        MEMORY.store(limits.memory, Ordering::Relaxed);
    }
    Ok(limits()?.memory)
}

/// Does work on a thread of its own, without the interpreter, while this one looks for signals: what a signal's handler
/// raises (Ctrl-C: `KeyboardInterrupt`) is raised at once.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Watch) -> T + Send + 'static,
) -> PyResult<T> {
    until_stopped(py, Saves(false), |_| (), work)
}

/// Whether work that is stopped has something to save: it is waited for then, as the process may end with what is raised. A
/// second signal leaves it behind.
#[derive(Clone, Copy)]
pub struct Saves(pub bool);

/// The same for work that may have something to save when it is stopped. `look` is called at each look for signals.
pub fn until_stopped<T: Send + 'static>(
    py: Python<'_>,
    saves: Saves,
    look: impl Fn(Python<'_>),
    work: impl FnOnce(&Watch) -> T + Send + 'static,
) -> PyResult<T> {
    let watch = Watch::new(limits()?);
    let (done, mut result) = sync_channel(1);
    let watched = watch.clone();
    let worker = thread::Builder::new().stack_size(STACK).spawn(move || {
        // Nobody waits any more after an interrupt.
        let _ = done.send(work(&watched));
    });
    let worker = worker.map_err(|e| PyMemoryError::new_err(format!("no thread for it: {e}")))?;
    loop {
        // The receiver goes to the other side and back: it is one thread's at a time.
        let (got, back) = py.detach(move || (result.recv_timeout(LOOK), result));
        result = back;
        match got {
            Ok(value) => return Ok(value),
            Err(RecvTimeoutError::Timeout) => {
                look(py);
                if let Err(raised) = py.check_signals() {
                    watch.stop();
                    let stopped = Instant::now();
                    while saves.0 || stopped.elapsed() < GRACE {
                        let (got, back) = py.detach(move || (result.recv_timeout(LOOK), result));
                        result = back;
                        let waits = matches!(got, Err(RecvTimeoutError::Timeout));
                        if !waits || (saves.0 && py.check_signals().is_err()) {
                            break;
                        }
                    }
                    return Err(raised);
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                if let Err(panic) = worker.join() {
                    std::panic::resume_unwind(panic);
                }
                return Err(PyMemoryError::new_err("the work ended without a result"));
            }
        }
    }
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(memory_limit, m)?)
}
