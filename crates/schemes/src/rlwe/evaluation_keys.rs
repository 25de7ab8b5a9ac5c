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

/// The name of an evaluation key that a program needs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum KeyRequest {
    Relin,
    /// The Galois key of the automorphism with this Galois element.
    Galois(Galois),
    /// The Galois key of the automorphism with this Galois element, for a low level only: the level at which a BGV
    /// bootstrap begins.
    LowGalois(Galois),
    /// The key-switching key from the main secret to the sparse secret of bootstrapping.
    Encapsulation,
    /// The sparse secret of bootstrapping, encrypted under the main secret.
    SparseSecret,
    /// The key-switching key from the sparse secret of bootstrapping back to the main secret, for the highest
    /// level.
    Decapsulation,
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
            Self::Decapsulation => write!(f, "bootstrapping's decapsulation key"),
        }
    }
}

/// The evaluation keys that a server needs to compute. They are public: the server cannot decrypt with them.
#[derive(Clone, Debug, Default)]
pub struct EvaluationKeys {
    pub relin: Option<RelinKey>,
    pub galois: GaloisKeys,
    /// The keys that only bootstrapping needs, by their names.
    pub further: BTreeMap<KeyRequest, KSwitchKey>,
}

impl EvaluationKeys {
    /// Returns the identity of the secret key to which all keys belong. It is `None` if one key has no identity, or
    /// if there are no keys.
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

    /// Returns the key with this name, or `None` if it is missing.
    pub fn get(&self, name: &KeyRequest) -> Option<&KSwitchKey> {
        match name {
            KeyRequest::Relin => self.relin.as_ref().map(|k| &k.0),
            KeyRequest::Galois(element) => self.galois.get(*element).ok(),
            other @ (KeyRequest::LowGalois(_)
            | KeyRequest::Encapsulation
            | KeyRequest::SparseSecret
            | KeyRequest::Decapsulation) => self.further.get(other),
        }
    }

    /// Returns the requested key, or `None` if it is missing. The key's limbs are shared, not copied. If `seeded`
    /// is set and the key has a seed, the seed stays; otherwise the key is expanded.
    ///
    /// # Errors
    /// [`RlweError::OtherParams`] for a key of other parameters. Also fails if there is no memory for an expanded
    /// key.
    pub fn usable(
        &self,
        params: &Params,
        request: &KeyRequest,
        seeded: bool,
    ) -> Result<Option<KSwitchKey>, RlweError> {
        let Some(key) = self.get(request) else {
            return Ok(None);
        };
        params.check_id("key", key.params_id())?;
        if seeded {
            Ok(Some(key.clone()))
        } else {
            key.expanded(params).map(Some)
        }
    }
}

impl KeyGenerator {
    /// Generates exactly the requested evaluation keys. Keys that only bootstrapping needs come from other
    /// functions, such as [`Procedure::keys`](crate::bgv::bootstrap::Procedure::keys) for BGV.
    ///
    /// # Errors
    /// [`RlweError::MissingKey`] for a key that only bootstrapping needs. Also fails for a Galois element that is even
    /// or not below 2N, for missing memory or randomness, and if the generator's watch stops it.
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
                | KeyRequest::SparseSecret
                | KeyRequest::Decapsulation) => {
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
