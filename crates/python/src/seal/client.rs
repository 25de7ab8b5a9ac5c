// SPDX-License-Identifier: Apache-2.0
//! The client of CKKS in SEAL's formats: keys, encoding, encryption and decryption.

use std::sync::Arc;

use num_complex::Complex64;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use ringmill_isa::Level;
use ringmill_schemes::ckks::{Decryptor, Encoder, Encryptor, Plaintext};
use ringmill_schemes::seal;

use super::keyring::Keyring;
use super::refusal::scheme_refused;
use super::side::{Ckks, Shared};
use super::{Bytes, made};
use crate::watch::interruptible;

/// Converts a Python array or list of real or complex numbers, of one dimension, to slot values.
fn slots(values: &Bound<'_, PyAny>) -> PyResult<Vec<Complex64>> {
    let array = values
        .py()
        .import("numpy")?
        .call_method1("asarray", (values, "complex128"))?;
    let array: PyReadonlyArray1<'_, Complex64> = array.extract()?;
    Ok(array.as_array().iter().copied().collect())
}

/// The side that holds the secret key. It makes keys, encodings and encryptions that SEAL loads, and decrypts SEAL's
/// ciphertexts.
///
/// Every encryption and every key draws fresh randomness from the operating system, so a forked process repeats none.
/// SEAL's files carry no key identity, so nothing can check whether a ciphertext belongs to this secret key. A
/// ciphertext of another key decrypts to noise.
#[pyclass(frozen)]
pub(super) struct SealClient {
    inner: Arc<Client>,
}

struct Client {
    keyring: Arc<Keyring<Ckks>>,
    encoder: Encoder,
}

impl Client {
    fn encoded(&self, values: &[Complex64], scale: f64, level: Option<u32>) -> PyResult<Plaintext> {
        let level = level.map_or(self.keyring.shared.params().max_level(), Level);
        self.encoder
            .encode(values, level, scale)
            .map_err(scheme_refused)
    }

    fn decoded(&self, plain: &Plaintext) -> PyResult<Vec<Complex64>> {
        let slots = self.keyring.shared.params().slots();
        self.encoder.decode(plain, slots).map_err(scheme_refused)
    }
}

impl SealClient {
    fn with(keyring: Keyring<Ckks>) -> Self {
        let encoder = Encoder::new(Arc::clone(keyring.shared.params()));
        let keyring = Arc::new(keyring);
        Self {
            inner: Arc::new(Client { keyring, encoder }),
        }
    }

    /// Runs the function `work` without the interpreter's lock, and returns the bytes that it wrote as a Python object.
    fn written<'py, T: AsRef<[u8]> + Send + 'static>(
        &self,
        py: Python<'py>,
        work: impl FnOnce(&Client) -> PyResult<T> + Send + 'static,
    ) -> Bytes<'py> {
        let this = Arc::clone(&self.inner);
        made(py, move |_| work(&this))
    }

    fn slots_of<'py>(
        &self,
        py: Python<'py>,
        work: impl FnOnce(&Client) -> PyResult<Vec<Complex64>> + Send + 'static,
    ) -> PyResult<Bound<'py, PyArray1<Complex64>>> {
        let this = Arc::clone(&self.inner);
        let values = interruptible(py, move |_| work(&this))??;
        Ok(values.into_pyarray(py))
    }
}

#[pymethods]
impl SealClient {
    /// Makes a new secret key for parameters that SEAL saved.
    #[staticmethod]
    #[pyo3(signature = (parms, *, security_table = "guidelines_2024", allow_insecure_parameters_for_tests_only = false,
        compression = "zstd"))]
    fn generate(
        parms: &[u8],
        security_table: &str,
        allow_insecure_parameters_for_tests_only: bool,
        compression: &str,
    ) -> PyResult<Self> {
        let shared = Shared::open(
            parms,
            security_table,
            allow_insecure_parameters_for_tests_only,
            compression,
        )?;
        Ok(Self::with(Keyring::generate(shared)?))
    }

    /// Loads the secret key that SEAL's `SecretKey.save` wrote.
    #[staticmethod]
    #[pyo3(signature = (parms, secret_key, *, security_table = "guidelines_2024",
        allow_insecure_parameters_for_tests_only = false, compression = "zstd"))]
    fn load(
        parms: &[u8],
        secret_key: &[u8],
        security_table: &str,
        allow_insecure_parameters_for_tests_only: bool,
        compression: &str,
    ) -> PyResult<Self> {
        let shared = Shared::open(
            parms,
            security_table,
            allow_insecure_parameters_for_tests_only,
            compression,
        )?;
        Ok(Self::with(Keyring::load(shared, secret_key)?))
    }

    /// Returns the parameters as the bytes that SEAL's `EncryptionParameters.load` reads.
    fn parameters<'py>(&self, py: Python<'py>) -> Bytes<'py> {
        self.inner.keyring.parameters(py)
    }

    /// Returns the secret key itself, not encrypted, as the bytes that SEAL's `SecretKey.load` reads.
    fn secret_key_in_the_clear<'py>(&self, py: Python<'py>) -> Bytes<'py> {
        self.inner.keyring.secret_key_in_the_clear(py)
    }

    /// Makes a new public key, as the bytes that SEAL's `PublicKey.load` reads.
    fn public_key<'py>(&self, py: Python<'py>) -> Bytes<'py> {
        self.inner.keyring.public_key(py)
    }

    /// Makes a new relinearisation key, as the bytes that SEAL's `RelinKeys.load` reads.
    fn relin_keys<'py>(&self, py: Python<'py>) -> Bytes<'py> {
        self.inner.keyring.relin_keys(py)
    }

    /// Makes new Galois keys for rotations by these steps, and for conjugation if asked, as the bytes that SEAL's
    /// `GaloisKeys.load` reads.
    #[pyo3(signature = (steps, *, conjugation = false))]
    fn galois_keys<'py>(&self, py: Python<'py>, steps: Vec<i64>, conjugation: bool) -> Bytes<'py> {
        self.inner.keyring.galois_keys(py, steps, conjugation)
    }

    /// Encodes up to N / 2 values (their number is a power of two) to a plaintext at a scale. The level is the highest
    /// unless one is given.
    #[pyo3(signature = (values, scale, level = None))]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyAny>,
        scale: f64,
        level: Option<u32>,
    ) -> Bytes<'py> {
        let values = slots(values)?;
        self.written(py, move |this| {
            let plain = this.encoded(&values, scale, level)?;
            this.keyring
                .shared
                .bytes(|context, compression| seal::write_plaintext(context, &plain, compression))
        })
    }

    /// Encodes values and encrypts them with the secret key.
    #[pyo3(signature = (values, scale, level = None))]
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyAny>,
        scale: f64,
        level: Option<u32>,
    ) -> Bytes<'py> {
        let values = slots(values)?;
        self.written(py, move |this| {
            let plain = this.encoded(&values, scale, level)?;
            let params = Arc::clone(this.keyring.shared.params());
            let cipher = Encryptor::with_secret_key(params, this.keyring.secret_key().clone())
                .and_then(|encryptor| encryptor.encrypt(&plain))
                .map_err(scheme_refused)?;
            this.keyring.shared.write_cipher(&cipher)
        })
    }

    /// Decrypts a ciphertext in SEAL's format and decodes it to N / 2 complex slots.
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        cipher: PyBackedBytes,
    ) -> PyResult<Bound<'py, PyArray1<Complex64>>> {
        self.slots_of(py, move |this| {
            let cipher = this.keyring.shared.cipher(&cipher)?;
            let params = Arc::clone(this.keyring.shared.params());
            let plain = Decryptor::new(params, this.keyring.secret_key().clone())
                .and_then(|decryptor| decryptor.decrypt(&cipher))
                .map_err(scheme_refused)?;
            this.decoded(&plain)
        })
    }

    /// Decodes a plaintext in SEAL's format to N / 2 complex slots.
    fn decode<'py>(
        &self,
        py: Python<'py>,
        plain: PyBackedBytes,
    ) -> PyResult<Bound<'py, PyArray1<Complex64>>> {
        self.slots_of(py, move |this| {
            this.decoded(&this.keyring.shared.plain(&plain)?)
        })
    }
}
