//! What travels between client and server: ciphertexts and evaluation keys.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::ndarray::Array3;
use numpy::{IntoPyArray, PyArray3};
use pyo3::prelude::*;
use ringmill_devices::runtime;
use ringmill_schemes::ckks::{self, GaloisKeys, file};

use crate::errors::{FileError, KeysError, raise};
use crate::files;
use crate::params::Params;
use crate::watch::interruptible;

/// An encrypted vector.
#[pyclass(frozen, eq, from_py_object, module = "ringmill")]
#[derive(Clone, PartialEq)]
pub struct Ciphertext {
    pub inner: Arc<ckks::Ciphertext>,
    /// Ring degree, which the limbs alone do not say.
    pub degree: usize,
}

#[pymethods]
impl Ciphertext {
    /// The level: one less than its number of primes.
    #[getter]
    fn level(&self) -> u32 {
        self.inner.level().0
    }

    /// What the slots are multiplied by.
    #[getter]
    fn scale(&self) -> f64 {
        self.inner.scale()
    }

    /// The identity of the secret key this belongs to, in hexadecimal; None where that is not known (files of SEAL, or
    /// of version 1 of the format).
    #[getter]
    fn key_id(&self) -> Option<String> {
        self.inner.key_id().map(|id| id.to_string())
    }

    /// The residues, in evaluation form: an array of shape (polynomials, primes, ring degree).
    #[getter]
    fn limbs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<u64>>> {
        let shape = (self.inner.size(), self.inner.level().primes(), self.degree);
        let residues = self.inner.polys().concat();
        let limbs = Array3::from_shape_vec(shape, residues).map_err(raise::<FileError, _>)?;
        Ok(limbs.into_pyarray(py))
    }

    /// Writes a file; it appears whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let inner = Arc::clone(&self.inner);
        interruptible(py, move |watch| {
            files::write(&path, watch, &file::write_ciphertext(&inner))
        })?
    }

    /// Reads a file of these parameters; raises FileError if it is damaged or of others.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf, params: &Params) -> PyResult<Self> {
        let (params, degree) = (Arc::clone(&params.inner), params.inner.degree());
        let inner = interruptible(py, move |watch| {
            files::read(&path, watch, |bytes| file::read_ciphertext(bytes, &params))
        })??;
        Ok(Self {
            inner: Arc::new(inner),
            degree,
        })
    }

    fn __repr__(&self) -> String {
        format!(
            "<ringmill ciphertext at level {}, scale 2^{:.2}>",
            self.inner.level(),
            self.inner.scale().log2()
        )
    }
}

/// What a server needs to compute on a client's ciphertexts; no secret is in it.
#[pyclass(frozen, module = "ringmill")]
#[derive(Clone)]
pub struct EvaluationKeys {
    pub inner: Arc<runtime::EvaluationKeys>,
    pub params: Arc<ckks::Params>,
}

const RELIN: &str = "relin.key";
const GALOIS: &str = "galois.keys";

#[pymethods]
impl EvaluationKeys {
    /// The identity of the secret key this belongs to, in hexadecimal; None where that is not known (files of SEAL, or
    /// of version 1 of the format).
    #[getter]
    fn key_id(&self) -> Option<String> {
        let known = self.inner.key_id().ok().flatten();
        known.map(|id| id.to_string())
    }

    /// Writes the keys into a folder: relin.key and galois.keys. The folder is made if it is missing; the one it is in
    /// must be there.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let (keys, params) = (Arc::clone(&self.inner), Arc::clone(&self.params));
        interruptible(py, move |watch| {
            files::make_folder(&path)?;
            let relin = path.join(RELIN);
            match &keys.relin {
                Some(key) => files::write(&relin, watch, &file::write_relin_key(key))?,
                // One that was there is of other keys.
                None if relin.exists() => {
                    std::fs::remove_file(&relin).map_err(raise::<FileError, _>)?
                }
                None => {}
            }
            let galois =
                file::write_galois_keys(&params, &keys.galois).map_err(raise::<FileError, _>)?;
            files::write(&path.join(GALOIS), watch, &galois)
        })?
    }

    /// Reads the keys of these parameters from a folder; raises FileError if one is damaged or of others, KeysError if
    /// they are of two secret keys.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf, params: &Params) -> PyResult<Self> {
        let params = Arc::clone(&params.inner);
        let of = Arc::clone(&params);
        let inner = interruptible(py, move |watch| -> PyResult<_> {
            let galois: GaloisKeys = files::read(&path.join(GALOIS), watch, |b| {
                file::read_galois_keys(b, &params)
            })?;
            let relin = path.join(RELIN);
            let relin = relin
                .exists()
                .then(|| files::read(&relin, watch, |b| file::read_relin_key(b, &params)))
                .transpose()?;
            let keys = runtime::EvaluationKeys { relin, galois };
            keys.key_id().map_err(raise::<KeysError, _>)?;
            Ok(keys)
        })??;
        Ok(Self {
            inner: Arc::new(inner),
            params: of,
        })
    }

    fn __repr__(&self) -> String {
        let relin = if self.inner.relin.is_some() {
            "a relinearisation key"
        } else {
            "no relinearisation key"
        };
        format!(
            "<ringmill evaluation keys: {relin}, {} Galois keys>",
            self.inner.galois.len()
        )
    }
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Ciphertext>()?;
    m.add_class::<EvaluationKeys>()
}
