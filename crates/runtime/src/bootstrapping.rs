// SPDX-License-Identifier: Apache-2.0
//! The evaluation keys of programs that bootstrap: those of bootstrapping, and the program's other keys.

use ringmill_schemes::rlwe::{EvaluationKeys, KeyRequest};

/// Returns whether a program with these keys bootstraps.
pub(crate) fn bootstraps(keys: &[KeyRequest]) -> bool {
    keys.contains(&KeyRequest::Encapsulation)
}

/// Returns the names of a program's keys that are not among those of bootstrapping.
pub(crate) fn others(keys: &[KeyRequest], there: &[KeyRequest]) -> Vec<KeyRequest> {
    let others = keys.iter().filter(|name| !there.contains(name));
    others.copied().collect()
}

/// Returns the keys of bootstrapping together with the Galois keys of a program.
pub(crate) fn joined(mut keys: EvaluationKeys, others: &EvaluationKeys) -> EvaluationKeys {
    for (g, key) in others.galois.iter() {
        keys.galois.insert(g, key.clone());
    }
    keys
}
