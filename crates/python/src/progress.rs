// SPDX-License-Identifier: Apache-2.0
//! Shows the progress of long work to a Python user: a bar on a terminal, or calls of a Python function, as in a
//! notebook.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use ringmill_device::progress::{Progress, Step};
use ringmill_runtime::shown::{Bar, is_long};

/// The way in which Python asks for progress to be shown.
#[derive(FromPyObject)]
pub enum Asked {
    /// A bar on standard error if that is a terminal. With `false`, nothing is shown.
    Bar(bool),
    /// A Python function to call now and then with the latest step of long work. Steps between two calls are skipped.
    /// Its arguments are the stage of the work, the finished parts and all parts, the seconds that passed, and an
    /// estimate of the seconds that are left, or None. A part is mostly a call of a procedure, or in a circuit a
    /// bootstrap.
    Function(Py<PyAny>),
}

/// A display of the progress of long work.
pub enum Shown {
    Bar(Bar),
    /// The Python function to call, and the latest step of the work. The run's threads store the step, and the thread
    /// that holds the interpreter's lock calls the function.
    Function(Py<PyAny>, Mutex<Option<Step>>),
}

impl Shown {
    /// Calls the Python function with the latest step, if there is a function and a new step. An exception in the
    /// function is printed.
    pub fn look(&self, py: Python<'_>) {
        let Self::Function(function, latest) = self else {
            return;
        };
        let latest = latest.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(step) = latest.filter(is_long) else {
            return;
        };
        let left = step.remaining.map(|time| time.as_secs_f64());
        let elapsed = step.elapsed.as_secs_f64();
        let told = function.call1(py, (step.stage, step.done, step.total, elapsed, left));
        if let Err(error) = told {
            error.write_unraisable(py, None);
        }
    }
}

impl From<Asked> for Shown {
    fn from(asked: Asked) -> Self {
        match asked {
            Asked::Bar(true) => Self::Bar(Bar::new()),
            Asked::Bar(false) => Self::Bar(Bar::none()),
            Asked::Function(function) => Self::Function(function, Mutex::default()),
        }
    }
}

impl Progress for Shown {
    fn step(&self, step: Step) {
        match self {
            Self::Bar(bar) => bar.step(step),
            Self::Function(_, latest) => {
                *latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(step);
            }
        }
    }

    fn told(&self, text: &str) {
        match self {
            Self::Bar(bar) => bar.told(text),
            Self::Function(..) => eprintln!("{text}"),
        }
    }
}
