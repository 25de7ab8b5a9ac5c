// SPDX-License-Identifier: Apache-2.0
//! The errors of the code that all ring schemes share. Most messages name the expected value, the value found and a
//! cure.

use ringmill_isa::Level;
use ringmill_limits::Halt;
use ringmill_math::MathError;
use thiserror::Error;

use super::security::SecurityTable;
use ringmill_device::Mismatch;
use ringmill_device::call::CallError;

/// The error of an input that the code of all ring schemes refuses.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum RlweError {
    #[error(transparent)]
    Math(#[from] MathError),
    #[error("procedure construction was refused by the verifier: {0}")]
    Verify(String),
    #[error("the built-in security tables cannot be read: {0}")]
    SecurityTables(String),
    #[error("unknown security table {got:?}; expected {}", SecurityTable::names())]
    UnknownSecurityTable { got: String },
    #[error("unknown security level {got}; expected 128, 192 or 256 bits")]
    UnknownSecurityLevel { got: u32 },
    #[error(
        "parameters are insecure: {reason}; use a larger ring degree, fewer or smaller primes, or another table by name; for tests alone, allow_insecure_parameters_for_tests_only"
    )]
    Insecure { reason: String },
    #[error(
        "no ring degree in table {table} is secure for a QP of {qp_bits} bits at {level} bits (its largest bound is {largest}); use fewer or smaller primes"
    )]
    NoSecureDegree {
        qp_bits: u32,
        table: SecurityTable,
        level: u32,
        largest: u32,
    },
    #[error("{what} is {got}, expected {expected}")]
    Parameter {
        what: &'static str,
        expected: String,
        got: String,
    },
    #[error("level {got} does not exist; these parameters have levels 0 to {max}")]
    Level { got: Level, max: Level },
    #[error(
        "{what} is at level {got}, expected {expected}; bring both operands to one level first (mod-switch or rescale)"
    )]
    LevelMismatch {
        what: &'static str,
        expected: Level,
        got: Level,
    },
    #[error(
        "{operation} needs a level of at least {needed}, got {got}; use parameters with more primes"
    )]
    TooDeep {
        operation: &'static str,
        needed: u32,
        got: u32,
    },
    #[error(
        "a {what} has {got} polynomials, expected {expected}; relinearise products before other operations"
    )]
    Size {
        what: &'static str,
        expected: String,
        got: usize,
    },
    /// The product would have more polynomials than a ciphertext may have.
    #[error(
        "a product of ciphertexts of {first} and {second} polynomials has {}, and a ciphertext has at most {most} here; relinearise \
         whichever has more than two, then multiply",
        first + second - 1
    )]
    Product {
        first: usize,
        second: usize,
        most: usize,
    },
    #[error(
        "{what} belongs to other parameters (identity {got}, expected {expected}); use objects made with one parameter set"
    )]
    OtherParams {
        what: &'static str,
        expected: String,
        got: String,
    },
    #[error(
        "{what} belongs to another secret key (key identity {got}, expected {expected}); use ciphertexts and keys that one client made"
    )]
    OtherKeys {
        what: &'static str,
        expected: String,
        got: String,
    },
    #[error("no {0} key was given; generate it and pass it along")]
    MissingKey(String),
    #[error("the key was passed {got}, expected {expected}")]
    KeyForm {
        expected: &'static str,
        got: &'static str,
    },
    #[error(
        "rotation by {step} is out of range; expected a non-zero step between -{max} and {max}"
    )]
    RotationStep { step: i64, max: u32 },
    #[error(
        "the result is transparent: its message shows without the secret key, as that of a - a or of a product with zero does; compute it in the clear"
    )]
    Transparent,
    #[error("{0}")]
    Halt(#[from] Halt),
    #[error("{what} holds {got} values, expected {expected}")]
    Length {
        what: &'static str,
        expected: usize,
        got: usize,
    },
    #[error(
        "{what} holds a residue that is not below its modulus {modulus}; the object is corrupt"
    )]
    Residue { what: &'static str, modulus: u64 },
}

impl From<ringmill_isa::VerifyError> for RlweError {
    fn from(e: ringmill_isa::VerifyError) -> Self {
        Self::Verify(e.to_string())
    }
}

impl From<Mismatch<&'static str>> for RlweError {
    fn from(e: Mismatch<&'static str>) -> Self {
        Self::OtherKeys {
            what: e.what,
            expected: e.expected.short(),
            got: e.got.short(),
        }
    }
}

impl From<CallError> for RlweError {
    fn from(e: CallError) -> Self {
        match e {
            CallError::Missing { name } => Self::MissingKey(format!("operand limb {name}")),
            CallError::NotSeeded => Self::KeyForm {
                expected: "seeded",
                got: "with stored halves",
            },
            CallError::Math(e) => Self::Math(e),
            CallError::Halt(halt) => Self::Halt(halt),
            CallError::Malformed(fault) => Self::Verify(fault),
        }
    }
}
