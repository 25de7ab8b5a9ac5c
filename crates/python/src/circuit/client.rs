// SPDX-License-Identifier: Apache-2.0
//! Python's view of a circuit's client, which holds the secret key and makes evaluation keys.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;
use ringmill_circuits::circuit::{Circuit, Port};
use ringmill_circuits::run::CircuitClient;
use ringmill_circuits::run::client::ciphertexts;
use ringmill_circuits::tfhe::{Client, Params, file, keys};
use ringmill_limits::Watch;

use super::data::{CircuitEvaluationKeys, EncryptedIntegers, ServerKeys};
use super::{admitted, scheme, stopped};
use crate::errors::DataError;
use crate::files;
use crate::watch::interruptible;

/// The secret key and the evaluation keys of one client of a circuit.
#[pyclass(frozen, module = "ringmill")]
pub struct CircuitKeys {
    client: Arc<CircuitClient>,
    circuit: Arc<Circuit>,
    evaluation: Arc<ServerKeys>,
}

impl CircuitKeys {
    pub fn new(client: Client, circuit: Arc<Circuit>, watch: &Watch) -> PyResult<Self> {
        let bytes = keys::bytes(client.params());
        admitted(watch, "the evaluation keys", bytes)?;
        let bootstrap = client.bootstrap_key().map_err(scheme)?;
        let switch = client.key_switch_key().map_err(scheme)?;
        let params = Arc::clone(client.params());
        Ok(Self {
            client: Arc::new(CircuitClient::new(client)),
            circuit,
            evaluation: Arc::new(ServerKeys::new(params, bootstrap, switch)),
        })
    }

    pub fn load(
        params: Arc<Params>,
        circuit: Arc<Circuit>,
        path: &Path,
        watch: &Watch,
    ) -> PyResult<Self> {
        let secret = files::read_secret(path, watch, |bytes| {
            file::read_secret_key_in_the_clear(bytes, &params)
        })?;
        let client = Client::with_secret(params, Arc::new(secret)).map_err(scheme)?;
        Self::new(client, circuit, watch)
    }
}

/// Returns `count` of these ports of a circuit, from number `first` on. Raises an exception if there are fewer.
fn ports(ports: &[Port], first: usize, count: usize) -> PyResult<&[Port]> {
    let found = first
        .checked_add(count)
        .and_then(|end| ports.get(first..end));
    found.ok_or_else(|| DataError::new_err("the program has no such input or output"))
}

#[pymethods]
impl CircuitKeys {
    #[getter]
    fn evaluation_keys(&self) -> CircuitEvaluationKeys {
        CircuitEvaluationKeys {
            inner: Arc::clone(&self.evaluation),
        }
    }

    #[getter]
    fn key_id(&self) -> Option<String> {
        let secret = self.client.client().secret();
        secret.key_id().map(|id| id.to_string())
    }

    /// Encrypts integers for the circuit's input ports from number `first` on, under masks from one fresh seed.
    fn encrypt(
        &self,
        py: Python<'_>,
        first: usize,
        values: Vec<i128>,
    ) -> PyResult<EncryptedIntegers> {
        let (client, circuit) = (Arc::clone(&self.client), Arc::clone(&self.circuit));
        interruptible(py, move |watch| {
            let ports = ports(&circuit.inputs, first, values.len())?;
            let fresh = client.encrypt_all(ports, &values, watch);
            Ok(EncryptedIntegers::new(
                fresh.map_err(stopped)?,
                client.params(),
            ))
        })?
    }

    /// Decrypts the integers of `count` output ports from number `first` on.
    fn decrypt(
        &self,
        py: Python<'_>,
        first: usize,
        count: usize,
        given: EncryptedIntegers,
    ) -> PyResult<Vec<i128>> {
        let (client, circuit) = (Arc::clone(&self.client), Arc::clone(&self.circuit));
        interruptible(py, move |watch| {
            let ports = ports(&circuit.outputs, first, count)?;
            given.check(ports)?;
            let mut limbs = given.inner.ciphertexts();
            let mut values = Vec::with_capacity(count);
            for port in ports {
                watch.check().map_err(|halt| stopped(halt.into()))?;
                let (own, rest) = limbs.split_at(ciphertexts(port).min(limbs.len()));
                values.push(client.decrypt(port, own).map_err(stopped)?);
                limbs = rest;
            }
            if limbs.is_empty() {
                return Ok(values);
            }
            Err(DataError::new_err(
                "an output has more ciphertexts than its type; it is of another program",
            ))
        })?
    }

    /// Writes the secret key to a file that only its owner can read.
    fn save_secret_key(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let client = Arc::clone(&self.client);
        interruptible(py, move |watch| {
            let bytes = file::write_secret_key_in_the_clear(client.client().secret());
            files::write_secret(&path, watch, &bytes)
        })?
    }
}
