// SPDX-License-Identifier: Apache-2.0
//! The evaluation keys of programs that bootstrap: those of bootstrapping, and the program's other keys.

use ringmill_compiler::{Compiled, Compiles};
use ringmill_schemes::Scheme;
use ringmill_schemes::rlwe::{EvaluationKeys, KeyRequest};
use ringmill_schemes::roles::KeyHolder;

/// Makes the evaluation keys of a program. For a program that bootstraps, these are the keys of bootstrapping and
/// the program's other keys. The function `own` makes the keys of bootstrapping.
///
/// # Errors
/// The scheme's error if memory or randomness is missing.
pub(crate) fn evaluation_keys<S>(
    compiled: &Compiled<S>,
    holder: &S::Holder,
    own: impl FnOnce(&S::Bootstrapping) -> Result<EvaluationKeys, S::Error>,
) -> Result<EvaluationKeys, S::Error>
where
    S: Compiles + Scheme<KeyName = KeyRequest, Keys = EvaluationKeys>,
{
    let bootstraps = compiled.keys.contains(&KeyRequest::Encapsulation);
    let procedure = compiled.bootstrapping.as_ref();
    let Some(procedure) = procedure.filter(|_| bootstraps) else {
        return holder.evaluation_keys(&compiled.keys, compiled.seeded);
    };
    let mut keys = own(procedure)?;
    let others = compiled.keys.iter();
    let others = others.filter(|name| keys.get(name).is_none());
    let others: Vec<KeyRequest> = others.copied().collect();
    let others = holder.evaluation_keys(&others, compiled.seeded)?;
    for (g, key) in others.galois.iter() {
        keys.galois.insert(g, key.clone());
    }
    Ok(keys)
}
