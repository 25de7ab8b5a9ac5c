// SPDX-License-Identifier: Apache-2.0
//! A cache of the limb-level procedures of one parameter set's operations. It keeps one procedure for each operation.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use ringmill_isa::mid::Procedure;

use crate::scheme::{Operation, Scheme};

/// A cache of the limb-level procedures of one parameter set's operations. Each procedure is made when it is first
/// needed. Two threads that need it at the same time may both make it; the first one is kept.
pub struct ProcCache<S: Scheme> {
    params: Arc<S::Params>,
    made: Mutex<HashMap<S::Operation, Arc<Procedure>>>,
}

impl<S: Scheme> fmt::Debug for ProcCache<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        write!(f, "ProcCache({}, {} made)", S::TAG.name, made.len())
    }
}

impl<S: Scheme> ProcCache<S> {
    pub fn new(params: Arc<S::Params>) -> Self {
        Self {
            params,
            made: Mutex::default(),
        }
    }

    pub fn params(&self) -> &Arc<S::Params> {
        &self.params
    }

    /// Returns the verified procedure of an operation, from the cache or newly made.
    ///
    /// # Errors
    /// The errors of [`Operation::emit`], for example for a level that the parameters lack, sizes out of range,
    /// residues not below their modulus, an even Galois element, or a rescale at level 0.
    pub fn get(&self, operation: &S::Operation) -> Result<Arc<Procedure>, S::Error> {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = made.get(operation) {
            return Ok(Arc::clone(found));
        }
        drop(made);
        let made = Arc::new(operation.emit(&self.params)?);
        let mut map = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(map.entry(operation.clone()).or_insert(made)))
    }
}
