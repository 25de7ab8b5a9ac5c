// SPDX-License-Identifier: Apache-2.0
//! Converts vectors, ranges and parameters between Python and the schemes.
//!
//! When an object is made, [`with_scheme`](ringmill_runtime::with_scheme) finds the Rust type of its scheme once.
//! Python's classes hold such objects behind interfaces that are the same for all schemes.

use std::sync::Arc;

use num_complex::Complex64;
use numpy::{
    IntoPyArray, PyArrayDescrMethods, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods,
    dtype,
};
use pyo3::prelude::*;
use ringmill_compiler::{Ends, Numbers, Values};
use ringmill_runtime::{Known, Own, RuntimeError, Served};
use ringmill_schemes::rlwe::RlweError;

use crate::errors::{DataError, DeviceError, KeysError, ParameterError, raise};

/// A vector from the Python side of this package: complex numbers, or integers if the program's scheme is exact.
pub enum Vector<'py> {
    Whole(PyReadonlyArray1<'py, i64>),
    Complex(PyReadonlyArray1<'py, Complex64>),
}

/// Chooses the variant by the type of the vector's elements, without trying one variant after the other. The error of a
/// failed try would contain the type's name, which numpy's Python code makes. An interrupt that arrives in that code is
/// lost.
impl<'py> FromPyObject<'_, 'py> for Vector<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let array = object.cast::<PyUntypedArray>()?;
        let element = array.dtype();
        Ok(match element.is_equiv_to(&dtype::<i64>(object.py())) {
            true => Self::Whole(object.extract()?),
            false => Self::Complex(object.extract()?),
        })
    }
}

impl Vector<'_> {
    /// Copies the vector's values, so that they can be used without the interpreter's lock.
    pub fn values(&self) -> Values {
        match self {
            Self::Whole(array) => Values::Whole(array.as_array().to_vec()),
            Self::Complex(array) => Values::Complex(array.as_array().to_vec()),
        }
    }
}

/// Returns values as a numpy array.
pub fn into_array(values: Values, py: Python<'_>) -> Bound<'_, PyAny> {
    match values {
        Values::Whole(values) => values.into_pyarray(py).into_any(),
        Values::Complex(values) => values.into_pyarray(py).into_any(),
    }
}

/// An input's range as the Python side of this package writes it: one real number is a radius, two numbers are the
/// ends.
#[derive(FromPyObject, IntoPyObject, Clone)]
pub enum PyEnds {
    Whole(Vec<i128>),
    Real(Vec<f64>),
}

impl PyEnds {
    /// Returns the ends of the range, or `None` unless there are two numbers or one real number.
    pub fn ends(&self) -> Option<Ends> {
        match self {
            Self::Whole(ends) => match *ends.as_slice() {
                [low, high] => Some(Ends::Whole(low, high)),
                _ => None,
            },
            Self::Real(ends) => match *ends.as_slice() {
                [radius] => Some(Ends::Disc(radius)),
                [low, high] => Some(Ends::Real(low, high)),
                _ => None,
            },
        }
    }
}

impl From<Ends> for PyEnds {
    fn from(ends: Ends) -> Self {
        match ends {
            Ends::Whole(low, high) => Self::Whole(vec![low, high]),
            Ends::Real(low, high) => Self::Real(vec![low, high]),
            Ends::Disc(radius) => Self::Real(vec![radius]),
        }
    }
}

/// The precision of each output: its name, the predicted bits, the measured bits if they could be measured, and whether
/// the prediction rests on a statement of the program about its values.
pub type Rows = Vec<(String, f64, Option<f64>, bool)>;

/// Makes a parameter set from the values that the user gives. If the user names a set, its ring degree and primes are
/// those of that set.
///
/// # Errors
/// Raises `ParameterError` for values that the scheme does not take, and for parameters that are malformed or insecure.
pub fn own_params<S: Served>(name: Option<&str>, own: &Own<'_>) -> PyResult<Arc<S::Params>> {
    let scheme = S::NAME;
    let refused = |text: String| Err(ParameterError::new_err(text));
    let exact = match S::NUMBERS {
        Numbers::Complex => false,
        Numbers::Whole => true,
    };
    if !exact && own.plain_modulus.is_some() {
        return refused(format!(
            "{scheme} has no plain modulus; leave plain_modulus= out, or name a scheme of integers by scheme="
        ));
    }
    let named = name.map(|name| (name, S::named(name, own)));
    if let Some((name, None)) = named {
        let plain = if exact { " and plain_modulus=" } else { "" };
        let sizes = if exact {
            "log_n=, bits="
        } else {
            "log_n= and bits="
        };
        return refused(format!(
            "there is no set of {scheme} parameters named {name:?}; give {sizes}{plain}"
        ));
    }
    if exact && own.scale.is_some() {
        return refused(format!(
            "{scheme} has no scale: whole numbers are computed on exactly; leave scale= out"
        ));
    }
    if exact && own.plain_modulus.is_none() {
        return refused(format!(
            "{scheme} computes modulo a plain modulus; give plain_modulus=, a prime that is 1 mod 2^{}, as rm.plain_modulus \
             finds one",
            u32::from(own.log_n) + 1
        ));
    }
    let made = named.and_then(|(_, made)| made);
    let made = made.unwrap_or_else(|| S::made(own));
    made.map_err(raise::<ParameterError, _>)
}

/// Returns the Python exception for a measurement of precision in a scheme of exact results, which have no error.
pub fn no_precision() -> PyErr {
    DataError::new_err(
        "results of this program are exact, so there is no precision to measure; client.noise_budget says how much noise they \
         can still take",
    )
}

/// Returns the Python exception for noise on shared results in a scheme of exact results, which need none.
pub fn no_share() -> PyErr {
    DataError::new_err(
        "results of this program are exact: they hold no error that noise would have to hide; decrypt without share=",
    )
}

/// Returns the Python exception for a noise budget in a scheme of approximate results, which have none.
pub fn no_budget<S: Served>() -> PyErr {
    DataError::new_err(format!(
        "values of {} are approximate and have no noise budget; client.measure compares them with the clear",
        S::NAME
    ))
}

/// Returns the Python exception for a program of an unknown scheme.
pub fn unknown(name: &str) -> PyErr {
    ParameterError::new_err(format!(
        "the program is for the scheme {name}, which is not among those here: {}",
        Known::names()
    ))
}

/// Returns the Python exception for an error of a compiled program's client or server.
pub fn failed<S: Served>(error: RuntimeError<S::Error>) -> PyErr {
    let other =
        |error: &S::Error| matches!(S::ring_error(error), Some(RlweError::OtherKeys { .. }));
    match error {
        RuntimeError::MissingKey { .. }
        | RuntimeError::NotSeeded { .. }
        | RuntimeError::Key { .. }
        | RuntimeError::Count(_)
        | RuntimeError::OtherKeys { .. } => raise::<KeysError, _>(error),
        RuntimeError::Scheme(ref source) | RuntimeError::Value { ref source, .. }
            if other(source) =>
        {
            raise::<KeysError, _>(error)
        }
        RuntimeError::Device(_) => raise::<DeviceError, _>(error),
        _ => raise::<DataError, _>(error),
    }
}

/// Returns the Python exception for an object of another scheme than the program's. `what` names the object.
pub fn of_another_scheme<S: Served>(what: &str, got: &str) -> PyErr {
    DataError::new_err(format!(
        "{what} is of the scheme {got}, and the program is for {}; encrypt for this program",
        S::TAG.name.to_lowercase()
    ))
}
