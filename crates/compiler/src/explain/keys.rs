// SPDX-License-Identifier: Apache-2.0
//! Lists the evaluation keys of a compiled program, each with its purpose and its size.

use std::collections::BTreeMap;

use ringmill_isa::Galois;
use ringmill_isa::macros::{MacroImm, MacroInstr};
use ringmill_schemes::ParameterSet;
use ringmill_schemes::rlwe::KeyRequest;
use serde::Serialize;

use super::Explained;
use crate::compile::Compiled;
use crate::scheme::ErrorOf;

/// The purpose of an evaluation key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyKind {
    Relinearisation,
    Rotation,
    /// The key is for an automorphism that is no rotation of the user's program: a conjugation, or one
    /// inside a bootstrap.
    Automorphism,
    Bootstrapping,
}

impl KeyKind {
    /// Returns the purpose of the key, in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Relinearisation => "relinearisation",
            Self::Rotation => "rotation",
            Self::Automorphism => "automorphism",
            Self::Bootstrapping => "bootstrapping",
        }
    }
}

/// An evaluation key with its purpose and its size. It counts as a key for the highest level, but some keys of a
/// bootstrap are smaller.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct KeyCost {
    pub kind: KeyKind,
    /// The number of slots by which the key rotates to the left, or `None` if it is for no
    /// rotation.
    pub steps: Option<i32>,
    /// The Galois element of the key's automorphism, or `None` if it is for no automorphism.
    pub element: Option<u32>,
    pub bytes: u64,
}

pub(super) fn of<S: Explained>(compiled: &Compiled<S>) -> Result<Vec<KeyCost>, ErrorOf<S>> {
    let params = &*compiled.params;
    let procs = compiled.managed.procs.iter().map(|proc| &proc.instrs);
    // A target's own instructions name elements alone, so steps come from the traced program too.
    let source = compiled.source.procs.iter().map(|proc| &proc.instrs);
    let bodies = procs.chain([&compiled.managed.instrs, &compiled.source.instrs]);
    let mut steps: BTreeMap<Galois, i32> = BTreeMap::new();
    for instr in bodies.chain(source).flatten() {
        turned::<S>(params, instr, &mut steps)?;
    }
    let bytes = params.key_bytes(1, compiled.seeded);
    let cost = |kind, element: Option<Galois>| KeyCost {
        kind,
        steps: element.and_then(|element| steps.get(&element).copied()),
        element: element.map(|element| element.0),
        bytes,
    };
    let keys = compiled.keys.iter().map(|key| match *key {
        KeyRequest::Relin => cost(KeyKind::Relinearisation, None),
        KeyRequest::Galois(element) => match steps.contains_key(&element) {
            true => cost(KeyKind::Rotation, Some(element)),
            false => cost(KeyKind::Automorphism, Some(element)),
        },
        KeyRequest::LowGalois(element) => cost(KeyKind::Bootstrapping, Some(element)),
        KeyRequest::Encapsulation | KeyRequest::SparseSecret | KeyRequest::Decapsulation => {
            cost(KeyKind::Bootstrapping, None)
        }
    });
    Ok(keys.collect())
}

/// Adds the Galois elements of a rotation instruction to `found`, each with the number of slots by which it rotates.
fn turned<S: Explained>(
    params: &S::Params,
    instr: &MacroInstr,
    found: &mut BTreeMap<Galois, i32>,
) -> Result<(), ErrorOf<S>> {
    if let MacroImm::Steps(steps) = &instr.imm {
        let elements = S::automorphisms(params, instr)?;
        found.extend(elements.into_iter().zip(steps.iter().copied()));
    }
    Ok(())
}
