// SPDX-License-Identifier: Apache-2.0
//! The errors of polynomials and plans for functions of digits.

use thiserror::Error;

use crate::MathError;

/// The error of an input that a function of [`digits`](crate::digits) refuses.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DigitError {
    #[error(transparent)]
    Math(#[from] MathError),
    #[error(
        "{p}^{exponent} is not a power of an odd prime below 2^60; expected an odd prime and an exponent from 1 on"
    )]
    Power { p: u64, exponent: u32 },
    #[error(
        "digits up to {got} are not digits modulo {p}; expected a bound of at most {max}: use a larger prime, or remove more digits"
    )]
    Bound { p: u64, got: u64, max: u64 },
    #[error(
        "polynomials on all digits modulo {p} are too long; expected a prime of at most {max}: use a smaller one, or bound the digits"
    )]
    TooLong { p: u64, max: u64 },
    #[error("{got} digits cannot be removed from numbers of {exponent}; leave at least one")]
    TooManyDigits { got: u32, exponent: u32 },
    #[error(
        "noise of up to {got} does not fit {digits} digits modulo {p}; expected at most {max}: remove more digits, or use a sparser secret"
    )]
    Noise {
        p: u64,
        digits: u32,
        got: u64,
        max: u64,
    },
    #[error(
        "a table of {got} values is not one on these digits modulo {p}; expected {expected}, one a digit"
    )]
    Table { p: u64, expected: u64, got: usize },
    #[error("value {got} of a table is not below {modulus}; reduce it first")]
    Residue { got: u64, modulus: u64 },
    #[error("a plan of {expected} inputs was given {got}; pass as many")]
    Inputs { expected: usize, got: usize },
}
