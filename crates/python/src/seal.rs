// SPDX-License-Identifier: Apache-2.0
//! Computes on Microsoft SEAL's files for Python, from bytes to bytes.

mod client;
mod evaluation;
mod evaluator;
mod exact;
mod keyring;
mod refusal;
mod side;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use ringmill_limits::Watch;

use crate::watch::interruptible;
use client::SealClient;
use evaluator::SealEvaluator;
use exact::{SealBfvClient, SealBfvEvaluator, SealBgvClient, SealBgvEvaluator};

/// The bytes of a file in SEAL's format, as a Python object.
type Bytes<'py> = PyResult<Bound<'py, PyBytes>>;

/// Runs the function `work` without the interpreter's lock. It reads bytes in SEAL's format, computes, and writes the
/// result. A signal is raised as an exception within a fraction of a second, however long the work takes.
fn made<'py, T: AsRef<[u8]> + Send + 'static>(
    py: Python<'py>,
    work: impl FnOnce(&Watch) -> PyResult<T> + Send + 'static,
) -> Bytes<'py> {
    let bytes = interruptible(py, work)??;
    Ok(PyBytes::new(py, bytes.as_ref()))
}

/// Adds the submodule `seal` to the extension module.
///
/// # Errors
/// Raises Python's exception if the submodule cannot be added.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let seal = PyModule::new(m.py(), "seal")?;
    seal.add_class::<SealEvaluator>()?;
    seal.add_class::<SealClient>()?;
    seal.add_class::<SealBfvEvaluator>()?;
    seal.add_class::<SealBfvClient>()?;
    seal.add_class::<SealBgvEvaluator>()?;
    seal.add_class::<SealBgvClient>()?;
    m.add_submodule(&seal)
}
