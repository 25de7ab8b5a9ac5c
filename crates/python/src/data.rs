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
        self.inner.level()
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
        let shape = (
            self.inner.size(),
            self.inner.level() as usize + 1,
            self.degree,
        );
        let residues = self.inner.polys().concat();
        let limbs = Array3::from_shape_vec(shape, residues).map_err(raise::<FileError, _>)?;
        Ok(limbs.into_pyarray(py))
    }

    /// Writes a file; it appears whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| files::write(&path, &file::write_ciphertext(&self.inner)))
    }

    /// Reads a file of these parameters; raises FileError if it is damaged or of others.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf, params: &Params) -> PyResult<Self> {
        let params = &params.inner;
        let inner =
            py.detach(|| files::read(&path, |bytes| file::read_ciphertext(bytes, params)))?;
        Ok(Self {
            inner: Arc::new(inner),
            degree: params.degree(),
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
        py.detach(|| {
            files::make_folder(&path)?;
            let relin = path.join(RELIN);
            match &self.inner.relin {
                Some(key) => files::write(&relin, &file::write_relin_key(key))?,
                // One that was there is of other keys.
                None if relin.exists() => {
                    std::fs::remove_file(&relin).map_err(raise::<FileError, _>)?
                }
                None => {}
            }
            let galois = file::write_galois_keys(&self.params, &self.inner.galois)
                .map_err(raise::<FileError, _>)?;
            files::write(&path.join(GALOIS), &galois)
        })
    }

    /// Reads the keys of these parameters from a folder; raises FileError if one is damaged or of others, KeysError if
    /// they are of two secret keys.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf, params: &Params) -> PyResult<Self> {
        let params = Arc::clone(&params.inner);
        let inner = py.detach(|| -> PyResult<_> {
            let galois: GaloisKeys =
                files::read(&path.join(GALOIS), |b| file::read_galois_keys(b, &params))?;
            let relin = path.join(RELIN);
            let relin = relin
                .exists()
                .then(|| files::read(&relin, |b| file::read_relin_key(b, &params)))
                .transpose()?;
            let keys = runtime::EvaluationKeys { relin, galois };
            keys.key_id().map_err(raise::<KeysError, _>)?;
            Ok(keys)
        })?;
        Ok(Self {
            inner: Arc::new(inner),
            params,
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
