// SPDX-License-Identifier: Apache-2.0
//! Saves compiled circuits for Python, and loads them.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use ringmill_circuits::circuit::choose;
use ringmill_circuits::circuit::saved::{
    self, Declared, Returned, SavedCircuit, SavedProgram, SavedSource,
};
use ringmill_limits::Watch;
use ringmill_schemes::file::FileError as Fault;

use super::builder::CircuitNetlist;
use super::compiled::{CircuitSource, LoweredCircuit};
use super::data::insecure;
use crate::errors::{self, FileError, raise};
use crate::files;
use crate::watch::interruptible;

/// An argument or a result of a circuit, for Python: its name, its type as text, and its length if it is an array.
pub type Told = (String, String, Option<u32>);

/// A loaded circuit, for Python: its name and the circuit. For a program its arguments, its results and the structure of
/// its result follow, and for a netlist the netlist.
pub type Loaded = (
    String,
    LoweredCircuit,
    Option<(Vec<Told>, Vec<Told>, &'static str)>,
    Option<CircuitNetlist>,
);

fn declared((name, of, length): Told) -> PyResult<Declared> {
    let of = of.parse().map_err(raise::<FileError, _>)?;
    Ok(Declared { name, of, length })
}

fn told(declared: &Declared) -> Told {
    let d = declared;
    (d.name.clone(), d.of.to_string(), d.length)
}

/// Returns the text of a compiled circuit. A netlist has its ports itself, and no arguments and results.
///
/// # Errors
/// Raises a Python exception if the arguments and results are not those of the circuit, or if the circuit is too long.
pub fn written(
    circuit: &LoweredCircuit,
    name: String,
    arguments: Vec<Told>,
    results: Vec<Told>,
    returned: &str,
) -> PyResult<Vec<u8>> {
    let source = match &circuit.source {
        CircuitSource::Netlist(netlist) => SavedSource::Netlist(Arc::clone(netlist)),
        CircuitSource::Program(program) => {
            let all = |told: Vec<Told>| told.into_iter().map(declared).collect::<PyResult<_>>();
            let returned = Returned::ALL.into_iter().find(|of| of.name() == returned);
            let returned = returned.ok_or_else(|| {
                FileError::new_err("a circuit returns one result, a tuple or a dict")
            })?;
            let program = Arc::clone(program);
            let made = SavedProgram::new(program, all(arguments)?, all(results)?, returned);
            SavedSource::Program(made.map_err(raise::<FileError, _>)?)
        }
    };
    let saved = SavedCircuit {
        name,
        params: Arc::clone(&circuit.params.inner),
        failure: circuit.failure,
        source,
    };
    saved::write(&saved).map_err(raise::<FileError, _>)
}

/// Reads the text of a circuit and lowers it again.
fn read(bytes: &[u8], allow: bool, watch: &Watch) -> Result<Loaded, errors::Fault> {
    let saved = saved::read(bytes, insecure(allow), watch)?;
    let sets = [Arc::clone(&saved.params)];
    let chosen = choose(saved.source(), &sets, saved.failure, watch).map_err(|e| match e {
        ringmill_circuits::circuit::CircuitError::Halt(halt) => Fault::Halt(halt),
        e => Fault::Refused(e.to_string()),
    })?;
    let (source, program, netlist) = match saved.source {
        SavedSource::Program(of) => {
            let all = |of: &[Declared]| of.iter().map(told).collect::<Vec<Told>>();
            let parts = (all(of.arguments()), all(of.results()), of.returned().name());
            let source = CircuitSource::Program(Arc::clone(of.program()));
            (source, Some(parts), None)
        }
        SavedSource::Netlist(inner) => {
            let netlist = CircuitNetlist {
                inner: Arc::clone(&inner),
            };
            (CircuitSource::Netlist(inner), None, Some(netlist))
        }
    };
    let lowered = LoweredCircuit::new(chosen, source, saved.failure);
    Ok((saved.name, lowered, program, netlist))
}

/// Loads a circuit from a file. Insecure parameters are refused unless the caller allows them.
#[pyfunction]
pub fn load_circuit(
    py: Python<'_>,
    path: PathBuf,
    allow_insecure_parameters_for_tests_only: bool,
) -> PyResult<Loaded> {
    let allow = allow_insecure_parameters_for_tests_only;
    interruptible(py, move |watch| {
        files::read(&path, watch, |bytes| read(bytes, allow, watch))
    })?
}

/// Loads a circuit from the bytes of its file.
#[pyfunction]
pub fn circuit_from_bytes(
    py: Python<'_>,
    data: PyBackedBytes,
    allow_insecure_parameters_for_tests_only: bool,
) -> PyResult<Loaded> {
    let allow = allow_insecure_parameters_for_tests_only;
    interruptible(py, move |watch| {
        files::parse(&data, watch, |bytes| read(bytes, allow, watch))
    })?
}
