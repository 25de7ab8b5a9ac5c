// SPDX-License-Identifier: Apache-2.0
//! The package's exceptions, and the mapping of library errors to them.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyMemoryError};
use pyo3::prelude::*;
use ringmill_compiler::CompileError as Refused;
use ringmill_compiler::builder::TraceError;
use ringmill_limits::Halt;

/// A library error of any type, or a text, from which an exception is made.
pub type Fault = Box<dyn std::error::Error + Send + Sync>;

create_exception!(
    ringmill,
    RingmillError,
    PyException,
    "The base of every error this package raises."
);
create_exception!(
    ringmill,
    CompileError,
    RingmillError,
    "A program that cannot be compiled; the message begins with the user's file and line, which are its attributes too."
);
create_exception!(
    ringmill,
    ParameterError,
    RingmillError,
    "Scheme parameters that are malformed, insecure or too small."
);
create_exception!(
    ringmill,
    DataError,
    RingmillError,
    "Values that cannot be encoded: a wrong count, NaN, infinity, or too large for the scale."
);
create_exception!(
    ringmill,
    KeysError,
    RingmillError,
    "Keys that are missing or belong to other parameters."
);
create_exception!(
    ringmill,
    FileError,
    RingmillError,
    "A file that cannot be read or written, is truncated or was altered."
);
create_exception!(
    ringmill,
    DeviceError,
    RingmillError,
    "A device that does not exist, or cannot run the program."
);

/// Returns the Python exception for work that ran out of memory or was stopped.
pub fn halted(halt: &Halt, text: String) -> PyErr {
    match halt {
        Halt::OverLimit { .. } | Halt::NoMemory { .. } => PyMemoryError::new_err(text),
        Halt::Interrupted => PyKeyboardInterrupt::new_err(text),
    }
}

/// Turns a library error into the exception `T`: `.map_err(raise::<DataError, _>)`. A lack of memory always becomes a
/// `MemoryError`, and an interruption a `KeyboardInterrupt`.
pub fn raise<T: pyo3::PyTypeInfo, E: Into<Fault>>(error: E) -> PyErr {
    let error = error.into();
    match Halt::of(&*error) {
        Some(halt) => halted(halt, error.to_string()),
        None => PyErr::new::<T, _>(error.to_string()),
    }
}

/// Returns the Python exception for an error of a traced program. The Python side knows the source line and adds it.
pub fn traced(error: TraceError) -> PyErr {
    raise::<CompileError, _>(error)
}

/// Returns the Python exception for a program that the compiler refused, with its source line if it is known. It is a
/// `ParameterError` if no parameters satisfy the user's demands, and a `DataError` for a range or a sample that is not
/// valid.
pub fn refused<E>(py: Python<'_>, error: Refused<E>) -> PyErr
where
    E: std::error::Error + Send + Sync + 'static,
{
    match &error {
        Refused::NoParameters { .. }
        | Refused::TooPrecise { .. }
        | Refused::IntegerBits { .. }
        | Refused::TooNoisy { .. }
        | Refused::OtherScheme { .. } => {
            return raise::<ParameterError, _>(error);
        }
        Refused::Range { .. } => return raise::<DataError, _>(error),
        Refused::Sample(fault) => return raise::<DataError, _>(format!("sample: {fault}")),
        _ => {}
    }
    let loc = error.loc().cloned();
    let raised = raise::<CompileError, _>(error);
    if let Some(loc) = loc {
        let value = raised.value(py);
        // An exception instance takes attributes. If it refused them, the message would still have the line.
        let _ = value
            .setattr("file", &*loc.file)
            .and_then(|()| value.setattr("line", loc.line));
    }
    raised
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = m.py();
    m.add("RingmillError", py.get_type::<RingmillError>())?;
    m.add("CompileError", py.get_type::<CompileError>())?;
    m.add("ParameterError", py.get_type::<ParameterError>())?;
    m.add("DataError", py.get_type::<DataError>())?;
    m.add("KeysError", py.get_type::<KeysError>())?;
    m.add("FileError", py.get_type::<FileError>())?;
    m.add("DeviceError", py.get_type::<DeviceError>())
}
