// SPDX-License-Identifier: Apache-2.0
//! Python's view of the parameters of CKKS, BFV and BGV.

use std::any::Any;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use ringmill_compiler::Compiles;
use ringmill_runtime::html::{Section, fragment, of_parameters};
use ringmill_runtime::{Known, Own, Served, with_scheme};
use ringmill_schemes::exact::PlainModulus;
use ringmill_schemes::file::{self, Accepted, AcceptedTables, FileError, InsecureParams};
use ringmill_schemes::rlwe::{self, RingParams, SecurityLevel, SecurityTable};
use ringmill_schemes::{ParameterSet, Scheme};

use crate::data::{AnyCipher, Ciphertext, Held};
use crate::errors::{FileError as PyFileError, ParameterError, raise};
use crate::files;
use crate::scheme::own_params;
use crate::watch::interruptible;

/// The interface of a parameter set, whatever its scheme.
pub trait AnyParams: Any + Send + Sync {
    /// Returns the name that programs use for the parameters' scheme.
    fn scheme(&self) -> &'static str;
    /// Returns the part of the parameters that all ring schemes share.
    fn ring(&self) -> &Arc<rlwe::Params>;
    fn scale(&self) -> Option<f64>;
    fn plain_modulus(&self) -> Option<u64>;
    fn summary(&self) -> String;
    /// Returns the parameters as a section of an HTML page.
    fn section(&self) -> Section;
    fn read_ciphertext(&self, bytes: &[u8]) -> Result<Arc<dyn AnyCipher>, FileError>;
    /// Returns the content of the parameters' file.
    fn file(&self) -> Vec<u8>;
    /// Returns the content of a file of a message of these parts.
    ///
    /// # Errors
    /// Raises a Python exception for ciphertexts of other parameters or of different secret keys.
    fn write_message(&self, parts: Vec<Sent>) -> PyResult<Vec<u8>>;
    fn read_message(&self, bytes: &[u8]) -> Result<Vec<Sent>, FileError>;
}

/// A part of a message between client and server, for Python: how many inputs share its ciphertexts, texts that belong
/// to them, and the ciphertexts with their names.
pub type Sent = (Option<u32>, Vec<String>, Vec<(String, Ciphertext)>);

/// A parameter set of the scheme `S`, behind the interface that Python sees.
pub struct Of<S: Served>(pub Arc<S::Params>);

impl<S: Served> AnyParams for Of<S> {
    fn scheme(&self) -> &'static str {
        <S as Compiles>::NAME
    }

    fn ring(&self) -> &Arc<rlwe::Params> {
        self.0.ring_params()
    }

    fn scale(&self) -> Option<f64> {
        S::figures(&self.0).default_scale
    }

    fn plain_modulus(&self) -> Option<u64> {
        S::figures(&self.0).plain_modulus
    }

    fn summary(&self) -> String {
        self.0.summary()
    }

    fn section(&self) -> Section {
        of_parameters::<S>(&self.0)
    }

    fn read_ciphertext(&self, bytes: &[u8]) -> Result<Arc<dyn AnyCipher>, FileError> {
        let cipher = file::read_ciphertext(bytes, self.ring())?;
        Ok(Arc::new(Held::<S>::new(cipher, &self.0)))
    }

    fn file(&self) -> Vec<u8> {
        file::write_params_of(S::TAG, &*self.0)
    }

    fn write_message(&self, parts: Vec<Sent>) -> PyResult<Vec<u8>> {
        let part = |(batch, texts, ciphertexts): Sent| -> PyResult<_> {
            let one = |(name, cipher): (String, Ciphertext)| {
                let own = cipher.get::<S>(&name)?.clone();
                Ok((name, own))
            };
            let ciphertexts = ciphertexts.into_iter().map(one);
            Ok(file::Part {
                batch,
                texts,
                ciphertexts: ciphertexts.collect::<PyResult<_>>()?,
            })
        };
        let parts = parts.into_iter().map(part).collect::<PyResult<Vec<_>>>()?;
        file::write_message(self.ring(), &parts).map_err(raise::<PyFileError, _>)
    }

    fn read_message(&self, bytes: &[u8]) -> Result<Vec<Sent>, FileError> {
        let parts = file::read_message(bytes, self.ring())?;
        let one = |(name, cipher)| (name, Ciphertext::of::<S>(cipher, &self.0));
        let part = |part: file::Part<_>| {
            let ciphertexts = part.ciphertexts.into_iter().map(one);
            (part.batch, part.texts, ciphertexts.collect())
        };
        Ok(parts.into_iter().map(part).collect())
    }
}

/// A checked parameter set of a scheme. `ringmill.params` makes it.
#[pyclass(frozen, eq, hash, module = "ringmill")]
#[derive(Clone)]
pub struct Params {
    pub inner: Arc<dyn AnyParams>,
}

impl Params {
    pub fn of<S: Served>(params: &Arc<S::Params>) -> Self {
        Self {
            inner: Arc::new(Of::<S>(Arc::clone(params))),
        }
    }

    /// Returns the parameters as those of scheme `S`, or `None` if they are of another scheme.
    pub fn get<S: Served>(&self) -> Option<&Arc<S::Params>> {
        let any: &dyn Any = &*self.inner;
        any.downcast_ref::<Of<S>>().map(|Of(params)| params)
    }
}

impl PartialEq for Params {
    fn eq(&self, other: &Self) -> bool {
        self.inner.ring().id() == other.inner.ring().id()
    }
}

impl Hash for Params {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.inner.ring().id().hash(state);
    }
}

/// Returns what a reader of parameters accepts. `tables` has the names of security tables; without it a reader accepts
/// the default ones.
///
/// # Errors
/// Raises `ParameterError` for an unknown name.
pub fn accepted(tables: Option<&[String]>, insecure: bool) -> PyResult<Accepted> {
    let tables = tables.map(|names| AcceptedTables::named(names.iter().map(String::as_str)));
    let tables = tables.transpose().map_err(raise::<ParameterError, _>)?;
    Ok(Accepted {
        tables: tables.unwrap_or_default(),
        insecure: match insecure {
            true => InsecureParams::AllowForTestsOnly,
            false => InsecureParams::Refuse,
        },
    })
}

/// Reads parameters of any scheme from the content of a file.
fn read_params(bytes: &[u8], accepted: Accepted) -> Result<Params, FileError> {
    let byte = file::peek_scheme(bytes)?;
    let of = |scheme: &Known| with_scheme!(*scheme, S => S::TAG.byte) == byte;
    match Known::ALL.iter().find(|scheme| of(scheme)) {
        Some(&scheme) => with_scheme!(scheme, S => {
            Ok(Params::of::<S>(&<S as Compiles>::read_params(bytes, accepted)?))
        }),
        None => Err(FileError::Field {
            what: "scheme",
            expected: format!("one of {}", Known::names()),
            got: byte.to_string(),
        }),
    }
}

/// Makes and checks a parameter set: a named one, or one with the given prime sizes in bits.
#[pyfunction]
#[expect(
    clippy::too_many_arguments,
    reason = "the one caller is our own Python, which names them"
)]
fn make_params(
    scheme: &str,
    name: Option<&str>,
    log_n: Option<u8>,
    bits: Option<Vec<u32>>,
    special: usize,
    dnum: Option<usize>,
    table: &str,
    security: u32,
    scale: Option<f64>,
    plain_modulus: Option<u64>,
    insecure: bool,
) -> PyResult<Params> {
    let own = Own {
        log_n: log_n.unwrap_or(0),
        bits: bits
            .as_deref()
            .filter(|bits| !bits.is_empty())
            .map(|bits| bits.split_at(bits.len().saturating_sub(special))),
        dnum,
        table: SecurityTable::from_name(table).map_err(raise::<ParameterError, _>)?,
        level: SecurityLevel::from_bits(security).map_err(raise::<ParameterError, _>)?,
        scale,
        plain_modulus,
        insecure,
    };
    let scheme = Known::of_name(scheme)
        .ok_or_else(|| ParameterError::new_err(format!("there is no scheme {scheme:?}")))?;
    with_scheme!(scheme, S => Ok(Params::of::<S>(&own_params::<S>(name, &own)?)))
}

/// Returns the largest prime of `bits` bits that, as a plaintext modulus, gives slots at ring degree 2^`log_n`.
#[pyfunction]
fn plain_modulus(log_n: u8, bits: u32) -> PyResult<u64> {
    let found = PlainModulus::batching(log_n, bits).map_err(raise::<ParameterError, _>)?;
    Ok(found.value())
}

#[pymethods]
impl Params {
    /// The parameters as HTML, which a notebook shows.
    fn _repr_html_(&self) -> String {
        fragment("Parameters", &[self.inner.section()])
    }

    /// The name of the parameters' scheme in programs.
    #[getter]
    fn scheme(&self) -> &'static str {
        self.inner.scheme()
    }

    /// log2 of the ring degree N.
    #[getter]
    fn log_n(&self) -> u8 {
        self.inner.ring().log_n()
    }

    /// The number of slots in the longest vector that a ciphertext holds: half the ring degree.
    #[getter]
    fn slots(&self) -> usize {
        self.inner.ring().degree() / 2
    }

    /// The number of ciphertext primes less one. A fresh CKKS ciphertext has room for as many multiplications in
    /// sequence.
    #[getter]
    fn levels(&self) -> u32 {
        self.inner.ring().max_level().0
    }

    #[getter]
    fn ciphertext_primes(&self) -> Vec<u64> {
        self.inner.ring().cipher_moduli().to_vec()
    }

    /// The number of key-switching digits.
    #[getter]
    fn dnum(&self) -> usize {
        self.inner.ring().dnum()
    }

    #[getter]
    fn special_primes(&self) -> Vec<u64> {
        self.inner.ring().special_moduli().to_vec()
    }

    /// The factor that values are multiplied by before rounding, or None for a scheme of integers.
    #[getter]
    fn scale(&self) -> Option<f64> {
        self.inner.scale()
    }

    /// The modulus of a program's integers, or None for CKKS.
    #[getter]
    fn plain_modulus(&self) -> Option<u64> {
        self.inner.plain_modulus()
    }

    /// The result of the parameters' security check, in words.
    #[getter]
    fn security(&self) -> String {
        self.inner.ring().security().summary()
    }

    /// Returns the parameters as the content of a file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.inner.file())
    }

    /// Reads parameters from the content of a file. `tables` names the security tables that the caller accepts.
    /// Insecure parameters are refused unless the caller allows them.
    #[staticmethod]
    #[pyo3(signature = (data, tables=None, allow_insecure_parameters_for_tests_only=false))]
    fn from_bytes(
        py: Python<'_>,
        data: PyBackedBytes,
        tables: Option<Vec<String>>,
        allow_insecure_parameters_for_tests_only: bool,
    ) -> PyResult<Self> {
        let accepted = accepted(tables.as_deref(), allow_insecure_parameters_for_tests_only)?;
        files::from_bytes(py, data, move |bytes| read_params(bytes, accepted))
    }

    fn __repr__(&self) -> String {
        format!("<ringmill parameters: {}>", self.inner.summary())
    }
}

/// Returns the content of a file of a message of these parts.
#[pyfunction]
fn write_message<'py>(
    py: Python<'py>,
    params: &Params,
    parts: Vec<Sent>,
) -> PyResult<Bound<'py, PyBytes>> {
    let inner = Arc::clone(&params.inner);
    let bytes = interruptible(py, move |_| inner.write_message(parts))??;
    Ok(PyBytes::new(py, &bytes))
}

/// Reads a message of these parameters from the content of a file.
#[pyfunction]
fn read_message(py: Python<'_>, params: &Params, data: PyBackedBytes) -> PyResult<Vec<Sent>> {
    let inner = Arc::clone(&params.inner);
    files::from_bytes(py, data, move |bytes| inner.read_message(bytes))
}

/// Returns the names of all security tables, as a reader of parameters takes them.
#[pyfunction]
fn security_tables() -> Vec<String> {
    SecurityTable::ALL.iter().map(ToString::to_string).collect()
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Params>()?;
    m.add_function(wrap_pyfunction!(write_message, m)?)?;
    m.add_function(wrap_pyfunction!(read_message, m)?)?;
    m.add_function(wrap_pyfunction!(security_tables, m)?)?;
    m.add_function(wrap_pyfunction!(plain_modulus, m)?)?;
    m.add_function(wrap_pyfunction!(make_params, m)?)
}
