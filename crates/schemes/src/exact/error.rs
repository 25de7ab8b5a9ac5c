// SPDX-License-Identifier: Apache-2.0
//! The errors of the encodings of integers. Most messages name the expected value, the value found and a cure.

use ringmill_math::MathError;
use ringmill_math::slots::SlotError;
use thiserror::Error;

use crate::file::FileError;
use crate::rlwe::RlweError;

/// The error of an input that the code of exact integers refuses.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ExactError {
    #[error(transparent)]
    Rlwe(#[from] RlweError),
    #[error("plain modulus {got} is out of range; expected an integer from 2 to 2^60 - 1")]
    PlainModulus { got: u64 },
    #[error(
        "plain modulus {got} does not batch; expected a prime that is 1 mod {order}, twice the ring degree (PlainModulus::batching finds one), or encode coefficients instead of slots"
    )]
    NotBatchable { got: u64, order: u64 },
    #[error(
        "value {index} is {got}, which integers modulo {modulus} do not hold; expected one from {low} to {high}, or use a larger plain modulus"
    )]
    OutOfRange {
        index: usize,
        got: i128,
        modulus: u64,
        low: i128,
        high: i128,
    },
    #[error(
        "{got} values were given, at most {max} were expected; spread them over several plaintexts"
    )]
    TooMany { got: usize, max: usize },
    #[error(
        "base {got} does not do for a plain modulus of {modulus}; expected one from 2 to {max}, so that a digit of an integer is one of the integers modulo {modulus}"
    )]
    Base { got: u64, modulus: u64, max: u64 },
    #[error(
        "an integer of about {got} digits does not fit a polynomial of {max} coefficients; use a larger base or a larger ring degree"
    )]
    TooLong { got: usize, max: usize },
    #[error(
        "plain modulus {plain} shares a factor with the prime {prime}; expected one that is coprime to all primes, of which none may divide it"
    )]
    NotCoprime { plain: u64, prime: u64 },
    #[error(
        "plain modulus {plain} is not below the product of the ciphertext primes, of {bits} bits; use a smaller one or more primes"
    )]
    PlainTooLarge { plain: u64, bits: u64 },
    #[error(
        "no noise budget is left, so that the message is lost; expected at least one bit: use larger parameters or fewer products, and check that the ciphertext belongs to this secret key"
    )]
    NoBudget,
    #[error("a negative integer was given where integers are unsigned; expected zero or more")]
    Negative,
    #[error(transparent)]
    Slots(#[from] SlotError),
}

impl From<MathError> for ExactError {
    fn from(e: MathError) -> Self {
        Self::Rlwe(e.into())
    }
}

impl From<ExactError> for FileError {
    fn from(e: ExactError) -> Self {
        match e {
            ExactError::Rlwe(e) => Self::Contents(e),
            own @ (ExactError::PlainModulus { .. }
            | ExactError::NotBatchable { .. }
            | ExactError::OutOfRange { .. }
            | ExactError::TooMany { .. }
            | ExactError::Base { .. }
            | ExactError::TooLong { .. }
            | ExactError::NotCoprime { .. }
            | ExactError::PlainTooLarge { .. }
            | ExactError::NoBudget
            | ExactError::Negative
            | ExactError::Slots(_)) => Self::Refused(own.to_string()),
        }
    }
}
