// SPDX-License-Identifier: Apache-2.0
//! Python's view of programs on encrypted integers: traced ones, and netlists.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use ringmill_circuits::circuit::netlist::{self, Netlist, NetlistPort};
use ringmill_circuits::circuit::program::{Binary, Comparison, Shift};
use ringmill_circuits::circuit::{CircuitError, Program, ProgramBuilder, Type, Value};

use super::compiled::{CircuitSource, LoweredCircuit};
use super::data::CircuitParams;
use super::refused;
use crate::errors::{CompileError, DataError};
use crate::files;
use crate::watch::interruptible;

/// Collects the operations of a program on integers while Python traces it. A value of the program is known by its
/// number. The type of a value is a pair: its bits, and whether it is signed.
#[pyclass(frozen, module = "ringmill")]
pub struct CircuitBuilder {
    /// The builder of the program, or `None` once the program is finished.
    inner: Mutex<Option<ProgramBuilder>>,
}

type Kind = (u32, bool);

fn kind((bits, signed): Kind) -> PyResult<Type> {
    Type::new(bits, signed).map_err(refused)
}

/// Returns the operation with this name among `all`, or `None` if there is none.
fn named<T: Copy>(all: &[T], of: impl Fn(T) -> &'static str, name: &str) -> Option<T> {
    all.iter().copied().find(|&op| of(op) == name)
}

fn shift(name: &str) -> PyResult<Shift> {
    named(&Shift::ALL, Shift::name, name).ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> PyErr {
    CompileError::new_err(format!("there is no operation `{name}`"))
}

impl CircuitBuilder {
    fn with<T>(
        &self,
        f: impl FnOnce(&mut ProgramBuilder) -> Result<T, CircuitError>,
    ) -> PyResult<T> {
        let mut held = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let builder = held
            .as_mut()
            .ok_or_else(|| CompileError::new_err("the program is finished"))?;
        f(builder).map_err(refused)
    }
}

#[pymethods]
impl CircuitBuilder {
    #[new]
    fn new() -> Self {
        Self {
            inner: Mutex::new(Some(ProgramBuilder::new())),
        }
    }

    fn input(&self, name: &str, of: Kind) -> PyResult<u32> {
        let of = kind(of)?;
        self.with(|b| Ok(b.input(name, of).0))
    }

    fn constant(&self, value: i128, of: Kind) -> PyResult<u32> {
        let of = kind(of)?;
        self.with(|b| Ok(b.constant(value, of)?.0))
    }

    /// Adds an operation of two integers of one type, or a comparison. Returns the number of the resulting value.
    fn binary(&self, name: &str, a: u32, b: u32) -> PyResult<u32> {
        let (x, y) = (Value(a), Value(b));
        if let Some(op) = named(&Binary::ALL, Binary::name, name) {
            return self.with(|b| Ok(b.binary(op, x, y)?.0));
        }
        let op = named(&Comparison::ALL, Comparison::name, name).ok_or_else(|| unknown(name))?;
        self.with(|b| Ok(b.compare(op, x, y)?.0))
    }

    fn invert(&self, a: u32) -> PyResult<u32> {
        self.with(|b| Ok(b.not(Value(a))?.0))
    }

    fn shift_by(&self, name: &str, a: u32, by: u32) -> PyResult<u32> {
        let shift = shift(name)?;
        self.with(|b| Ok(b.shift_by(shift, Value(a), by)?.0))
    }

    fn shift(&self, name: &str, a: u32, by: u32) -> PyResult<u32> {
        let shift = shift(name)?;
        self.with(|b| Ok(b.shift(shift, Value(a), Value(by))?.0))
    }

    fn select(&self, bit: u32, a: u32, b: u32) -> PyResult<u32> {
        let (bit, x, y) = (Value(bit), Value(a), Value(b));
        self.with(|b| Ok(b.select(bit, x, y)?.0))
    }

    fn sum(&self, terms: Vec<u32>) -> PyResult<u32> {
        let terms: Vec<Value> = terms.into_iter().map(Value).collect();
        self.with(|b| Ok(b.sum(&terms)?.0))
    }

    fn table(&self, index: u32, entries: Vec<i128>, of: Kind) -> PyResult<u32> {
        let of = kind(of)?;
        self.with(|b| Ok(b.table(Value(index), &entries, of)?.0))
    }

    fn convert(&self, a: u32, of: Kind) -> PyResult<u32> {
        let of = kind(of)?;
        self.with(|b| Ok(b.convert(Value(a), of)?.0))
    }

    fn output(&self, name: &str, value: u32) -> PyResult<()> {
        self.with(|b| b.output(name, Value(value)))
    }

    fn finish(&self) -> PyResult<CircuitProgram> {
        let mut held = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let builder = held.take();
        let builder = builder.ok_or_else(|| CompileError::new_err("the program is finished"))?;
        Ok(CircuitProgram {
            inner: Arc::new(builder.finish()),
        })
    }
}

/// A netlist of gates that was read from a file.
#[pyclass(frozen, module = "ringmill")]
pub struct CircuitNetlist {
    pub inner: Arc<Netlist>,
}

#[pymethods]
impl CircuitNetlist {
    /// Reads a netlist from a file: Yosys' JSON if the file begins with a brace, else BLIF.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let inner = interruptible(py, move |watch| {
            files::read(&path, watch, |bytes| netlist::read(bytes, watch))
        })??;
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// For each input and each output of the netlist: its name, the number of bits of each of its words, and a flag. An
    /// input's flag says whether an output depends on it.
    #[getter]
    fn ports(&self) -> [Vec<(String, Vec<u32>, bool)>; 2] {
        let told = |port: &NetlistPort| (port.name.clone(), port.words(), port.used);
        self.inner
            .ports()
            .map(|ports| ports.iter().map(told).collect())
    }

    fn evaluate(&self, inputs: Vec<u64>) -> PyResult<Vec<u64>> {
        self.inner.evaluate(&inputs).map_err(refused)
    }

    #[pyo3(signature = (params, failure))]
    fn compile(
        &self,
        py: Python<'_>,
        params: Option<&CircuitParams>,
        failure: f64,
    ) -> PyResult<LoweredCircuit> {
        let netlist = Arc::clone(&self.inner);
        LoweredCircuit::of(py, params, CircuitSource::Netlist(netlist), failure)
    }
}

/// A program on encrypted integers, as Python traced it.
#[pyclass(frozen, module = "ringmill")]
pub struct CircuitProgram {
    inner: Arc<Program>,
}

#[pymethods]
impl CircuitProgram {
    /// Computes the outputs of the program without encryption. Each input must be a value of the type that the program
    /// gives it.
    fn evaluate(&self, inputs: Vec<i128>) -> PyResult<Vec<i128>> {
        let kinds: Vec<(String, Type)> = (self.inner.inputs())
            .map(|(name, kind)| (name.to_owned(), kind))
            .collect();
        let mut bits = Vec::with_capacity(inputs.len());
        for ((name, kind), value) in kinds.iter().zip(&inputs) {
            let out_of_range =
                || DataError::new_err(format!("{name} is {value}, expected a value of {kind}"));
            bits.push(kind.write(*value).ok_or_else(out_of_range)?);
        }
        let found = self.inner.evaluate(&bits).map_err(refused)?;
        let outputs = self.inner.outputs().iter().zip(found);
        Ok(outputs
            .map(|((_, value), bits)| self.inner.kind(*value).read(bits))
            .collect())
    }

    /// Compiles the program to a circuit for these parameters, or without parameters for the set with the least work.
    /// Each bootstrap fails with a probability of at most 2^`failure`.
    #[pyo3(signature = (params, failure))]
    fn compile(
        &self,
        py: Python<'_>,
        params: Option<&CircuitParams>,
        failure: f64,
    ) -> PyResult<LoweredCircuit> {
        let program = Arc::clone(&self.inner);
        LoweredCircuit::of(py, params, CircuitSource::Program(program), failure)
    }
}
