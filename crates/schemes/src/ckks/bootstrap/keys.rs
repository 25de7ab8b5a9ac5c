// SPDX-License-Identifier: Apache-2.0
//! Generates the keys of bootstrapping.

use std::collections::BTreeMap;

use ringmill_isa::Level;

use super::procedure::Procedure;
use crate::ckks::{CkksError, KeyForm, KeyGenerator};
use crate::rlwe::sparse::SparseSecret;
use crate::rlwe::{EvaluationKeys, KeyRequest};

impl Procedure {
    /// Generates the bootstrap's keys for a new sparse secret, which it wipes afterwards.
    ///
    /// # Errors
    /// Fails for a generator of other parameters, and for missing memory or randomness.
    pub fn keys(&self, keygen: &KeyGenerator) -> Result<EvaluationKeys, CkksError> {
        let params = self.params();
        params.check_id("secret key", keygen.secret_key().params_id())?;
        let form = match self.seeded() {
            true => KeyForm::Seeded,
            false => KeyForm::Stored,
        };
        let is_general =
            |name: &&KeyRequest| matches!(name, KeyRequest::Relin | KeyRequest::Galois(_));
        let general: Vec<KeyRequest> = self
            .key_names()
            .iter()
            .filter(is_general)
            .copied()
            .collect();
        let sparse = SparseSecret::sample(params, self.setup().weight(), keygen)?;
        let encapsulation = sparse.encapsulation(params, Level::LOWEST, keygen, form)?;
        let decapsulation = sparse.decapsulation(params, keygen, form)?;
        Ok(EvaluationKeys {
            further: BTreeMap::from([
                (KeyRequest::Encapsulation, encapsulation),
                (KeyRequest::Decapsulation, decapsulation),
            ]),
            ..keygen.evaluation_keys(&general, form)?
        })
    }
}
