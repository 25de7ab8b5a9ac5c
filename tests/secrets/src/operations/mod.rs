// SPDX-License-Identifier: Apache-2.0
//! The operations that handle secrets. Each runs once on small parameters, with all secrets marked for valgrind.
//!
//! A marked seed marks all samples from it: secrets, errors, and masks. Masks are public, but no branch may depend on
//! them either.

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

/// An operation. `run` prepares the public inputs, marks the secrets and executes it.
pub struct Operation {
    pub name: &'static str,
    pub run: fn() -> Result<(), Failure>,
}

/// Returns all operations, whose branches and addresses must not depend on a secret.
pub fn all() -> impl Iterator<Item = &'static Operation> {
    let all = [
        samplers::OPERATIONS,
        ckks::OPERATIONS,
        exact::OPERATIONS,
        tfhe::OPERATIONS,
    ];
    all.into_iter().flatten()
}

/// Operations with planted faults, which valgrind must see.
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

/// Every distribution of a ring scheme's secret key.
const SECRETS: [SecretDistribution; 4] = [
    SecretDistribution::Ternary,
    SecretDistribution::SparseTernary { weight: 32 },
    SecretDistribution::Gaussian,
    SecretDistribution::Binary,
];

fn secret_seed(byte: u8) -> [u8; 32] {
    secret([byte; 32])
}

/// Fails under valgrind if the values do not depend on a secret, since then the operation was not really followed.
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

/// Returns a copy of the generator's secret key, marked as secret.
fn secret_key(keys: &KeyGenerator) -> SecretKey {
    let secret = keys.secret_key().clone();
    mark(secret.expose_eval_limbs());
    secret
}

/// Generates a public, a relinearisation, a Galois and a secret key of a ring scheme.
fn generate(params: Arc<impl RingParams>) -> Result<(), Failure> {
    let keys = KeyGenerator::from_seed_for_reproducible_tests_only(params, secret_seed(1))?;
    expect_dependent(keys.public_key()?.b())?;
    expect_dependent_residues(keys.relin_key(KeyForm::Seeded)?.0.b()[0].residues())?;
    let rotations = keys.galois_keys(&[Galois(3)], KeyForm::Stored)?;
    expect_dependent_residues(rotations.get(Galois(3))?.b()[0].residues())?;
    expect_dependent(keys.secret_key().expose_eval_limbs())
}
