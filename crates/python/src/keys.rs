//! The keys of one client of a compiled program: encryption, decryption, and how precise the answer is.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use num_complex::Complex64;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use ringmill_compiler::ckks::Compiled;
use ringmill_devices::runtime::{self, Ciphertexts, Client, RuntimeError, Vectors};
use ringmill_schemes::ckks::{CkksError, Flooding, file};
use ringmill_schemes::rlwe::RlweError;

use crate::data::{Ciphertext, EvaluationKeys};
use crate::errors::{DataError, DeviceError, KeysError, ParameterError, raise};
use crate::files;
use crate::watch::interruptible;

pub type Arrays<'py> = HashMap<String, PyReadonlyArray1<'py, Complex64>>;

pub fn vectors(arrays: &Arrays<'_>) -> Vectors {
    arrays
        .iter()
        .map(|(name, array)| (name.clone(), array.as_array().to_vec()))
        .collect()
}

/// The exception that a fault around a compiled program calls for.
pub fn failed(error: RuntimeError) -> PyErr {
    match error {
        RuntimeError::MissingKey { .. }
        | RuntimeError::NotSeeded { .. }
        | RuntimeError::Key { .. }
        | RuntimeError::OtherKeys { .. }
        | RuntimeError::Scheme(CkksError::Rlwe(RlweError::OtherKeys { .. }))
        | RuntimeError::Value {
            source: CkksError::Rlwe(RlweError::OtherKeys { .. }),
            ..
        } => raise::<KeysError, _>(error),
        RuntimeError::Device(_) => raise::<DeviceError, _>(error),
        _ => raise::<DataError, _>(error),
    }
}

/// The keys of one client of a compiled program, the secret one among them.
#[pyclass(frozen)]
pub struct Keys {
    compiled: Arc<Compiled>,
    /// Without a lock, which a process forked while it is held could not take any more.
    client: Client,
    evaluation: Arc<runtime::EvaluationKeys>,
}

impl Keys {
    pub fn new(
        compiled: Arc<Compiled>,
        client: Client,
        evaluation: runtime::EvaluationKeys,
    ) -> Self {
        Self {
            compiled,
            client,
            evaluation: Arc::new(evaluation),
        }
    }
}

#[pymethods]
impl Keys {
    #[getter]
    fn evaluation_keys(&self) -> EvaluationKeys {
        EvaluationKeys {
            inner: Arc::clone(&self.evaluation),
            params: Arc::clone(&self.compiled.params),
        }
    }

    /// Length of the program's vectors.
    #[getter]
    fn slots(&self) -> u32 {
        self.compiled.source.slots
    }

    /// Whether the program has complex constants.
    #[getter]
    fn complex(&self) -> bool {
        self.compiled
            .source
            .data
            .iter()
            .flatten()
            .any(|&(_, im)| im != 0.0)
    }

    fn encrypt(slf: &Bound<'_, Self>, inputs: Arrays<'_>) -> PyResult<HashMap<String, Ciphertext>> {
        let inputs = vectors(&inputs);
        let this = slf.clone().unbind();
        let degree = slf.get().compiled.params.degree();
        let encrypted = interruptible(slf.py(), move |watch| {
            let client = this.get().client.watched(watch);
            client.encrypt(&inputs).map_err(failed)
        })??;
        Ok(encrypted
            .into_iter()
            .map(|(n, c)| {
                (
                    n,
                    Ciphertext {
                        inner: Arc::new(c),
                        degree,
                    },
                )
            })
            .collect())
    }

    fn decrypt<'py>(
        slf: &Bound<'py, Self>,
        ciphertext: &Ciphertext,
    ) -> PyResult<Bound<'py, PyArray1<Complex64>>> {
        let (this, ciphertext) = (slf.clone().unbind(), Arc::clone(&ciphertext.inner));
        let values = interruptible(slf.py(), move |watch| {
            let client = this.get().client.watched(watch);
            let one = BTreeMap::from([("ciphertext".to_owned(), (*ciphertext).clone())]);
            client.decrypt(&one).map_err(failed)
        })??;
        Ok(values
            .into_iter()
            .next()
            .map(|(_, v)| v)
            .unwrap_or_default()
            .into_pyarray(slf.py()))
    }

    /// For each output of the program its name, the predicted bits of precision, and those measured against the clear.
    fn measure(
        slf: &Bound<'_, Self>,
        inputs: Arrays<'_>,
        outputs: HashMap<String, Ciphertext>,
    ) -> PyResult<Vec<(String, f64, Option<f64>)>> {
        let inputs = vectors(&inputs);
        let this = slf.clone().unbind();
        interruptible(slf.py(), move |watch| {
            let client = this.get().client.watched(watch);
            let outputs: Ciphertexts = outputs
                .into_iter()
                .map(|(n, c)| (n, (*c.inner).clone()))
                .collect();
            let clear = client.decrypt(&outputs).map_err(failed)?;
            let rows = client.measure(&inputs, &clear).map_err(failed)?;
            Ok(rows
                .into_iter()
                .map(|row| (row.output, row.predicted_bits, row.measured_bits))
                .collect())
        })?
    }

    fn save_secret_key(slf: &Bound<'_, Self>, path: PathBuf) -> PyResult<()> {
        let this = slf.clone().unbind();
        interruptible(slf.py(), move |watch| {
            let secret = this.get().client.secret_key();
            let bytes = file::write_secret_key_in_the_clear(secret);
            files::write_secret(&path, watch, &bytes)
        })?
    }

    /// The identity of the secret key in hexadecimal, or None.
    #[getter]
    fn key_id(&self) -> Option<String> {
        self.client.key_id().map(|id| id.to_string())
    }

    /// For each output the bits that decrypting it to share leaves.
    fn shared_bits(&self, statistical_bits: u32, decryptions: u64) -> PyResult<Vec<(String, f64)>> {
        let flooding =
            Flooding::new(statistical_bits, decryptions).map_err(raise::<ParameterError, _>)?;
        Ok(self.client.shared_bits(&flooding).into_iter().collect())
    }

    /// Decrypts outputs with noise that hides their errors.
    fn decrypt_to_share<'py>(
        slf: &Bound<'py, Self>,
        outputs: HashMap<String, Ciphertext>,
        statistical_bits: u32,
        decryptions: u64,
    ) -> PyResult<HashMap<String, Bound<'py, PyArray1<Complex64>>>> {
        let flooding =
            Flooding::new(statistical_bits, decryptions).map_err(raise::<ParameterError, _>)?;
        let this = slf.clone().unbind();
        let shared = interruptible(slf.py(), move |watch| {
            let outputs: Ciphertexts = outputs
                .into_iter()
                .map(|(n, c)| (n, (*c.inner).clone()))
                .collect();
            let client = this.get().client.watched(watch);
            client.decrypt_to_share(&outputs, &flooding).map_err(failed)
        })??;
        Ok(shared
            .into_iter()
            .map(|(name, values)| (name, values.into_pyarray(slf.py())))
            .collect())
    }
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Keys>()
}
