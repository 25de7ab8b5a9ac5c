// SPDX-License-Identifier: Apache-2.0
//! The evaluation keys of a program: their names, and the keys themselves.

use std::collections::BTreeMap;
use std::fmt;

use ringmill_isa::Galois;

use super::error::RlweError;
use super::key::{GaloisKeys, KSwitchKey, KeyForm, RelinKey};
use super::keygen::KeyGenerator;
use super::params::Params;
use ringmill_device::KeyId;

/// An evaluation key that a program takes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum KeyRequest {
    Relin,
    /// The key of this Galois element.
    Galois(Galois),
    /// The same for a low level only, the level of bootstrapping's first map.
    LowGalois(Galois),
    /// The key from the main secret to bootstrapping's sparse one.
    Encapsulation,
    /// Bootstrapping's sparse secret, encrypted under the main one.
    SparseSecret,
}

impl fmt::Display for KeyRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Relin => write!(f, "relinearisation key"),
            Self::Galois(element) => write!(f, "Galois key of element {element}"),
            Self::LowGalois(element) => {
                write!(f, "bootstrapping's low Galois key of element {element}")
            }
            Self::Encapsulation => write!(f, "bootstrapping's encapsulation key"),
            Self::SparseSecret => write!(f, "bootstrapping's encrypted secret"),
        }
    }
}

/// The keys that a server needs to compute. They are public.
#[derive(Clone, Debug, Default)]
pub struct EvaluationKeys {
    pub relin: Option<RelinKey>,
    pub galois: GaloisKeys,
    /// The keys that only bootstrapping takes.
    pub further: BTreeMap<KeyRequest, KSwitchKey>,
}

impl EvaluationKeys {
    /// Returns the secret key that all belong to, or `None` if one is not known or there are no keys.
    ///
    /// # Errors
    /// [`RlweError::OtherKeys`] for keys of different secret keys.
    pub fn key_id(&self) -> Result<Option<KeyId>, RlweError> {
        let relin = self
            .relin
            .iter()
            .map(|k| ("relinearisation key", k.0.key_id()));
        let galois = self.galois.iter().map(|(_, k)| ("Galois key", k.key_id()));
        let further = self
            .further
            .values()
            .map(|k| ("bootstrapping key", k.key_id()));
        Ok(KeyId::common(relin.chain(galois).chain(further))?)
    }

    /// Returns the requested key, which shares its limbs, or `None` if it is missing. It has its seed, or is expanded
    /// unless `seeded`.
    ///
    /// # Errors
    /// [`RlweError::OtherParams`] for a key of other parameters; no memory for an expanded one.
    pub fn usable(
        &self,
        params: &Params,
        request: &KeyRequest,
        seeded: bool,
    ) -> Result<Option<KSwitchKey>, RlweError> {
        let found = match request {
            KeyRequest::Relin => self.relin.as_ref().map(|k| &k.0),
            KeyRequest::Galois(element) => self.galois.get(*element).ok(),
            other @ (KeyRequest::LowGalois(_)
            | KeyRequest::Encapsulation
            | KeyRequest::SparseSecret) => self.further.get(other),
        };
        let Some(key) = found else { return Ok(None) };
        params.check_id("key", key.params_id())?;
        if seeded {
            Ok(Some(key.clone()))
        } else {
            key.expanded(params).map(Some)
        }
    }
}

impl KeyGenerator {
    /// Makes exactly the requested keys. [`Procedure::keys`](crate::bgv::bootstrap::Procedure::keys) makes
    /// bootstrapping's own.
    ///
    /// # Errors
    /// [`RlweError::MissingKey`] for one of bootstrapping's own.
    pub fn evaluation_keys(
        &self,
        requests: &[KeyRequest],
        form: KeyForm,
    ) -> Result<EvaluationKeys, RlweError> {
        let mut relin = None;
        let mut elements = Vec::new();
        for request in requests {
            match request {
                KeyRequest::Relin => relin = Some(self.relin_key(form)?),
                KeyRequest::Galois(element) => elements.push(*element),
                other @ (KeyRequest::LowGalois(_)
                | KeyRequest::Encapsulation
                | KeyRequest::SparseSecret) => {
                    return Err(RlweError::MissingKey(other.to_string()));
                }
            }
        }
        Ok(EvaluationKeys {
            relin,
            galois: self.galois_keys(&elements, form)?,
            further: BTreeMap::new(),
        })
    }
}
