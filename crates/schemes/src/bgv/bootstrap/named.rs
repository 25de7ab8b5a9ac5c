// SPDX-License-Identifier: Apache-2.0
//! Bootstrapping's keys by the names that programs have for them.

use std::collections::BTreeMap;

use super::keys::BootstrapKeys;
use super::maps::Maps;
use super::params::Bootstrapping;
use crate::bgv::{Ciphertext, Factor};
use crate::rlwe::key::{KSwitchKey, KeyHalf};
use crate::rlwe::record::Recorder;
use crate::rlwe::{EvaluationKeys, GaloisKeys, KeyRequest, RelinKey};
use ringmill_device::ResidueVec;

impl BootstrapKeys {
    /// The same as programs take them.
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

    /// Symbols of all keys, and what each stands for, from [`Recorder::FIRST_KEY`] on.
    pub(super) fn symbols(
        setup: &Bootstrapping,
        maps: &Maps,
        seeded: bool,
    ) -> (Self, Vec<KeyRequest>) {
        let params = setup.params();
        let first = Recorder::<()>::FIRST_KEY;
        let mut names = Vec::new();
        let mut key = |name| {
            names.push(name);
            KSwitchKey::symbol(params, first + names.len() as u64 - 1, seeded)
        };
        let encapsulation = key(KeyRequest::Encapsulation);
        let relin = RelinKey(key(KeyRequest::Relin));
        let [low, high] = maps.elements();
        let mut keys = GaloisKeys::new();
        for g in low {
            keys.insert(g, key(KeyRequest::LowGalois(g)));
        }
        let low = std::mem::take(&mut keys);
        for g in high {
            keys.insert(g, key(KeyRequest::Galois(g)));
        }
        let number = first + names.len() as u64;
        names.push(KeyRequest::SparseSecret);
        let factor = Factor::one_modulo(params.last_plain());
        let polys = vec![ResidueVec::Wide(vec![number]); 2];
        let secret = Ciphertext::trusted(params, params.max_level(), factor, polys, None);
        let symbols = Self {
            encapsulation,
            secret,
            relin,
            low,
            high: keys,
        };
        (symbols, names)
    }
}
