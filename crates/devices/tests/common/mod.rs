//! What the tests of this crate share.

#![allow(dead_code)] // each test file uses its part

pub mod naive;
pub mod random;

use std::sync::Arc;

use ringmill_devices::{Bindings, Limb, SeedExpansion};

/// Binds a case's data.
pub fn bind(case: &random::Case) -> Bindings<'_> {
    let moduli = case.program.inputs.iter().map(|i| {
        let ty = case.program.limbs[i.limb.0 as usize];
        case.program.moduli[usize::from(ty.modulus.0)]
    });
    Bindings {
        limbs: case
            .inputs
            .iter()
            .zip(moduli)
            .map(|(data, q)| Limb::borrowed(data, q).unwrap())
            .collect(),
        seeds: case
            .seeds
            .iter()
            .map(|&s| Arc::new(SeedExpansion::new(s)))
            .collect(),
    }
}
