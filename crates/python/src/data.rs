// SPDX-License-Identifier: Apache-2.0
//! Python's view of the data that client and server exchange: ciphertexts and evaluation keys.

use std::any::Any;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use numpy::ndarray::Array3;
use numpy::{IntoPyArray, PyArray3};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use ringmill_compiler::Compiles;
use ringmill_device::KeyId;
use ringmill_isa::macros::Note;
use ringmill_isa::{Level, Poly};
use ringmill_limits::Watch;
use ringmill_runtime::{Ciphers, Served};
use ringmill_schemes::file::FileError as FormatError;
use ringmill_schemes::rlwe::{self, Annotation, GaloisKeys, RingParams};
use ringmill_schemes::{Encrypted, file};

use crate::errors::{FileError, KeysError, raise};
use crate::files;
use crate::params::Params;
use crate::scheme::of_another_scheme;
use crate::watch::interruptible;

/// The interface of a ciphertext, whatever its scheme.
pub trait AnyCipher: Any + Send + Sync {
    /// Returns the name that programs use for the ciphertext's scheme.
    fn scheme(&self) -> &'static str;
    fn level(&self) -> Level;
    fn scale(&self) -> Option<f64>;
    fn key_id(&self) -> Option<KeyId>;
    /// Returns the shape of a ciphertext, which is its numbers of polynomials, of primes and of coefficients, and its
    /// residues. They come polynomial by polynomial, and prime by prime within a polynomial.
    fn limbs(&self) -> ((usize, usize, usize), Vec<u64>);
    /// Returns the number of bytes of the ciphertext's residues.
    fn bytes(&self) -> u64;
    fn params(&self) -> Params;
    /// Returns the content of the ciphertext's file.
    fn file(&self) -> Result<Vec<u8>, FormatError>;
    fn equals(&self, other: &dyn AnyCipher) -> bool;
}

/// A ciphertext of the scheme `S`, behind the interface that Python sees.
pub struct Held<S: Served> {
    pub cipher: S::Ciphertext,
    params: Arc<S::Params>,
}

impl<S: Served> Held<S> {
    pub fn new(cipher: S::Ciphertext, params: &Arc<S::Params>) -> Self {
        let params = Arc::clone(params);
        Self { cipher, params }
    }

    fn shape(&self) -> (usize, usize, usize) {
        let primes = self.cipher.at().level.primes();
        let degree = self.params.ring_params().degree();
        (self.cipher.size(), primes, degree)
    }
}

impl<S: Served> AnyCipher for Held<S> {
    fn scheme(&self) -> &'static str {
        <S as Compiles>::NAME
    }

    fn level(&self) -> Level {
        self.cipher.at().level
    }

    fn scale(&self) -> Option<f64> {
        match self.cipher.annotation().note() {
            Note::Scale(scale) => Some(scale),
            Note::Bare | Note::Factor(_) => None,
        }
    }

    fn key_id(&self) -> Option<KeyId> {
        self.cipher.key_id()
    }

    fn limbs(&self) -> ((usize, usize, usize), Vec<u64>) {
        let (polys, primes, degree) = self.shape();
        let mut residues = Vec::with_capacity(polys * primes * degree);
        for (poly, modulus) in (0..polys).flat_map(|p| (0..primes).map(move |q| (p, q))) {
            if let Some(limb) = self.cipher.limb(Poly(poly as u16), modulus) {
                residues.extend_from_slice(&limb.wide());
            }
        }
        ((polys, primes, degree), residues)
    }

    fn bytes(&self) -> u64 {
        let (polys, primes, degree) = self.shape();
        8 * (polys * primes * degree) as u64
    }

    fn params(&self) -> Params {
        Params::of::<S>(&self.params)
    }

    fn file(&self) -> Result<Vec<u8>, FormatError> {
        file::write_ciphertext(self.params.ring_params(), &self.cipher)
    }

    fn equals(&self, other: &dyn AnyCipher) -> bool {
        let other: &dyn Any = other;
        let other = other.downcast_ref::<Self>();
        other.is_some_and(|other| self.cipher == other.cipher)
    }
}

/// An encrypted vector of any scheme, as Python sees it.
#[pyclass(frozen, eq, from_py_object, module = "ringmill")]
#[derive(Clone)]
pub struct Ciphertext {
    pub inner: Arc<dyn AnyCipher>,
}

impl PartialEq for Ciphertext {
    fn eq(&self, other: &Self) -> bool {
        self.inner.equals(&*other.inner)
    }
}

impl Ciphertext {
    pub fn of<S: Served>(cipher: S::Ciphertext, params: &Arc<S::Params>) -> Self {
        let inner = Arc::new(Held::<S>::new(cipher, params));
        Self { inner }
    }

    /// Returns the ciphertext as one of scheme `S`. The error for another scheme calls it `name`.
    ///
    /// # Errors
    /// Raises a Python exception if the ciphertext is of another scheme.
    pub fn get<S: Served>(&self, name: &str) -> PyResult<&S::Ciphertext> {
        let any: &dyn Any = &*self.inner;
        let held = any.downcast_ref::<Held<S>>();
        let other = || of_another_scheme::<S>(&format!("ciphertext `{name}`"), self.inner.scheme());
        held.map(|held| &held.cipher).ok_or_else(other)
    }
}

/// Returns ciphertexts by input name, all of which must be of scheme `S`.
///
/// # Errors
/// Raises a Python exception if a ciphertext is of another scheme.
pub fn ciphers<S: Served>(given: &HashMap<String, Ciphertext>) -> PyResult<Ciphers<S>> {
    let one =
        |(name, cipher): (&String, &Ciphertext)| Ok((name.clone(), cipher.get::<S>(name)?.clone()));
    given.iter().map(one).collect()
}

/// Wraps ciphertexts of these parameters by output name for Python.
pub fn wrapped<S: Served>(
    ciphers: Ciphers<S>,
    params: &Arc<S::Params>,
) -> HashMap<String, Ciphertext> {
    let wrap = |(name, cipher)| (name, Ciphertext::of::<S>(cipher, params));
    ciphers.into_iter().map(wrap).collect()
}

#[pymethods]
impl Ciphertext {
    /// The name of the ciphertext's scheme in programs.
    #[getter]
    fn scheme(&self) -> &'static str {
        self.inner.scheme()
    }

    /// The ciphertext's level: one less than its number of primes.
    #[getter]
    fn level(&self) -> u32 {
        self.inner.level().0
    }

    /// The factor by which the ciphertext's slots are multiplied, or None for a scheme of integers.
    #[getter]
    fn scale(&self) -> Option<f64> {
        self.inner.scale()
    }

    /// The identity of the ciphertext's secret key, in hexadecimal. It is None if the file had no identity, as files of
    /// SEAL and of version 1 of the format.
    #[getter]
    fn key_id(&self) -> Option<String> {
        self.inner.key_id().map(|id| id.to_string())
    }

    /// The ciphertext's residues in evaluation form: an array of shape (polynomials, primes, ring degree).
    #[getter]
    fn limbs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<u64>>> {
        let (shape, residues) = self.inner.limbs();
        let limbs = Array3::from_shape_vec(shape, residues).map_err(raise::<FileError, _>)?;
        Ok(limbs.into_pyarray(py))
    }

    /// The parameters that the ciphertext belongs to.
    #[getter]
    fn params(&self) -> Params {
        self.inner.params()
    }

    /// Writes the ciphertext to a file, which appears whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let inner = Arc::clone(&self.inner);
        interruptible(py, move |watch| {
            let bytes = inner.file().map_err(raise::<FileError, _>)?;
            files::write(&path, watch, &bytes)
        })?
    }

    /// Returns the content of the ciphertext's file. A ciphertext that was just encrypted by the holder of the secret
    /// key takes half of the bytes of others.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let inner = Arc::clone(&self.inner);
        files::to_bytes(py, move || inner.file())
    }

    /// Reads a ciphertext of these parameters from the content of a file. Raises FileError if the content is damaged
    /// or has other parameters.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: PyBackedBytes, params: &Params) -> PyResult<Self> {
        let params = Arc::clone(&params.inner);
        let inner = files::from_bytes(py, data, move |bytes| params.read_ciphertext(bytes))?;
        Ok(Self { inner })
    }

    /// Reads a ciphertext of these parameters from a file. Raises FileError if the file is damaged or has other
    /// parameters.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf, params: &Params) -> PyResult<Self> {
        let params = Arc::clone(&params.inner);
        let inner = interruptible(py, move |watch| {
            files::read(&path, watch, |bytes| params.read_ciphertext(bytes))
        })??;
        Ok(Self { inner })
    }

    fn __repr__(&self) -> String {
        let level = self.inner.level();
        match self.inner.scale() {
            Some(scale) => format!(
                "<ringmill ciphertext at level {level}, scale 2^{:.2}>",
                scale.log2()
            ),
            None => format!(
                "<ringmill ciphertext of {} at level {level}>",
                self.inner.scheme()
            ),
        }
    }
}

/// The keys that a server needs to compute on a client's ciphertexts. They hold no secret.
#[pyclass(frozen, module = "ringmill")]
#[derive(Clone)]
pub struct EvaluationKeys {
    pub inner: Arc<ringmill_runtime::EvaluationKeys>,
    pub params: Params,
}

impl EvaluationKeys {
    /// Returns the content of the keys' file.
    fn file(&self) -> Result<Vec<u8>, FormatError> {
        file::write_evaluation_keys(self.params.inner.ring(), &self.inner)
    }
}

/// A public key, with which anyone encrypts a program's inputs for the holder of the secret key.
#[pyclass(frozen, eq, from_py_object, module = "ringmill")]
#[derive(Clone)]
pub struct PublicKey {
    pub inner: Arc<rlwe::PublicKey>,
    pub params: Params,
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.inner == other.inner
    }
}

#[pymethods]
impl PublicKey {
    /// The identity of the secret key that the public key belongs to, in hexadecimal. It is None if the secret key has
    /// none.
    #[getter]
    fn key_id(&self) -> Option<String> {
        self.inner.key_id().map(|id| id.to_string())
    }

    /// The parameters that the key belongs to.
    #[getter]
    fn params(&self) -> Params {
        self.params.clone()
    }

    /// Writes the key to a file, which appears whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let this = self.clone();
        interruptible(py, move |watch| {
            let bytes = this.file().map_err(raise::<FileError, _>)?;
            files::write(&path, watch, &bytes)
        })?
    }

    /// Reads a public key of these parameters from a file. Raises FileError if the file is damaged or has other
    /// parameters.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf, params: &Params) -> PyResult<Self> {
        let ring = Arc::clone(params.inner.ring());
        let inner = interruptible(py, move |watch| {
            files::read(&path, watch, |bytes| file::read_public_key(bytes, &ring))
        })??;
        Ok(Self {
            inner: Arc::new(inner),
            params: params.clone(),
        })
    }

    /// Returns the content of the key's file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let this = self.clone();
        files::to_bytes(py, move || this.file())
    }

    /// Reads a public key of these parameters from the content of a file. Raises FileError if the content is damaged or
    /// has other parameters.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: PyBackedBytes, params: &Params) -> PyResult<Self> {
        let ring = Arc::clone(params.inner.ring());
        let read = move |bytes: &[u8]| file::read_public_key(bytes, &ring);
        Ok(Self {
            inner: Arc::new(files::from_bytes(py, data, read)?),
            params: params.clone(),
        })
    }

    fn __repr__(&self) -> String {
        format!("<ringmill public key of {}>", self.params.inner.scheme())
    }
}

impl PublicKey {
    /// Returns the content of the key's file.
    fn file(&self) -> Result<Vec<u8>, FormatError> {
        file::write_public_key(self.params.inner.ring(), &self.inner)
    }
}

/// The names of the files in a folder of evaluation keys, which earlier versions wrote.
const RELIN: &str = "relin.key";
const GALOIS: &str = "galois.keys";
const FURTHER: &str = "bootstrapping.keys";

/// Reads evaluation keys from a folder, as earlier versions wrote it. It must have galois.keys. The other two files may
/// be missing.
fn read_folder(
    path: &Path,
    params: &rlwe::Params,
    watch: &Watch,
) -> PyResult<ringmill_runtime::EvaluationKeys> {
    let galois: GaloisKeys = files::read(&path.join(GALOIS), watch, |b| {
        file::read_galois_keys(b, params)
    })?;
    let relin = path.join(RELIN);
    let relin = relin
        .exists()
        .then(|| files::read(&relin, watch, |b| file::read_relin_key(b, params)))
        .transpose()?;
    let further = path.join(FURTHER);
    let further = further
        .exists()
        .then(|| files::read(&further, watch, |b| file::read_further_keys(b, params)))
        .transpose()?;
    let keys = ringmill_runtime::EvaluationKeys {
        relin,
        galois,
        further: further.unwrap_or_default(),
    };
    keys.key_id().map_err(raise::<KeysError, _>)?;
    Ok(keys)
}

#[pymethods]
impl EvaluationKeys {
    /// The identity of the keys' secret key, in hexadecimal. It is None if the files had no identity, as files of SEAL
    /// and of version 1 of the format.
    #[getter]
    fn key_id(&self) -> Option<String> {
        let known = self.inner.key_id().ok().flatten();
        known.map(|id| id.to_string())
    }

    /// The parameters that the keys belong to.
    #[getter]
    fn params(&self) -> Params {
        self.params.clone()
    }

    /// Writes the keys to a file, which appears whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let this = self.clone();
        interruptible(py, move |watch| {
            let bytes = this.file().map_err(raise::<FileError, _>)?;
            files::write(&path, watch, &bytes)
        })?
    }

    /// Reads evaluation keys of these parameters from a file, or from a folder that an earlier version wrote. Raises
    /// FileError if a file is damaged or has other parameters, and KeysError if the files of a folder belong to
    /// different secret keys.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf, params: &Params) -> PyResult<Self> {
        let ring = Arc::clone(params.inner.ring());
        let inner = interruptible(py, move |watch| -> PyResult<_> {
            match path.is_dir() {
                true => read_folder(&path, &ring, watch),
                false => files::read(&path, watch, |b| file::read_evaluation_keys(b, &ring)),
            }
        })??;
        Ok(Self {
            inner: Arc::new(inner),
            params: params.clone(),
        })
    }

    /// Returns the content of the keys' file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let this = self.clone();
        files::to_bytes(py, move || this.file())
    }

    /// Reads evaluation keys of these parameters from the content of a file. Raises FileError if the content is damaged
    /// or has other parameters.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: PyBackedBytes, params: &Params) -> PyResult<Self> {
        let ring = Arc::clone(params.inner.ring());
        let read = move |bytes: &[u8]| file::read_evaluation_keys(bytes, &ring);
        Ok(Self {
            inner: Arc::new(files::from_bytes(py, data, read)?),
            params: params.clone(),
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
    m.add_class::<PublicKey>()?;
    m.add_class::<EvaluationKeys>()
}
