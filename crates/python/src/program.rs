// SPDX-License-Identifier: Apache-2.0
//! Python's view of macro programs. The tracer builds them, files hold them as text, and they can be evaluated without
//! encryption.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use num_complex::Complex64;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use ringmill_compiler::arrays::{Arrays, Lengths, Returned};
use ringmill_compiler::builder::{
    MAX_SLOTS, Power, Procedure, TraceBuilder, TraceError, Traced, Unary,
};
use ringmill_compiler::{Compiles, Values, saved};
use ringmill_isa::macros::{Interval, MacroProgram, SchemeName, Visibility, text};
use ringmill_isa::source::SourceLoc;
use ringmill_limits::Watch;
use ringmill_runtime::{Known, with_scheme};

use crate::errors::{CompileError, DataError, Fault, FileError, raise, traced};
use crate::files;
use crate::scheme::{Vector, into_array, unknown};
use crate::watch::interruptible;

/// A macro program that Python's tracer builds. A value of the program is known by its number, counted from 0.
#[pyclass]
struct MacroBuilder {
    trace: Option<TraceBuilder>,
    scheme: SchemeName,
    values: Vec<Traced>,
    procedures: Vec<Procedure>,
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

    fn all(&self, ids: &[usize]) -> PyResult<Vec<Traced>> {
        ids.iter().map(|&id| self.value(id)).collect()
    }

    fn procedure(&self, number: usize) -> PyResult<Procedure> {
        let known = self.procedures.get(number).cloned();
        known.ok_or_else(|| CompileError::new_err(format!("procedure {number} does not exist")))
    }

    /// Stores values that an operation has made, and returns their numbers.
    fn keep(&mut self, values: Vec<Traced>) -> Vec<usize> {
        let first = self.values.len();
        self.values.extend(values);
        (first..self.values.len()).collect()
    }

    /// Adds one operation to the program, marked with the user's source line.
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
    /// Begins a program of the named scheme, on vectors of `slots` slots. The program's text will name the scheme.
    #[new]
    fn new(name: &str, slots: u32, scheme: &str) -> PyResult<Self> {
        let trace = TraceBuilder::new(name, slots).map_err(traced)?;
        let scheme = SchemeName::new(scheme).ok_or_else(|| {
            CompileError::new_err(format!("{scheme:?} cannot be the name of a scheme"))
        })?;
        Ok(Self {
            trace: Some(trace),
            scheme,
            values: Vec::new(),
            procedures: Vec::new(),
            files: HashMap::new(),
        })
    }

    /// Adds a named input of the program, encrypted or plain, and returns its number.
    fn input(&mut self, name: &str, encrypted: bool, file: &str, line: u32) -> PyResult<usize> {
        let visibility = if encrypted {
            Visibility::Encrypted
        } else {
            Visibility::Plain
        };
        self.record(file, line, |trace, loc| trace.input(name, visibility, loc))
    }

    /// Adds a constant vector, with one value for each slot of the program.
    fn vector(
        &mut self,
        values: PyReadonlyArray1<'_, Complex64>,
        file: &str,
        line: u32,
    ) -> PyResult<usize> {
        let values = values.as_array().iter().map(|z| (z.re, z.im)).collect();
        self.record(file, line, |trace, loc| trace.vector(values, loc))
    }

    /// Adds a constant vector with one real value in every slot.
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

    /// Adds an operation on one value, by the operation's name.
    fn unary(&mut self, name: &str, a: usize, file: &str, line: u32) -> PyResult<usize> {
        let unary = Unary::by_name(name)
            .ok_or_else(|| CompileError::new_err(format!("there is no operation {name:?}")))?;
        let a = self.value(a)?;
        self.record(file, line, |trace, loc| trace.unary(unary, a, loc))
    }

    /// Adds the operation that takes the lowest digit of `a` modulo prime^exponent.
    fn low_digit(
        &mut self,
        a: usize,
        prime: u64,
        exponent: u32,
        file: &str,
        line: u32,
    ) -> PyResult<usize> {
        let (a, power) = (self.value(a)?, Power { prime, exponent });
        self.record(file, line, |trace, loc| trace.low_digit(a, power, loc))
    }

    /// Adds the operation that takes a function of the lowest digit of `a` modulo prime^exponent. The vector `values`
    /// has the function's values at all digits, from the digit -(prime - 1) / 2 on.
    fn digit_table(
        &mut self,
        a: usize,
        prime: u64,
        exponent: u32,
        values: Vec<i64>,
        file: &str,
        line: u32,
    ) -> PyResult<usize> {
        let (a, power) = (self.value(a)?, Power { prime, exponent });
        self.record(file, line, |trace, loc| {
            trace.digit_table(a, power, &values, loc)
        })
    }

    /// Adds the operation that takes the sign of `a` in each slot. `a` is a number of `digits` digits to the base
    /// `prime`, and slots are modulo prime^exponent.
    fn sign(
        &mut self,
        a: usize,
        prime: u64,
        exponent: u32,
        digits: u32,
        file: &str,
        line: u32,
    ) -> PyResult<usize> {
        let (a, power) = (self.value(a)?, Power { prime, exponent });
        self.record(file, line, |trace, loc| trace.sign(a, power, digits, loc))
    }

    /// Adds the division of `a` by prime^by, rounded to nearest. `a` is a number of `digits` digits to the base
    /// `prime`, and slots are modulo prime^exponent.
    #[expect(clippy::too_many_arguments, reason = "Python's")]
    fn scaled(
        &mut self,
        a: usize,
        prime: u64,
        exponent: u32,
        by: u32,
        digits: u32,
        file: &str,
        line: u32,
    ) -> PyResult<usize> {
        let (a, power) = (self.value(a)?, Power { prime, exponent });
        self.record(file, line, |trace, loc| {
            trace.scaled(a, power, by, digits, loc)
        })
    }

    /// Adds the division of `a` by a whole number. `a` must be a multiple of the number.
    fn quotient(&mut self, a: usize, by: u64, file: &str, line: u32) -> PyResult<usize> {
        let a = self.value(a)?;
        self.record(file, line, |trace, loc| trace.quotient(a, by, loc))
    }

    /// Adds a rotation to the left by `steps` slots.
    fn rotate(&mut self, a: usize, steps: i64, file: &str, line: u32) -> PyResult<usize> {
        let a = self.value(a)?;
        self.record(file, line, |trace, loc| trace.rotate(a, steps, loc))
    }

    /// Adds the user's statement that `a` is real and lies between `lowest` and `highest`. Returns the value with this
    /// range.
    fn bounded(
        &mut self,
        a: usize,
        lowest: f64,
        highest: f64,
        file: &str,
        line: u32,
    ) -> PyResult<usize> {
        let (a, interval) = (self.value(a)?, Interval { lowest, highest });
        self.record(file, line, |trace, loc| trace.bounded(a, interval, loc))
    }

    /// Adds the evaluation of a polynomial at `a`. The coefficients begin with the lowest degree.
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

    /// Adds the evaluation of a Chebyshev series at `a`. The coefficients begin with the lowest degree, and the domain
    /// is from `lowest` to `highest`.
    fn chebyshev(
        &mut self,
        a: usize,
        coefficients: Vec<f64>,
        lowest: f64,
        highest: f64,
        file: &str,
        line: u32,
    ) -> PyResult<usize> {
        let (a, domain) = (self.value(a)?, Interval { lowest, highest });
        self.record(file, line, |trace, loc| {
            trace.chebyshev(a, &coefficients, domain, loc)
        })
    }

    /// Begins a procedure of the program. Returns its parameters; the caller says which arrive encrypted.
    fn begin_procedure(
        &mut self,
        name: &str,
        encrypted: Vec<bool>,
        file: &str,
        line: u32,
    ) -> PyResult<Vec<usize>> {
        let loc = self.location(file, line);
        let kind = |&encrypted: &bool| match encrypted {
            true => Visibility::Encrypted,
            false => Visibility::Plain,
        };
        let kinds: Vec<Visibility> = encrypted.iter().map(kind).collect();
        let params = self.trace()?.begin_procedure(name, &kinds, loc);
        Ok(self.keep(params.map_err(traced)?))
    }

    /// Begins the body of a repeat that carries `carried` encrypted values from one iteration to the next. Returns the
    /// body's parameters.
    fn begin_body(
        &mut self,
        name: &str,
        carried: usize,
        file: &str,
        line: u32,
    ) -> PyResult<Vec<usize>> {
        let loc = self.location(file, line);
        let params = self.trace()?.begin_body(name, carried, loc);
        Ok(self.keep(params.map_err(traced)?))
    }

    /// Drops the procedure or the repeat's body that was begun last and is not ended.
    fn abandon(&mut self) -> PyResult<()> {
        self.trace()?.abandon();
        Ok(())
    }

    /// Ends the procedure or the repeat's body that was begun last. Returns its number among the program's procedures.
    fn end(&mut self, results: Vec<usize>, file: &str, line: u32) -> PyResult<usize> {
        let results = self.all(&results)?;
        let loc = self.location(file, line);
        let procedure = self.trace()?.end(&results, loc).map_err(traced)?;
        self.procedures.push(procedure);
        Ok(self.procedures.len() - 1)
    }

    /// Adds a call of a procedure. Returns its results.
    fn call(
        &mut self,
        procedure: usize,
        operands: Vec<usize>,
        file: &str,
        line: u32,
    ) -> PyResult<Vec<usize>> {
        let (procedure, operands) = (self.procedure(procedure)?, self.all(&operands)?);
        let loc = self.location(file, line);
        let results = self.trace()?.call(&procedure, &operands, loc);
        Ok(self.keep(results.map_err(traced)?))
    }

    /// Adds a repeat of a body. Returns the carried values after `count` iterations.
    fn repeat(
        &mut self,
        count: u64,
        body: usize,
        carried: Vec<usize>,
        file: &str,
        line: u32,
    ) -> PyResult<Vec<usize>> {
        let (body, carried) = (self.procedure(body)?, self.all(&carried)?);
        let loc = self.location(file, line);
        let results = self.trace()?.repeat(count, &body, &carried, loc);
        Ok(self.keep(results.map_err(traced)?))
    }

    /// Names a value as an output of the program.
    fn output(&mut self, name: &str, value: usize, file: &str, line: u32) -> PyResult<()> {
        let value = self.value(value)?;
        let loc = self.location(file, line);
        self.trace()?.output(name, value, loc).map_err(traced)
    }

    /// Finishes the program and returns it. Nothing can be added afterwards.
    fn finish(&mut self) -> PyResult<Program> {
        self.trace()?;
        match self.trace.take() {
            Some(trace) => Ok(Program {
                inner: MacroProgram {
                    scheme: self.scheme.clone(),
                    ..trace.finish()
                },
                arrays: Arrays::default(),
            }),
            None => Err(CompileError::new_err("the program is finished already")),
        }
    }
}

/// A macro program on ciphertexts, as it was traced. The compiler adds levels and scales.
#[pyclass(name = "MacroProgram", frozen, module = "ringmill")]
pub struct Program {
    pub inner: MacroProgram,
    /// The lengths of the array arguments and results of the traced function, if the program was saved in compiled
    /// form.
    arrays: Arrays,
}

/// The names by which Python knows the kinds of result that a traced function can return.
const RETURNED: [(&str, Returned); 3] = [
    ("one", Returned::One),
    ("tuple", Returned::Tuple),
    ("dict", Returned::Dict),
];

/// The kind of a traced function's result and the lengths of its arrays, for Python. It has the name of the kind, the
/// length of each input by the input's name, and the length of each output.
pub type PyArrays = (
    Option<&'static str>,
    HashMap<String, Option<u32>>,
    Vec<Option<u32>>,
);

/// Returns the names of a program's inputs, each with whether it is encrypted.
pub fn inputs_of(program: &MacroProgram) -> Vec<(String, bool)> {
    let inputs = program.inputs.iter();
    inputs
        .map(|i| (i.name.clone(), i.visibility == Visibility::Encrypted))
        .collect()
}

/// Converts the kind of a traced function's result and the lengths of its arrays from Python. If the name of the kind
/// is unknown, the kind is left open.
pub fn arrays_of(
    program: &MacroProgram,
    returned: &str,
    inputs: &HashMap<String, u32>,
    outputs: Vec<Option<u32>>,
) -> Arrays {
    let lengths = program
        .inputs
        .iter()
        .map(|input| inputs.get(&input.name).copied());
    Arrays {
        returned: returned_of(returned),
        lengths: Lengths {
            inputs: lengths.collect(),
            outputs,
        },
    }
}

/// Converts the result kind and array lengths of a traced function to Python.
pub fn py_arrays(program: &MacroProgram, arrays: &Arrays) -> PyArrays {
    let lengths = &arrays.lengths;
    let inputs = program.inputs.iter().enumerate();
    let inputs = inputs.map(|(i, input)| (input.name.clone(), lengths.input(i)));
    let outputs = (0..program.outputs.len()).map(|i| lengths.output(i));
    (
        arrays.returned.map(returned_name),
        inputs.collect(),
        outputs.collect(),
    )
}

fn returned_name(returned: Returned) -> &'static str {
    let known = RETURNED.iter().find(|(_, known)| *known == returned);
    known.map_or("", |(name, _)| name)
}

fn returned_of(name: &str) -> Option<Returned> {
    let known = RETURNED.iter().find(|(known, _)| *known == name);
    known.map(|&(_, returned)| returned)
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

    /// The name of the scheme that the program is for.
    #[getter]
    fn scheme(&self) -> &str {
        self.inner.scheme.as_str()
    }

    /// The names of the program's inputs, each with whether it is encrypted.
    #[getter]
    fn inputs(&self) -> Vec<(String, bool)> {
        inputs_of(&self.inner)
    }

    #[getter]
    fn outputs(&self) -> Vec<String> {
        self.inner.outputs.clone()
    }

    /// The kind of the traced function's result (`one`, `tuple` or `dict`) and the lengths of its arrays, if the
    /// program was saved in compiled form.
    #[getter]
    fn arrays(&self) -> PyArrays {
        py_arrays(&self.inner, &self.arrays)
    }

    /// Reads a program from a file of macro text.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        interruptible(py, move |watch| {
            files::read(&path, watch, |bytes| {
                Self::of_file(std::str::from_utf8(bytes)?, watch)
            })
        })?
    }

    /// The program as macro text.
    fn to_text(&self) -> String {
        text::print(&self.inner)
    }

    /// Reads a program from macro text. Raises FileError with the line at fault.
    #[staticmethod]
    fn from_text(py: Python<'_>, text: String) -> PyResult<Self> {
        let inner = interruptible(py, move |watch| parse(&text, watch))?;
        let inner = inner.map_err(raise::<FileError, _>)?;
        let arrays = Arrays::default();
        Ok(Self { inner, arrays })
    }
}

impl Program {
    /// Parses the text of a file, which may be of a saved program.
    ///
    /// # Errors
    /// Fails if the text does not parse, or if it needs more memory than the limit.
    pub fn of_file(text: &str, watch: &Watch) -> Result<Self, Fault> {
        let inner = parse(text, watch)?;
        let arrays = saved::arrays(text, &inner)?;
        Ok(Self { inner, arrays })
    }
}

/// Parses macro text to a program, if the memory limit allows it.
fn parse(text: &str, watch: &Watch) -> Result<MacroProgram, Fault> {
    watch.admit("the program", text::memory_for(text))?;
    Ok(text::parse(text)?)
}

/// Computes the outputs of a program by name, without encryption.
#[pyfunction]
fn evaluate_program<'py>(
    program: &Bound<'py, Program>,
    inputs: Vec<Vector<'py>>,
) -> PyResult<HashMap<String, Bound<'py, PyAny>>> {
    let inputs: Vec<Values> = inputs.iter().map(Vector::values).collect();
    let (py, this) = (program.py(), program.clone().unbind());
    let name = program.get().inner.scheme.as_str();
    let scheme = Known::of_name(name).ok_or_else(|| unknown(name))?;
    let outputs = interruptible(
        py,
        move |_| with_scheme!(scheme, S => evaluated::<S>(&this.get().inner, inputs)),
    )??;
    let names = program.get().inner.outputs.iter().cloned();
    let arrays = outputs.into_iter().map(|values| into_array(values, py));
    Ok(names.zip(arrays).collect())
}

fn evaluated<S: Compiles>(program: &MacroProgram, inputs: Vec<Values>) -> PyResult<Vec<Values>> {
    let inputs = inputs.into_iter().map(S::message);
    let inputs: Option<Vec<_>> = inputs.collect();
    let other = || DataError::new_err("inputs are other numbers than the scheme's");
    let outputs = S::evaluate(program, &inputs.ok_or_else(other)?);
    let outputs = outputs.map_err(raise::<DataError, _>)?;
    Ok(outputs.into_iter().map(S::values).collect())
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("MAX_SLOTS", MAX_SLOTS)?;
    m.add_class::<MacroBuilder>()?;
    m.add_class::<Program>()?;
    m.add_function(wrap_pyfunction!(evaluate_program, m)?)
}
