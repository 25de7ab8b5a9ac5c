// SPDX-License-Identifier: Apache-2.0
//! The client and the server of the scheme, neither of which has a key.

use std::sync::Arc;

use ringmill_device::KeyId;
use ringmill_device::Limbed;
use ringmill_limits::Watch;
use ringmill_schemes::{At, ParameterSet, roles};

use super::{Clear, ClearError, NoKey, Params, Value};

pub struct KeyHolder(Arc<Params>);

impl roles::KeyHolder for KeyHolder {
    type Scheme = Clear;
    type SecretKey = ();
    type Sender = Sender;

    fn new(params: Arc<Params>) -> Result<Self, ClearError> {
        Ok(Self(params))
    }

    fn with_secret_key(params: Arc<Params>, (): ()) -> Result<Self, ClearError> {
        Ok(Self(params))
    }

    fn from_seed_for_reproducible_tests_only(
        params: Arc<Params>,
        _: [u8; 32],
    ) -> Result<Self, ClearError> {
        Ok(Self(params))
    }

    fn watched(&self, _: &Watch) -> Self {
        Self(Arc::clone(&self.0))
    }

    fn secret_key(&self) -> &() {
        &()
    }

    fn key_id(&self) -> Option<KeyId> {
        None
    }

    fn public_key(&self) -> Result<(), ClearError> {
        Ok(())
    }

    fn evaluation_keys(&self, _: &[NoKey], _: bool) -> Result<(), ClearError> {
        Ok(())
    }

    fn encrypt(&self, entries: &Vec<u64>, _: &At<()>) -> Result<Value, ClearError> {
        Value::encode(&self.0, entries)
    }

    fn decrypt(&self, value: &Value) -> Result<Value, ClearError> {
        Ok(value.clone())
    }

    fn decode(&self, value: &Value, length: usize) -> Result<Vec<u64>, ClearError> {
        let mut entries = value.decode(&self.0)?;
        entries.truncate(length);
        Ok(entries)
    }
}

pub struct Sender(Arc<Params>);

impl roles::Sender for Sender {
    type Scheme = Clear;
    type PublicKey = ();

    fn new(params: Arc<Params>, (): &()) -> Result<Self, ClearError> {
        Ok(Self(params))
    }

    fn from_seed_for_reproducible_tests_only(
        params: Arc<Params>,
        (): &(),
        _: [u8; 32],
    ) -> Result<Self, ClearError> {
        Ok(Self(params))
    }

    fn encrypt(&self, entries: &Vec<u64>, _: &At<()>) -> Result<Value, ClearError> {
        Value::encode(&self.0, entries)
    }
}

pub struct Operator(Arc<Params>);

impl roles::Operator for Operator {
    type Scheme = Clear;

    fn new(params: Arc<Params>) -> Self {
        Self(params)
    }

    fn encode(&self, entries: &Vec<u64>, _: &At<()>) -> Result<Value, ClearError> {
        Value::encode(&self.0, entries)
    }

    fn key(&self, (): &(), name: &NoKey, _: bool) -> Result<Option<NoKey>, ClearError> {
        match *name {}
    }

    fn check(&self, value: &Value) -> Result<(), ClearError> {
        if value.params_id() == self.0.id() {
            return Ok(());
        }
        Err(ClearError::Value {
            what: "a value",
            expected: "one of these parameters".into(),
            got: "one of others".into(),
        })
    }

    fn ciphertext(
        &self,
        _: &At<()>,
        polys: Vec<Vec<u64>>,
        _: Option<KeyId>,
    ) -> Result<Value, ClearError> {
        let limbs = polys.into_iter().flatten().collect::<Vec<_>>();
        let limbs = limbs.chunks(self.0.degree()).map(<[u64]>::to_vec);
        Value::new(&self.0, limbs.collect())
    }
}
