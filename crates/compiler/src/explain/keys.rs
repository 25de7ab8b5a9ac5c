// SPDX-License-Identifier: Apache-2.0
//! The evaluation keys of a program, each with what it is for and its size.

use std::collections::BTreeMap;

use ringmill_isa::Galois;
use ringmill_isa::macros::{MacroImm, MacroInstr};
use ringmill_schemes::ParameterSet;
use ringmill_schemes::rlwe::KeyRequest;
use serde::Serialize;

use super::Explained;
use crate::compile::Compiled;
use crate::scheme::ErrorOf;

/// What a key is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyKind {
    Relinearisation,
    Rotation,
    /// An automorphism that no rotation of the program's own is: conjugation, or one inside bootstraps.
    Automorphism,
    Bootstrapping,
}

impl KeyKind {
    /// Returns what the key is for, in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Relinearisation => "relinearisation",
            Self::Rotation => "rotation",
            Self::Automorphism => "automorphism",
            Self::Bootstrapping => "bootstrapping",
        }
    }
}

/// A key and its size.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct KeyCost {
    pub kind: KeyKind,
    /// The steps to the left of a rotation.
    pub steps: Option<i32>,
    /// The element of an automorphism.
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
        KeyRequest::Encapsulation | KeyRequest::SparseSecret => cost(KeyKind::Bootstrapping, None),
    });
    Ok(keys.collect())
}

/// Adds the elements of a rotation with the steps that each is.
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
