//! Macro programs: built by the tracer, written and read as text, evaluated in the clear.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use num_complex::Complex64;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use ringmill_compiler::builder::{MAX_SLOTS, TraceBuilder, TraceError, Traced};
use ringmill_isa::macros::{MacroProgram, Visibility, text};
use ringmill_isa::source::SourceLoc;
use ringmill_limits::Watch;

use crate::errors::{CompileError, DataError, Fault, FileError, raise, traced};
use crate::files;
use crate::watch::limits;

/// A macro program under construction; values are numbers counted from 0.
#[pyclass]
struct MacroBuilder {
    trace: Option<TraceBuilder>,
    values: Vec<Traced>,
    files: HashMap<String, Arc<str>>,
}

impl MacroBuilder {
    fn location(&mut self, file: &str, line: u32) -> Option<SourceLoc> {
        let name = self
            .files
            .entry(file.to_owned())
            .or_insert_with(|| Arc::from(file));
        Some(SourceLoc {
            file: Arc::clone(name),
            line,
        })
    }

    fn trace(&mut self) -> PyResult<&mut TraceBuilder> {
        self.trace.as_mut().ok_or_else(|| {
            CompileError::new_err("the program is finished; nothing can be added to it")
        })
    }

    fn value(&self, id: usize) -> PyResult<Traced> {
        self.values
            .get(id)
            .copied()
            .ok_or_else(|| CompileError::new_err(format!("value {id} does not exist")))
    }

    /// One operation of the trace at the user's line.
    fn record(
        &mut self,
        file: &str,
        line: u32,
        operation: impl FnOnce(&mut TraceBuilder, Option<SourceLoc>) -> Result<Traced, TraceError>,
    ) -> PyResult<usize> {
        let loc = self.location(file, line);
        let value = operation(self.trace()?, loc).map_err(traced)?;
        self.values.push(value);
        Ok(self.values.len() - 1)
    }
}

#[pymethods]
impl MacroBuilder {
    #[new]
    fn new(name: &str, slots: u32) -> PyResult<Self> {
        let trace = TraceBuilder::new(name, slots).map_err(traced)?;
        Ok(Self {
            trace: Some(trace),
            values: Vec::new(),
            files: HashMap::new(),
        })
    }

    /// An input of the program.
    fn input(&mut self, name: &str, encrypted: bool, file: &str, line: u32) -> PyResult<usize> {
        let visibility = if encrypted {
            Visibility::Encrypted
        } else {
            Visibility::Plain
        };
        self.record(file, line, |trace, loc| trace.input(name, visibility, loc))
    }

    /// A constant vector of as many values as the program has slots.
    fn vector(
        &mut self,
        values: PyReadonlyArray1<'_, Complex64>,
        file: &str,
        line: u32,
    ) -> PyResult<usize> {
        let values = values.as_array().iter().map(|z| (z.re, z.im)).collect();
        self.record(file, line, |trace, loc| trace.vector(values, loc))
    }

    /// A real constant in every slot.
    fn scalar(&mut self, value: f64, file: &str, line: u32) -> PyResult<usize> {
        self.record(file, line, |trace, loc| trace.scalar(value, loc))
    }

    fn add(&mut self, a: usize, b: usize, file: &str, line: u32) -> PyResult<usize> {
        let (a, b) = (self.value(a)?, self.value(b)?);
        self.record(file, line, |trace, loc| trace.add(a, b, loc))
    }

    fn sub(&mut self, a: usize, b: usize, file: &str, line: u32) -> PyResult<usize> {
        let (a, b) = (self.value(a)?, self.value(b)?);
        self.record(file, line, |trace, loc| trace.sub(a, b, loc))
    }

    fn mul(&mut self, a: usize, b: usize, file: &str, line: u32) -> PyResult<usize> {
        let (a, b) = (self.value(a)?, self.value(b)?);
        self.record(file, line, |trace, loc| {
            if a == b {
                trace.square(a, loc)
            } else {
                trace.mul(a, b, loc)
            }
        })
    }

    fn neg(&mut self, a: usize, file: &str, line: u32) -> PyResult<usize> {
        let a = self.value(a)?;
        self.record(file, line, |trace, loc| trace.neg(a, loc))
    }

    fn conj(&mut self, a: usize, file: &str, line: u32) -> PyResult<usize> {
        let a = self.value(a)?;
        self.record(file, line, |trace, loc| trace.conj(a, loc))
    }

    /// Rotation to the left by `steps` slots.
    fn rotate(&mut self, a: usize, steps: i64, file: &str, line: u32) -> PyResult<usize> {
        let a = self.value(a)?;
        self.record(file, line, |trace, loc| trace.rotate(a, steps, loc))
    }

    /// A polynomial of `a`, coefficients lowest degree first.
    fn polynomial(
        &mut self,
        a: usize,
        coefficients: Vec<f64>,
        file: &str,
        line: u32,
    ) -> PyResult<usize> {
        let a = self.value(a)?;
        self.record(file, line, |trace, loc| {
            trace.polynomial(a, &coefficients, loc)
        })
    }

    /// Names a value as an output of the program.
    fn output(&mut self, name: &str, value: usize, file: &str, line: u32) -> PyResult<()> {
        let value = self.value(value)?;
        let loc = self.location(file, line);
        self.trace()?.output(name, value, loc).map_err(traced)
    }

    /// The finished program; nothing can be added afterwards.
    fn finish(&mut self) -> PyResult<Program> {
        self.trace()?;
        match self.trace.take() {
            Some(trace) => Ok(Program {
                inner: trace.finish(),
            }),
            None => Err(CompileError::new_err("the program is finished already")),
        }
    }
}

/// A program on ciphertexts, as traced: levels and scales are the compiler's business.
#[pyclass(name = "MacroProgram", frozen, module = "ringmill")]
pub struct Program {
    pub inner: MacroProgram,
}

#[pymethods]
impl Program {
    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    #[getter]
    fn slots(&self) -> u32 {
        self.inner.slots
    }

    /// Names of the inputs, each with whether it arrives encrypted.
    #[getter]
    fn inputs(&self) -> Vec<(String, bool)> {
        self.inner
            .inputs
            .iter()
            .map(|i| (i.name.clone(), i.visibility == Visibility::Encrypted))
            .collect()
    }

    #[getter]
    fn outputs(&self) -> Vec<String> {
        self.inner.outputs.clone()
    }

    /// Reads a file of macro text.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let inner = py.detach(|| {
            let watch = Watch::new(limits()?);
            files::read(&path, |bytes| parse(std::str::from_utf8(bytes)?, &watch))
        })?;
        Ok(Self { inner })
    }

    /// The program as macro text.
    fn to_text(&self) -> String {
        text::print(&self.inner)
    }

    /// Reads macro text; raises FileError with the line at fault.
    #[staticmethod]
    fn from_text(text: &str) -> PyResult<Self> {
        let inner = parse(text, &Watch::new(limits()?)).map_err(raise::<FileError, _>)?;
        Ok(Self { inner })
    }
}

/// Parses macro text, if there may be memory for it.
fn parse(text: &str, watch: &Watch) -> Result<MacroProgram, Fault> {
    watch.admit("the program", text::memory_for(text))?;
    Ok(text::parse(text)?)
}

/// The outputs of a program computed in the clear, by name.
#[pyfunction]
fn evaluate_program<'py>(
    py: Python<'py>,
    program: &Program,
    inputs: Vec<PyReadonlyArray1<'py, Complex64>>,
) -> PyResult<HashMap<String, Bound<'py, PyArray1<Complex64>>>> {
    let inputs: Vec<Vec<Complex64>> = inputs.iter().map(|v| v.as_array().to_vec()).collect();
    let outputs = py
        .detach(|| ringmill_compiler::reference::evaluate(&program.inner, &inputs))
        .map_err(raise::<DataError, _>)?;
    Ok(program
        .inner
        .outputs
        .iter()
        .cloned()
        .zip(outputs.into_iter().map(|v| PyArray1::from_vec(py, v)))
        .collect())
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("MAX_SLOTS", MAX_SLOTS)?;
    m.add_class::<MacroBuilder>()?;
    m.add_class::<Program>()?;
    m.add_function(wrap_pyfunction!(evaluate_program, m)?)
}
