// SPDX-License-Identifier: Apache-2.0
//! The part that the clients of all schemes share: a secret key, and the keys made from it, in SEAL's formats.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use ringmill_limits::Watch;
use ringmill_schemes::rlwe::{KSwitchKey, KeyForm, KeyGenerator, RingParams, RlweError, SecretKey};
use ringmill_schemes::seal;

use super::refusal::{refused, scheme_refused};
use super::side::{Shared, Side};
use super::{Bytes, made};

/// The holder of a secret key in SEAL's formats.
pub(super) struct Keyring<S: Side> {
    pub shared: Shared<S>,
    keys: KeyGenerator,
}

impl<S: Side> Keyring<S> {
    /// Makes a new secret key for the shared parameters.
    ///
    /// # Errors
    /// Raises a Python exception if the operating system gives no randomness.
    pub fn generate(shared: Shared<S>) -> PyResult<Self> {
        let keys = KeyGenerator::new(Arc::clone(shared.params()));
        Ok(Self {
            keys: keys.map_err(scheme_refused)?,
            shared,
        })
    }

    /// Loads the secret key that SEAL's `SecretKey.save` wrote.
    ///
    /// # Errors
    /// Raises a Python exception if the bytes are no secret key for the shared parameters.
    pub fn load(shared: Shared<S>, secret_key: &[u8]) -> PyResult<Self> {
        let secret = seal::read_secret_key(&shared.context, secret_key).map_err(refused)?;
        let keys = KeyGenerator::from_secret_key(Arc::clone(shared.params()), secret);
        Ok(Self {
            keys: keys.map_err(scheme_refused)?,
            shared,
        })
    }

    pub fn secret_key(&self) -> &SecretKey {
        self.keys.secret_key()
    }

    /// Runs the function `work` without the interpreter's lock, and returns the bytes that it wrote as a Python object.
    fn written<'py, T: AsRef<[u8]> + Send + 'static>(
        self: &Arc<Self>,
        py: Python<'py>,
        work: impl FnOnce(&Self, &Watch) -> PyResult<T> + Send + 'static,
    ) -> Bytes<'py> {
        let this = Arc::clone(self);
        made(py, move |watch| work(&this, watch))
    }

    pub fn parameters<'py>(&self, py: Python<'py>) -> Bytes<'py> {
        let bytes = self.shared.bytes(seal::write_parameters)?;
        Ok(PyBytes::new(py, &bytes))
    }

    pub fn secret_key_in_the_clear<'py>(&self, py: Python<'py>) -> Bytes<'py> {
        let bytes = self.shared.bytes(|context, compression| {
            seal::write_secret_key_in_the_clear(context, self.secret_key(), compression)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    pub fn public_key<'py>(self: &Arc<Self>, py: Python<'py>) -> Bytes<'py> {
        self.written(py, |this, _| {
            let key = this.keys.public_key().map_err(scheme_refused)?;
            this.shared
                .bytes(|context, compression| seal::write_public_key(context, &key, compression))
        })
    }

    pub fn relin_keys<'py>(self: &Arc<Self>, py: Python<'py>) -> Bytes<'py> {
        self.written(py, |this, watch| {
            let keys = this.keys.watched(watch);
            let key = keys.relin_key(KeyForm::Seeded).map_err(scheme_refused)?;
            this.shared
                .bytes(|context, compression| seal::write_relin_keys(context, &key, compression))
        })
    }

    /// Makes Galois keys for rotations by these steps, and for the Galois element 2N - 1 if `conjugation` is set. In
    /// CKKS that element conjugates the slots, in BFV and BGV it exchanges the two rows.
    pub fn galois_keys<'py>(
        self: &Arc<Self>,
        py: Python<'py>,
        steps: Vec<i64>,
        conjugation: bool,
    ) -> Bytes<'py> {
        self.written(py, move |this, watch| {
            let params = this.shared.params().ring_params();
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
}
