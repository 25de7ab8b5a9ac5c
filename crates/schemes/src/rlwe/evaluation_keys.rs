//! The evaluation keys of a program: which, and the keys themselves.

use std::fmt;

use ringmill_isa::Galois;

use super::error::RlweError;
use super::key::{GaloisKeys, KSwitchKey, KeyForm, RelinKey};
use super::keygen::KeyGenerator;
use super::params::Params;
use crate::identity::KeyId;

/// An evaluation key that a program takes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum KeyRequest {
    Relin,
    /// The key of this Galois element.
    Galois(Galois),
}

impl fmt::Display for KeyRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Relin => write!(f, "relinearisation key"),
            Self::Galois(element) => write!(f, "Galois key of element {element}"),
        }
    }
}

/// What a server needs to compute: public.
#[derive(Clone, Debug, Default)]
pub struct EvaluationKeys {
    pub relin: Option<RelinKey>,
    pub galois: GaloisKeys,
}

impl EvaluationKeys {
    /// The secret key that all belong to; `None` when that of one is not known, or there are none.
    ///
    /// # Errors
    /// [`RlweError::OtherKeys`] for keys of two secret keys.
    pub fn key_id(&self) -> Result<Option<KeyId>, RlweError> {
        let relin = self
            .relin
            .iter()
            .map(|k| ("relinearisation key", k.0.key_id()));
        let galois = self.galois.iter().map(|(_, k)| ("Galois key", k.key_id()));
        Ok(KeyId::common(relin.chain(galois))?)
    }

    /// A copy of the key asked for, with its seed or, unless `seeded`, expanded; `None` where it is not there.
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
    /// Exactly the keys asked for.
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
            }
        }
        Ok(EvaluationKeys {
            relin,
            galois: self.galois_keys(&elements, form)?,
        })
    }
}
