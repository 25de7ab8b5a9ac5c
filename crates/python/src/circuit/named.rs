// SPDX-License-Identifier: Apache-2.0
//! Python's view of encrypted integers by name, which are a circuit's inputs or the outputs of its run.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use ringmill_circuits::tfhe::file::{self, RunCost};
use ringmill_circuits::tfhe::{Params, TfheError};

use super::data::{CircuitParams, EncryptedIntegers};
use super::scheme;
use crate::errors::{DataError, raise};
use crate::files;
use crate::watch::interruptible;

/// The cost of a run, for Python: seconds, bootstraps, threads.
type Cost = (f64, u64, u32);

/// Encrypted integers by name, and the cost of the run that they are the outputs of.
type Named = (Vec<(String, EncryptedIntegers)>, Option<Cost>);

/// Returns the bytes of a file of encrypted integers by name, and of the cost of their run if there is one.
#[pyfunction]
#[pyo3(signature = (integers, cost))]
pub fn named_to_bytes<'py>(
    py: Python<'py>,
    integers: Vec<(String, EncryptedIntegers)>,
    cost: Option<Cost>,
) -> PyResult<Bound<'py, PyBytes>> {
    let first = integers.first().map(|(_, of)| Arc::clone(&of.params));
    let params: Arc<Params> = first.ok_or_else(|| {
        DataError::new_err("there are no encrypted integers, whose parameters the bytes name")
    })?;
    let cost = cost.map(|(seconds, bootstraps, threads)| RunCost {
        seconds,
        bootstraps,
        threads,
    });
    let bytes = interruptible(py, move |_| {
        let all = integers.into_iter().map(|(name, of)| (name, of.inner));
        let all: Vec<_> = all.collect();
        file::write_named_integers(&params, &all, cost.as_ref())
    })?;
    let bytes = bytes.map_err(|e| match e {
        long @ TfheError::OutOfRange { .. } => raise::<DataError, _>(long),
        other => scheme(other),
    })?;
    Ok(PyBytes::new(py, &bytes))
}

/// Reads encrypted integers by name, and the cost of their run if the bytes have one.
#[pyfunction]
pub fn named_from_bytes(
    py: Python<'_>,
    data: PyBackedBytes,
    params: &CircuitParams,
) -> PyResult<Named> {
    let params = Arc::clone(&params.inner);
    interruptible(py, move |watch| {
        let read = |bytes: &[u8]| file::read_named_integers(bytes, &params, watch);
        let (found, cost) = files::parse(&data, watch, read)?;
        let found = found.into_iter();
        let found = found.map(|(name, of)| (name, EncryptedIntegers::new(of, &params)));
        let cost = cost.map(|of| (of.seconds, of.bootstraps, of.threads));
        Ok((found.collect(), cost))
    })?
}
