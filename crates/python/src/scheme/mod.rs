//! What the package needs of a scheme beside what the command does. The command's list of schemes is this one, too:
//! [`with_scheme`](ringmill_cli::with_scheme) finds the type of each, once, where an object is made; classes of Python then
//! hold objects that do not say which it is.

mod ckks;
mod exact;

use std::path::Path;

use num_complex::Complex64;
use numpy::{
    IntoPyArray, PyArrayDescrMethods, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods,
    dtype,
};
use pyo3::prelude::*;
use ringmill_cli::Scheme;
use ringmill_cli::scheme::{Ciphers, Messages, Served};
use ringmill_devices::runtime::{Client, RuntimeError};
use ringmill_isa::macros::MacroProgram;
use ringmill_limits::Watch;
use ringmill_schemes::bgv::bootstrap::Procedure;
use ringmill_schemes::ckks::Flooding;
use ringmill_schemes::rlwe::{RlweError, SecretKey, SecurityLevel, SecurityTable};
use ringmill_schemes::{At, Scheme as Named};

use crate::errors::{DataError, DeviceError, KeysError, ParameterError, raise};

/// A vector as our own Python hands it over: of doubles, or of integers where the program's scheme is exact.
pub enum Vector<'py> {
    Whole(PyReadonlyArray1<'py, i64>),
    Complex(PyReadonlyArray1<'py, Complex64>),
}

/// Chosen by the type of the elements, not by trying one after the other: the error of an attempt writes that type's
/// name, which runs numpy's Python code, and an interrupt that arrives there is lost.
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
    /// Its values, without the interpreter.
    pub fn values(&self) -> Values {
        match self {
            Self::Whole(array) => Values::Whole(array.as_array().to_vec()),
            Self::Complex(array) => Values::Complex(array.as_array().to_vec()),
        }
    }
}

/// The values of a vector.
#[derive(Clone)]
pub enum Values {
    Whole(Vec<i64>),
    Complex(Vec<Complex64>),
}

impl Values {
    /// As a numpy array.
    pub fn into_array(self, py: Python<'_>) -> Bound<'_, PyAny> {
        match self {
            Self::Whole(values) => values.into_pyarray(py).into_any(),
            Self::Complex(values) => values.into_pyarray(py).into_any(),
        }
    }
}

/// A range as our own Python spells it: one number for a radius, two for the ends.
#[derive(FromPyObject, IntoPyObject, Clone)]
pub enum Ends {
    Whole(Vec<i128>),
    Real(Vec<f64>),
}

/// What parameters must be that the compiler chooses.
pub struct Wishes {
    pub precision: u32,
    pub integer_bits: u32,
    pub table: SecurityTable,
    pub level: SecurityLevel,
}

/// What parameters are of one's own.
pub struct Own<'a> {
    pub name: Option<&'a str>,
    pub log_n: u8,
    /// Sizes of the ciphertext primes and of the special one.
    pub bits: Option<(&'a [u32], u32)>,
    pub table: SecurityTable,
    pub level: SecurityLevel,
    pub scale: Option<f64>,
    pub plain_modulus: Option<u64>,
    pub insecure: bool,
}

/// For each output its name, and bits: predicted, and measured where it could be.
pub type Rows = Vec<(String, f64, Option<f64>)>;

/// A scheme that Python programs are for.
pub trait Spoken: Served {
    /// Vectors of other numbers than the scheme's are refused: our own Python hands over none.
    fn message(values: Values) -> Option<Self::Message>;

    fn values(message: Self::Message) -> Values;

    fn wanted_for(wishes: &Wishes) -> Self::Wanted;

    /// # Errors
    /// Parameters that are malformed or not secure.
    fn own_params(own: &Own<'_>) -> PyResult<std::sync::Arc<Self::Params>>;

    /// Bootstrapping as the scheme's programs take it; `None` where they take none.
    fn bootstrapping(procedure: &std::sync::Arc<Procedure>) -> Option<Self::Bootstrapping>;

    /// A range that is declared; `None` for what is none of the scheme.
    fn declared(ends: &Ends) -> Option<Self::Range>;

    fn ends(range: &Self::Range) -> Ends;

    /// What values are multiplied by before rounding, where they are.
    fn default_scale(params: &Self::Params) -> Option<f64>;

    /// What a ciphertext's values are multiplied by, where they are.
    fn scale(at: &At<Self::Annotation>) -> Option<f64>;

    /// What plaintexts are modulo, where they are.
    fn plain_modulus(params: &Self::Params) -> Option<u64>;

    /// Bits of precision that are predicted, where values are approximate.
    fn predicted_bits(prediction: &Self::Prediction) -> Option<f64>;

    /// The same for inputs like the sample, where there is one.
    fn predicted_bits_like_sample(prediction: &Self::Prediction) -> Option<f64>;

    /// Bits of noise budget that are predicted, where values are exact.
    fn predicted_budget(prediction: &Self::Prediction) -> Option<f64>;

    /// The program's outputs in the clear.
    ///
    /// # Errors
    /// Inputs that do not fit the program.
    fn evaluate(program: &MacroProgram, inputs: &[Self::Message]) -> PyResult<Vec<Self::Message>>;

    /// The layer below the scheme's own errors.
    fn below(error: &Self::Error) -> Option<&RlweError>;

    /// # Errors
    /// Values that are exact; inputs that are not the program's.
    fn measure(
        client: &Client<Self>,
        inputs: &Messages<Self>,
        outputs: &Ciphers<Self>,
    ) -> PyResult<Rows>;

    /// # Errors
    /// Values that are exact.
    fn shared_bits(client: &Client<Self>, flooding: &Flooding) -> PyResult<Vec<(String, f64)>>;

    /// # Errors
    /// Values that are exact; outputs that cannot be shared.
    fn decrypt_to_share(
        client: &Client<Self>,
        outputs: &Ciphers<Self>,
        flooding: &Flooding,
    ) -> PyResult<Messages<Self>>;

    /// # Errors
    /// Values that are exact.
    fn shared_decryptions(client: &Client<Self>) -> PyResult<Option<u64>>;

    /// Writes the secret key into a file.
    fn save_secret(key: &SecretKey, path: &Path, watch: &Watch) -> PyResult<()>;

    /// # Errors
    /// Values that are approximate; a ciphertext of another key.
    fn noise_budget(client: &Client<Self>, cipher: &Self::Ciphertext) -> PyResult<u32>;
}

/// What a scheme's name in programs stands for; `None` for another.
pub fn known(name: &str) -> Option<Scheme> {
    Scheme::of_name(name)
}

/// That a program is for a scheme that nothing here computes.
pub fn unknown(name: &str) -> PyErr {
    ParameterError::new_err(format!(
        "the program is for the scheme {name}, which is not among those here: {}",
        Scheme::names()
    ))
}

/// The exception that a fault around a compiled program calls for.
pub fn failed<S: Spoken>(error: RuntimeError<S::Error>) -> PyErr {
    let other = |error: &S::Error| matches!(S::below(error), Some(RlweError::OtherKeys { .. }));
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

/// That something of one scheme was given where one of another is wanted.
pub fn of_another_scheme<S: Spoken>(what: &str, got: &str) -> PyErr {
    DataError::new_err(format!(
        "{what} is of the scheme {got}, and the program is for {}; encrypt for this program",
        <S as Named>::TAG.name.to_lowercase()
    ))
}
