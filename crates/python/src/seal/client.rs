//! Keys, encoding, encryption and decryption in SEAL's formats.

use std::sync::Arc;

use num_complex::Complex64;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use ringmill_isa::Level;
use ringmill_limits::Watch;
use ringmill_schemes::ckks::key::KeyForm;
use ringmill_schemes::ckks::{Decryptor, Encoder, Encryptor, KSwitchKey, KeyGenerator, Plaintext};
use ringmill_schemes::rlwe::RlweError;
use ringmill_schemes::seal;

use super::{Bytes, Shared, made, refused, scheme_refused};
use crate::watch::interruptible;

/// Real or complex numbers, as an array or a list of one dimension.
fn slots(values: &Bound<'_, PyAny>) -> PyResult<Vec<Complex64>> {
    let array = values
        .py()
        .import("numpy")?
        .call_method1("asarray", (values, "complex128"))?;
    let array: PyReadonlyArray1<'_, Complex64> = array.extract()?;
    Ok(array.as_array().iter().copied().collect())
}

/// The side that holds the secret: keys, encodings and encryptions that SEAL loads, and decryption of SEAL's.
///
/// Every encryption and every key draws randomness of its own from the operating system: a forked process repeats none.
/// SEAL's files carry no key identity, so whether a ciphertext belongs to this secret key cannot be checked: one of
/// another key decrypts to noise.
#[pyclass(frozen)]
pub(super) struct SealClient {
    shared: Shared,
    keys: KeyGenerator,
    encoder: Encoder,
}

impl SealClient {
    fn with(shared: Shared, keys: Result<KeyGenerator, RlweError>) -> PyResult<Self> {
        let encoder = Encoder::new(Arc::clone(shared.params()));
        Ok(Self {
            keys: keys.map_err(scheme_refused)?,
            encoder,
            shared,
        })
    }

    fn encoded(&self, values: &[Complex64], scale: f64, level: Option<u32>) -> PyResult<Plaintext> {
        let level = level.map_or(self.shared.params().max_level(), Level);
        self.encoder
            .encode(values, level, scale)
            .map_err(scheme_refused)
    }

    fn decoded(&self, plain: &Plaintext) -> PyResult<Vec<Complex64>> {
        let slots = self.shared.params().slots();
        self.encoder.decode(plain, slots).map_err(scheme_refused)
    }

    /// What one of SEAL's writers makes of what `work` gives.
    fn written<'py, T: AsRef<[u8]> + Send + 'static>(
        slf: &Bound<'py, Self>,
        work: impl FnOnce(&Self, &Watch) -> PyResult<T> + Send + 'static,
    ) -> Bytes<'py> {
        let this = slf.clone().unbind();
        made(slf.py(), move |watch| work(this.get(), watch))
    }

    fn slots_of<'py>(
        slf: &Bound<'py, Self>,
        work: impl FnOnce(&Self) -> PyResult<Vec<Complex64>> + Send + 'static,
    ) -> PyResult<Bound<'py, PyArray1<Complex64>>> {
        let this = slf.clone().unbind();
        let values = interruptible(slf.py(), move |_| work(this.get()))??;
        Ok(values.into_pyarray(slf.py()))
    }
}

#[pymethods]
impl SealClient {
    /// New keys for parameters that SEAL saved.
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
        let keys = KeyGenerator::new(Arc::clone(shared.params()));
        Self::with(shared, keys)
    }

    /// The secret key that SEAL's `SecretKey.save` wrote.
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
        let secret = seal::read_secret_key(&shared.context, secret_key).map_err(refused)?;
        let keys = KeyGenerator::from_secret_key(Arc::clone(shared.params()), secret);
        Self::with(shared, keys)
    }

    /// For SEAL's `EncryptionParameters.load`.
    fn parameters<'py>(&self, py: Python<'py>) -> Bytes<'py> {
        Ok(PyBytes::new(
            py,
            &self.shared.bytes(seal::write_parameters)?,
        ))
    }

    /// For SEAL's `SecretKey.load`: the key itself, not encrypted.
    fn secret_key_in_the_clear<'py>(&self, py: Python<'py>) -> Bytes<'py> {
        let bytes = self.shared.bytes(|context, compression| {
            seal::write_secret_key_in_the_clear(context, self.keys.secret_key(), compression)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// A new public key, for SEAL's `PublicKey.load`.
    fn public_key<'py>(slf: &Bound<'py, Self>) -> Bytes<'py> {
        Self::written(slf, |this, _| {
            let key = this.keys.public_key().map_err(scheme_refused)?;
            this.shared
                .bytes(|context, compression| seal::write_public_key(context, &key, compression))
        })
    }

    /// A new relinearisation key, for SEAL's `RelinKeys.load`.
    fn relin_keys<'py>(slf: &Bound<'py, Self>) -> Bytes<'py> {
        Self::written(slf, |this, watch| {
            let keys = this.keys.watched(watch);
            let key = keys.relin_key(KeyForm::Seeded).map_err(scheme_refused)?;
            this.shared
                .bytes(|context, compression| seal::write_relin_keys(context, &key, compression))
        })
    }

    /// New Galois keys for rotations by these steps, and for conjugation if asked; for SEAL's `GaloisKeys.load`.
    #[pyo3(signature = (steps, *, conjugation = false))]
    fn galois_keys<'py>(slf: &Bound<'py, Self>, steps: Vec<i64>, conjugation: bool) -> Bytes<'py> {
        Self::written(slf, move |this, watch| {
            let params = this.shared.params();
            let elements = steps.iter().map(|&step| params.galois_element(step));
            let mut elements = elements
                .collect::<Result<Vec<_>, _>>()
                .map_err(scheme_refused)?;
            if conjugation {
                elements.push(params.conjugation_element());
            }
            let size = KSwitchKey::bytes_of(params, KeyForm::Stored) * elements.len() as u64;
            let made = watch
                .admit("the Galois keys", size)
                .map_err(RlweError::from);
            let keys = made.and_then(|()| {
                let keys = this.keys.watched(watch);
                keys.galois_keys(&elements, KeyForm::Seeded)
            });
            let keys = keys.map_err(scheme_refused)?;
            this.shared
                .bytes(|context, compression| seal::write_galois_keys(context, &keys, compression))
        })
    }

    /// Encodes up to N / 2 slots (a power of two) at a scale; at the highest level unless one is given.
    #[pyo3(signature = (values, scale, level = None))]
    fn encode<'py>(
        slf: &Bound<'py, Self>,
        values: &Bound<'py, PyAny>,
        scale: f64,
        level: Option<u32>,
    ) -> Bytes<'py> {
        let values = slots(values)?;
        Self::written(slf, move |this, _| {
            let plain = this.encoded(&values, scale, level)?;
            this.shared
                .bytes(|context, compression| seal::write_plaintext(context, &plain, compression))
        })
    }

    /// Encodes and encrypts under the secret key.
    #[pyo3(signature = (values, scale, level = None))]
    fn encrypt<'py>(
        slf: &Bound<'py, Self>,
        values: &Bound<'py, PyAny>,
        scale: f64,
        level: Option<u32>,
    ) -> Bytes<'py> {
        let values = slots(values)?;
        Self::written(slf, move |this, _| {
            let plain = this.encoded(&values, scale, level)?;
            let params = Arc::clone(this.shared.params());
            let cipher = Encryptor::with_secret_key(params, this.keys.secret_key().clone())
                .and_then(|encryptor| encryptor.encrypt(&plain))
                .map_err(scheme_refused)?;
            this.shared.write_cipher(&cipher)
        })
    }

    /// Decrypts and decodes a ciphertext of SEAL: N / 2 complex slots.
    fn decrypt<'py>(
        slf: &Bound<'py, Self>,
        cipher: PyBackedBytes,
    ) -> PyResult<Bound<'py, PyArray1<Complex64>>> {
        Self::slots_of(slf, move |this| {
            let cipher = this.shared.cipher(&cipher)?;
            let params = Arc::clone(this.shared.params());
            let plain = Decryptor::new(params, this.keys.secret_key().clone())
                .and_then(|decryptor| decryptor.decrypt(&cipher))
                .map_err(scheme_refused)?;
            this.decoded(&plain)
        })
    }

    /// Decodes a plaintext of SEAL: N / 2 complex slots.
    fn decode<'py>(
        slf: &Bound<'py, Self>,
        plain: PyBackedBytes,
    ) -> PyResult<Bound<'py, PyArray1<Complex64>>> {
        Self::slots_of(slf, move |this| this.decoded(&this.shared.plain(&plain)?))
    }
}
