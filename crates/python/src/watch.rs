// SPDX-License-Identifier: Apache-2.0
//! Runs long work for Python, within the process's memory limit, and stops it on Ctrl-C.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use ringmill_limits::{Limits, Watch};

use crate::errors::RingmillError;

/// The time between two checks for signals while work for Python runs.
const LOOK: Duration = Duration::from_millis(10);
/// The time in which the work may stop by itself after a signal. After this time it is abandoned, and its result is
/// lost.
const GRACE: Duration = Duration::from_millis(120);
/// The stack size in bytes of the thread that runs the work, as large as a main thread's.
const STACK: usize = 8 << 20;

/// The memory limit in bytes that `ringmill.limits` set, or 0 if it set none.
static MEMORY: AtomicU64 = AtomicU64::new(0);

/// Returns the memory limit that is in force: that of `ringmill.limits`, or else that of the environment.
///
/// # Errors
/// Raises `RingmillError` if the environment variable has no size.
pub fn limits() -> PyResult<Limits> {
    match MEMORY.load(Ordering::Relaxed) {
        0 => Limits::from_environment()
            .map_err(|e| RingmillError::new_err(format!("{}: {e}", Limits::VARIABLE))),
        memory => Ok(Limits { memory }),
    }
}

/// Sets the process's memory limit, if one is given, and returns the limit in force in bytes.
#[pyfunction]
fn memory_limit(text: Option<&str>) -> PyResult<u64> {
    if let Some(text) = text {
        let limits = Limits::parse(text).map_err(|e| PyValueError::new_err(e.to_string()))?;
        MEMORY.store(limits.memory, Ordering::Relaxed);
    }
    Ok(limits()?.memory)
}

/// Runs work on a thread of its own without the interpreter's lock, while the calling thread checks for signals. An
/// exception of a signal's handler (for Ctrl-C `KeyboardInterrupt`) is raised when the work has stopped, or [`GRACE`]
/// after the signal at the latest.
///
/// # Errors
/// Raises the exception of the signal's handler, `MemoryError` if no thread can be started, and fails as [`limits`] does.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Watch) -> T + Send + 'static,
) -> PyResult<T> {
    until_stopped(py, Saves(false), |_| (), work)
}

/// Whether stopped work has something to save, such as a checkpoint. If it has, the caller waits until the work has
/// saved it, as the signal's exception may end the process. A second signal abandons the work.
#[derive(Clone, Copy)]
pub struct Saves(pub bool);

/// Runs work as [`interruptible`] does, for work that may save something when it is stopped. `look` is called at each
/// check for signals.
///
/// # Errors
/// Raises the exception of the signal's handler, `MemoryError` if no thread can be started, and fails as [`limits`] does.
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
        // After an interrupt nobody waits for the result.
        let _ = done.send(work(&watched));
    });
    let worker = worker.map_err(|e| PyMemoryError::new_err(format!("no thread for it: {e}")))?;
    loop {
        // The receiver moves to the other side and back, as only one thread at a time may have it.
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
