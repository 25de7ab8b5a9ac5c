// SPDX-License-Identifier: Apache-2.0
//! Python's view of circuits on encrypted integers under TFHE: tracing, compiling, running.

mod builder;
mod client;
mod compiled;
mod data;
mod named;
mod saved;

use pyo3::prelude::*;

use crate::errors::{
    CompileError, DataError, DeviceError, FileError, KeysError, ParameterError, raise,
};
use ringmill_circuits::BootstrapError;
use ringmill_circuits::circuit::CircuitError;
use ringmill_circuits::run::CircuitRunError;
use ringmill_circuits::tfhe::TfheError;
use ringmill_limits::Watch;

/// Returns the Python exception for an error of building a circuit. The Python side knows the source line and adds it.
fn refused(error: CircuitError) -> PyErr {
    match error {
        CircuitError::Noise { .. }
        | CircuitError::Fails { .. }
        | CircuitError::Unreliable { .. }
        | CircuitError::Messages { .. } => raise::<ParameterError, _>(error),
        _ => raise::<CompileError, _>(error),
    }
}

/// Returns the Python exception for an error of the TFHE scheme.
fn scheme(error: TfheError) -> PyErr {
    match error {
        TfheError::OtherKeys(_)
        | TfheError::OtherParams { .. }
        | TfheError::WrongKey { .. }
        | TfheError::HeavyKey => raise::<KeysError, _>(error),
        TfheError::Message { .. } => raise::<DataError, _>(error),
        _ => raise::<ParameterError, _>(error),
    }
}

/// Returns the Python exception for an error of a circuit's run.
fn stopped(error: CircuitRunError) -> PyErr {
    match error {
        CircuitRunError::Tfhe(error) => scheme(error),
        CircuitRunError::Circuit(error) => refused(error),
        error @ CircuitRunError::OtherBasis { .. } => raise::<KeysError, _>(error),
        CircuitRunError::Bootstrap(BootstrapError::Device(error)) => raise::<DeviceError, _>(error),
        CircuitRunError::Checkpoint(error) => raise::<FileError, _>(error),
        error => raise::<DataError, _>(error),
    }
}

/// Raises an exception if `bytes` more bytes exceed the memory limit. `what` names their use.
fn admitted(watch: &Watch, what: &str, bytes: u64) -> PyResult<()> {
    let admitted = watch.admit(what, bytes);
    admitted.map_err(|halt| stopped(halt.into()))
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<builder::CircuitBuilder>()?;
    m.add_class::<builder::CircuitProgram>()?;
    m.add_class::<builder::CircuitNetlist>()?;
    m.add_class::<compiled::LoweredCircuit>()?;
    m.add_class::<client::CircuitKeys>()?;
    m.add_class::<data::CircuitParams>()?;
    m.add_class::<data::CircuitEvaluationKeys>()?;
    m.add_class::<data::EncryptedIntegers>()?;
    m.add_function(wrap_pyfunction!(saved::load_circuit, m)?)?;
    m.add_function(wrap_pyfunction!(saved::circuit_from_bytes, m)?)?;
    m.add_function(wrap_pyfunction!(named::named_to_bytes, m)?)?;
    m.add_function(wrap_pyfunction!(named::named_from_bytes, m)?)?;
    m.add_function(wrap_pyfunction!(data::circuit_params, m)?)?;
    m.add_function(wrap_pyfunction!(data::circuit_sets, m)?)
}
