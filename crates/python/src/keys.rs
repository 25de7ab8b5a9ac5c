// SPDX-License-Identifier: Apache-2.0
//! Python's view of the keys of a compiled program's client: encryption, decryption, and the precision of the answer.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;
use ringmill_compiler::{Compiled, Compiles, Values};
use ringmill_device::KeyId;
use ringmill_limits::Watch;
use ringmill_runtime::{Ciphers, Client, Messages, RuntimeError, Served, Sharing};
use ringmill_schemes::ckks::Flooding;
use ringmill_schemes::file;
use ringmill_schemes::rlwe;

use crate::data::{Ciphertext, EvaluationKeys, PublicKey, ciphers, wrapped};
use crate::errors::{DataError, ParameterError, raise};
use crate::files;
use crate::params::Params;
use crate::scheme::{Rows, Vector, failed, into_array, no_budget, no_precision, no_share};
use crate::watch::interruptible;

/// Vectors of Python by input or output name.
pub type Vectors<'py> = HashMap<String, Vector<'py>>;
/// The values of vectors by input or output name.
pub type Given = HashMap<String, Values>;

pub fn values(vectors: &Vectors<'_>) -> Given {
    let vectors = vectors.iter();
    vectors
        .map(|(name, vector)| (name.clone(), vector.values()))
        .collect()
}

/// Converts vectors by name to messages of scheme `S` by name.
///
/// # Errors
/// Raises `DataError` for numbers of another kind than the scheme's.
pub fn messages<S: Compiles>(given: Given) -> PyResult<Messages<S>> {
    let one = |(name, values)| match S::message(values) {
        Some(message) => Ok((name, message)),
        None => Err(DataError::new_err(format!(
            "`{name}` holds other numbers than the program's scheme computes on"
        ))),
    };
    given.into_iter().map(one).collect()
}

/// The interface of a program's client, whatever its scheme.
trait AnyClient: Send + Sync {
    fn slots(&self) -> u32;
    fn complex(&self) -> bool;
    fn key_id(&self) -> Option<KeyId>;
    fn encrypt(&self, inputs: Given, watch: &Watch) -> PyResult<HashMap<String, Ciphertext>>;
    fn decrypt(&self, name: &str, cipher: &Ciphertext, watch: &Watch) -> PyResult<Values>;
    fn measure(
        &self,
        inputs: Given,
        outputs: &HashMap<String, Ciphertext>,
        watch: &Watch,
    ) -> PyResult<Rows>;
    fn shared_bits(&self, flooding: &Flooding) -> PyResult<Vec<(String, f64)>>;
    fn decrypt_to_share(
        &self,
        outputs: &HashMap<String, Ciphertext>,
        flooding: &Flooding,
        watch: &Watch,
    ) -> PyResult<Given>;
    fn noise_budget(&self, name: &str, cipher: &Ciphertext, watch: &Watch) -> PyResult<u32>;
    fn public_key(&self, watch: &Watch) -> PyResult<rlwe::PublicKey>;
    fn save_secret(&self, path: &Path, watch: &Watch) -> PyResult<()>;
    fn shared_decryptions(&self) -> PyResult<Option<u64>>;
}

impl<S: Served> AnyClient for Client<S> {
    fn slots(&self) -> u32 {
        self.compiled().source.slots
    }

    fn complex(&self) -> bool {
        let constants = self.compiled().source.data.iter().flatten();
        constants.into_iter().any(|&(_, im)| im != 0.0)
    }

    fn key_id(&self) -> Option<KeyId> {
        Client::key_id(self)
    }

    fn encrypt(&self, inputs: Given, watch: &Watch) -> PyResult<HashMap<String, Ciphertext>> {
        let inputs = messages::<S>(inputs)?;
        let encrypted = self.watched(watch).encrypt(&inputs);
        let encrypted = encrypted.map_err(failed::<S>)?;
        Ok(wrapped::<S>(encrypted, &self.compiled().params))
    }

    fn decrypt(&self, name: &str, cipher: &Ciphertext, watch: &Watch) -> PyResult<Values> {
        let one = Ciphers::<S>::from([(name.to_owned(), cipher.get::<S>(name)?.clone())]);
        let opened = self.watched(watch).decrypt(&one).map_err(failed::<S>)?;
        let message = opened.into_values().next().map(S::values);
        message.ok_or_else(|| DataError::new_err(format!("`{name}` was not decrypted")))
    }

    fn measure(
        &self,
        inputs: Given,
        outputs: &HashMap<String, Ciphertext>,
        watch: &Watch,
    ) -> PyResult<Rows> {
        let (inputs, outputs) = (messages::<S>(inputs)?, ciphers::<S>(outputs)?);
        let client = self.watched(watch);
        let rows = S::measure(&client, &inputs, &outputs).ok_or_else(no_precision)?;
        let rows = rows.map_err(failed::<S>)?.into_iter();
        Ok(rows
            .map(|row| {
                let measured = row.measured_bits;
                (row.output, row.predicted_bits, measured, row.conditional)
            })
            .collect())
    }

    fn shared_bits(&self, flooding: &Flooding) -> PyResult<Vec<(String, f64)>> {
        let Sharing { bits, .. } = S::SHARING.ok_or_else(no_share)?;
        Ok(bits(self, flooding).into_iter().collect())
    }

    fn decrypt_to_share(
        &self,
        outputs: &HashMap<String, Ciphertext>,
        flooding: &Flooding,
        watch: &Watch,
    ) -> PyResult<Given> {
        let outputs = ciphers::<S>(outputs)?;
        let Sharing { decrypt, .. } = S::SHARING.ok_or_else(no_share)?;
        let shared = decrypt(&self.watched(watch), &outputs, flooding).map_err(failed::<S>)?;
        let values = |(name, message)| (name, S::values(message));
        Ok(shared.into_iter().map(values).collect())
    }

    fn noise_budget(&self, name: &str, cipher: &Ciphertext, watch: &Watch) -> PyResult<u32> {
        let budget = S::noise_budget(&self.watched(watch), cipher.get::<S>(name)?);
        budget.ok_or_else(no_budget::<S>)?.map_err(failed::<S>)
    }

    fn public_key(&self, watch: &Watch) -> PyResult<rlwe::PublicKey> {
        self.watched(watch).public_key().map_err(failed::<S>)
    }

    fn save_secret(&self, path: &Path, watch: &Watch) -> PyResult<()> {
        let key = self.secret_key();
        match S::SHARING {
            // This file keeps the count of shared decryptions.
            Some(_) => files::save_counted_secret(path, watch, key),
            None => files::write_secret(path, watch, &file::write_secret_key_in_the_clear(key)),
        }
    }

    fn shared_decryptions(&self) -> PyResult<Option<u64>> {
        S::SHARING.ok_or_else(no_share)?;
        Ok(self.secret_key().shared_decryptions())
    }
}

/// The keys of one client of a compiled program, the secret key among them.
#[pyclass(frozen)]
pub struct Keys {
    /// The client, not behind a lock, since a process that is forked while another thread holds a lock could never take
    /// it.
    client: Arc<dyn AnyClient>,
    evaluation: Arc<ringmill_runtime::EvaluationKeys>,
    params: Params,
}

impl Keys {
    /// Makes a Python object of a client, and the evaluation keys that the client's program needs.
    ///
    /// # Errors
    /// Raises a Python exception if `client` is an error, or if the keys cannot be made.
    pub fn new<S: Served>(
        compiled: &Compiled<S>,
        client: Result<Client<S>, RuntimeError<S::Error>>,
        watch: &Watch,
    ) -> PyResult<Self> {
        let client = client.map_err(failed::<S>)?;
        let evaluation = client.watched(watch).evaluation_keys();
        Ok(Self {
            evaluation: Arc::new(evaluation.map_err(failed::<S>)?),
            client: Arc::new(client),
            params: Params::of::<S>(&compiled.params),
        })
    }
}

fn flooding(statistical_bits: u32, decryptions: u64) -> PyResult<Flooding> {
    Flooding::new(statistical_bits, decryptions).map_err(raise::<ParameterError, _>)
}

#[pymethods]
impl Keys {
    #[getter]
    fn evaluation_keys(&self) -> EvaluationKeys {
        EvaluationKeys {
            inner: Arc::clone(&self.evaluation),
            params: self.params.clone(),
        }
    }

    /// Makes a new public key.
    fn public_key(&self, py: Python<'_>) -> PyResult<PublicKey> {
        let client = Arc::clone(&self.client);
        let inner = interruptible(py, move |watch| client.public_key(watch))??;
        Ok(PublicKey {
            inner: Arc::new(inner),
            params: self.params.clone(),
        })
    }

    /// The length of the program's vectors in slots.
    #[getter]
    fn slots(&self) -> u32 {
        self.client.slots()
    }

    /// Whether the program has constants with imaginary parts, so that outputs may be complex.
    #[getter]
    fn complex(&self) -> bool {
        self.client.complex()
    }

    fn encrypt(
        &self,
        py: Python<'_>,
        inputs: Vectors<'_>,
    ) -> PyResult<HashMap<String, Ciphertext>> {
        let (client, inputs) = (Arc::clone(&self.client), values(&inputs));
        interruptible(py, move |watch| client.encrypt(inputs, watch))?
    }

    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        name: String,
        ciphertext: Ciphertext,
    ) -> PyResult<Bound<'py, PyAny>> {
        let client = Arc::clone(&self.client);
        let values = interruptible(py, move |watch| client.decrypt(&name, &ciphertext, watch))??;
        Ok(into_array(values, py))
    }

    /// Compares decrypted outputs with the program evaluated without encryption. Returns for each output its name, the
    /// predicted bits of precision, and the measured bits if there are any. The last item says whether the prediction
    /// rests on a statement of the program about its values.
    fn measure(
        &self,
        py: Python<'_>,
        inputs: Vectors<'_>,
        outputs: HashMap<String, Ciphertext>,
    ) -> PyResult<Rows> {
        let (client, inputs) = (Arc::clone(&self.client), values(&inputs));
        interruptible(py, move |watch| client.measure(inputs, &outputs, watch))?
    }

    /// Returns a ciphertext's noise budget in bits: how much its noise may still grow before decryption fails.
    fn noise_budget(&self, py: Python<'_>, name: String, ciphertext: Ciphertext) -> PyResult<u32> {
        let client = Arc::clone(&self.client);
        interruptible(py, move |watch| {
            client.noise_budget(&name, &ciphertext, watch)
        })?
    }

    fn save_secret_key(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let client = Arc::clone(&self.client);
        interruptible(py, move |watch| client.save_secret(&path, watch))?
    }

    /// The identity of the client's secret key in hexadecimal, or None if the key has no identity.
    #[getter]
    fn key_id(&self) -> Option<String> {
        self.client.key_id().map(|id| id.to_string())
    }

    /// Returns how many decryptions under the secret key were shared with others, or None if that is not known.
    fn shared_decryptions(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        let client = Arc::clone(&self.client);
        interruptible(py, move |_| client.shared_decryptions())?
    }

    /// Returns for each output the bits of precision that remain after the noise of a shared decryption.
    fn shared_bits(&self, statistical_bits: u32, decryptions: u64) -> PyResult<Vec<(String, f64)>> {
        self.client
            .shared_bits(&flooding(statistical_bits, decryptions)?)
    }

    /// Decrypts outputs for others to see, with added noise that hides the errors of the outputs.
    fn decrypt_to_share<'py>(
        &self,
        py: Python<'py>,
        outputs: HashMap<String, Ciphertext>,
        statistical_bits: u32,
        decryptions: u64,
        decrypted_so_far: Option<u64>,
        assume_bounded: bool,
    ) -> PyResult<HashMap<String, Bound<'py, PyAny>>> {
        let flooding = flooding(statistical_bits, decryptions)?;
        let flooding = match decrypted_so_far {
            Some(count) => flooding.decrypted_so_far(count),
            None => flooding,
        };
        let flooding = match assume_bounded {
            true => flooding.assuming_bounds(),
            false => flooding,
        };
        let client = Arc::clone(&self.client);
        let shared = interruptible(py, move |watch| {
            client.decrypt_to_share(&outputs, &flooding, watch)
        })??;
        let array = |(name, values): (String, Values)| (name, into_array(values, py));
        Ok(shared.into_iter().map(array).collect())
    }
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Keys>()
}
