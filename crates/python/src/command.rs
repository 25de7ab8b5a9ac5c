// SPDX-License-Identifier: Apache-2.0
//! The `ringmill` command as a Python function, for the script that the package installs.

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use ringmill_cli::{Trace, TracedFile, Untraced};
use ringmill_compiler::arrays::Lengths;
use ringmill_limits::Watch;

use crate::watch::{Saves, until_stopped};

/// Runs the `ringmill` command and returns its exit status. The Python function `trace` traces a program in a Python
/// file. Its arguments are the file's path, the requested slots and scheme, and whether the output is JSON. It returns
/// macro text, the ranges of inputs whose types set them, and the lengths of the inputs and of the outputs. A length is
/// `None` if the values fill all slots.
#[pyfunction]
fn cli_main(py: Python<'_>, arguments: Vec<OsString>, trace: Py<PyAny>) -> PyResult<u8> {
    let told = Arc::new(AtomicBool::new(false));
    let said = Arc::clone(&told);
    let keeps = |argument: &OsString| argument.to_string_lossy().starts_with("--checkpoint");
    let saves = Saves(arguments.iter().any(keeps));
    let work = move |watch: &Watch| {
        let traced = |asked: Trace<'_>| {
            Python::attach(|py| {
                let asked = (asked.program, asked.slots, asked.scheme, asked.json);
                let told = trace.call1(py, asked);
                let told = told.and_then(|told| told.extract::<(String, Vec<_>, _, _)>(py));
                let told = told.map(|(text, ends, inputs, outputs)| TracedFile {
                    text,
                    ends,
                    lengths: Lengths { inputs, outputs },
                });
                told.map_err(|error| {
                    if error.is_instance_of::<PyKeyboardInterrupt>(py) {
                        Untraced::Interrupted
                    } else {
                        Untraced::Raised(error.value(py).to_string())
                    }
                })
            })
        };
        ringmill_cli::main(arguments, Some(&traced), watch.flag(), &said)
    };
    match until_stopped(py, saves, |_| (), work) {
        Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => {
            // Work that stopped in time has reported it, together with what it saved.
            if !told.swap(true, Ordering::AcqRel) {
                eprintln!("ringmill: interrupted");
            }
            Ok(ringmill_cli::INTERRUPTED)
        }
        done => done,
    }
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(cli_main, m)?)
}
