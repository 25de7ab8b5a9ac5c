// SPDX-License-Identifier: Apache-2.0
//! Converts the keys of bootstrapping to keys by the names that programs have for them.

use std::collections::BTreeMap;

use super::keys::BootstrapKeys;
use super::params::Bootstrapping;
use crate::rlwe::key::{KSwitchKey, KeyHalf};
use crate::rlwe::{EvaluationKeys, KeyRequest};
use ringmill_device::ResidueVec;

impl BootstrapKeys {
    /// Returns the bootstrapping keys by the names that programs have for them.
    pub fn named(self, setup: &Bootstrapping) -> EvaluationKeys {
        let params = setup.params();
        let mut further = BTreeMap::new();
        let key_id = self.secret.key_id();
        let moduli = self.secret.level().moduli().collect();
        let polys = self.secret.into_polys().into_iter();
        let mut polys = polys.map(ResidueVec::into_wide);
        let (b, a) = (polys.next(), polys.next());
        let a = KeyHalf::Stored(a.into_iter().collect());
        let secret = KSwitchKey::over(params, moduli, b.into_iter().collect(), a, key_id);
        further.insert(KeyRequest::SparseSecret, secret);
        further.insert(KeyRequest::Encapsulation, self.encapsulation);
        for (g, key) in self.low.iter() {
            further.insert(KeyRequest::LowGalois(g), key.clone());
        }
        EvaluationKeys {
            relin: Some(self.relin),
            galois: self.high,
            further,
        }
    }
}
