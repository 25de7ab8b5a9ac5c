// SPDX-License-Identifier: Apache-2.0
//! The errors of slot structures, encoders and linear maps.

use thiserror::Error;

use crate::MathError;

/// The error of an input that a function of [`slots`](crate::slots) refuses.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SlotError {
    #[error(transparent)]
    Math(#[from] MathError),
    #[error("{got} is not an odd prime; slots need one (2 is ramified in these rings: one slot)")]
    NotAnOddPrime { got: u64 },
    #[error(
        "{p}^{exponent} is not a plain modulus; expected an exponent of at least 1 and a power below 2^60: use a smaller exponent or prime"
    )]
    PowerOutOfRange { p: u64, exponent: u32 },
    #[error(
        "ring degree 2^{got} is not supported; expected a log2 of the degree between {min} and {max}"
    )]
    RingDegree { got: u32, min: u32, max: u32 },
    #[error("{what}: expected {expected}, got {got}; pass as many")]
    Length {
        what: &'static str,
        expected: usize,
        got: usize,
    },
    #[error("{what} {index} is {got}; expected a residue below {modulus}: reduce it first")]
    Residue {
        what: &'static str,
        index: usize,
        got: u64,
        modulus: u64,
    },
    #[error(
        "the polynomial does not hold one integer a slot; decode its slots as elements, or check where it comes from"
    )]
    NotThin,
    #[error("a structure for {p} in degree 2^{log_n} has no dimension {got}, only {count}")]
    NoDimension {
        p: u64,
        log_n: u32,
        got: usize,
        count: usize,
    },
    #[error(
        "a trace from degree {got} is not one to the slots; expected a power of two from {min}, the number of slots, to {max}, the ring degree"
    )]
    TraceDegree { got: usize, min: usize, max: usize },
    #[error(
        "{got} plaintext products in sequence do not make a map of {slots} slots; expected from 1 to {max}"
    )]
    Depth {
        got: usize,
        slots: usize,
        max: usize,
    },
}
