// SPDX-License-Identifier: Apache-2.0
//! What touches secrets: each on small parameters, and run once with all that is secret marked.
//!
//! A marked seed marks all that is drawn from it: secrets, errors, and masks, which are public but depend on no data either.

mod ckks;
mod exact;
mod samplers;
mod tfhe;

use std::hint::black_box;
use std::sync::Arc;

use ringmill_math::Residues;
use ringmill_schemes::rlwe::{
    Galois, KeyForm, KeyGenerator, RingParams, SecretDistribution, SecretKey,
};

use crate::valgrind::{depends, mark, secret};

pub type Failure = Box<dyn std::error::Error>;

/// Makes ready what is public, marks what is secret, and runs.
pub struct Operation {
    pub name: &'static str,
    pub run: fn() -> Result<(), Failure>,
}

/// All that must not depend on what is secret.
pub fn all() -> impl Iterator<Item = &'static Operation> {
    let all = [
        samplers::OPERATIONS,
        ckks::OPERATIONS,
        exact::OPERATIONS,
        tfhe::OPERATIONS,
    ];
    all.into_iter().flatten()
}

/// Faults that must be seen.
pub const PLANTED: &[Operation] = &[
    Operation {
        name: "planted branch",
        run: || {
            if secret(7u64) > 5 {
                black_box("larger");
            }
            Ok(())
        },
    },
    Operation {
        name: "planted address",
        run: || {
            let table = [1u64; 256];
            black_box(black_box(&table)[usize::from(secret(7u8))]);
            Ok(())
        },
    },
];

/// How the secret of a key is distributed, each way there is.
const SECRETS: [SecretDistribution; 4] = [
    SecretDistribution::Ternary,
    SecretDistribution::SparseTernary { weight: 32 },
    SecretDistribution::Gaussian,
    SecretDistribution::Binary,
];

fn secret_seed(byte: u8) -> [u8; 32] {
    secret([byte; 32])
}

/// Refuses results that do not depend on what is secret: their operation would have been followed for nothing.
fn expect_dependent<T: Copy>(values: &[T]) -> Result<(), Failure> {
    match depends(values) {
        Some(false) => Err("nothing of what came out depends on the secret".into()),
        Some(true) | None => Ok(()),
    }
}

fn expect_dependent_residues(residues: Residues<'_>) -> Result<(), Failure> {
    match residues {
        Residues::Wide(words) => expect_dependent(words),
        Residues::Short(words) => expect_dependent(words),
    }
}

fn mark_residues(residues: Residues<'_>) {
    match residues {
        Residues::Wide(words) => mark(words),
        Residues::Short(words) => mark(words),
    }
}

/// A copy of the generator's secret key, marked.
fn secret_key(keys: &KeyGenerator) -> SecretKey {
    let secret = keys.secret_key().clone();
    mark(secret.expose_eval_limbs());
    secret
}

/// All kinds of keys of a ring scheme.
fn generate(params: Arc<impl RingParams>) -> Result<(), Failure> {
    let keys = KeyGenerator::from_seed_for_reproducible_tests_only(params, secret_seed(1))?;
    expect_dependent(keys.public_key()?.b())?;
    expect_dependent_residues(keys.relin_key(KeyForm::Seeded)?.0.b()[0].residues())?;
    let rotations = keys.galois_keys(&[Galois(3)], KeyForm::Stored)?;
    expect_dependent_residues(rotations.get(Galois(3))?.b()[0].residues())?;
    expect_dependent(keys.secret_key().expose_eval_limbs())
}
