// SPDX-License-Identifier: Apache-2.0
//! The errors of base-extension units: shapes, moduli and limbs that a unit cannot take.

use ringmill_isa::mid::TableModulus;

use crate::MachineError;

/// An error in a base-extension unit's shape, a modulus or a limb. The error is found before any
/// data reach the unit.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BasextError {
    #[error("{what} is {got}; a base-extension unit takes {expected}")]
    Shape {
        what: &'static str,
        expected: String,
        got: u64,
    },
    #[error(
        "the modulus {modulus} is not 1 mod 2^{low}, more than 1 and below 2^{bits}, as this unit's must be: choose primes for its smallest ring"
    )]
    Modulus { modulus: u64, low: u32, bits: u32 },
    #[error(
        "modulus `{modulus}` is no NTT-friendly prime: a base-extension unit (`min_log_n` of its description) computes modulo these alone; the rest is the host's"
    )]
    Kind { modulus: TableModulus },
    #[error("{a} and {b} have a common divisor: source and redundant moduli must be coprime")]
    NotCoprime { a: u64, b: u64 },
    #[error("an exact extension needs a redundant modulus, and the program gave none")]
    NoRedundant,
    #[error("{got} residue polynomials came where {expected} are extended")]
    Limbs { expected: usize, got: usize },
    #[error(transparent)]
    Math(#[from] ringmill_math::MathError),
}

impl From<BasextError> for MachineError {
    fn from(error: BasextError) -> Self {
        Self::own(error)
    }
}
