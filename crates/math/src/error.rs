// SPDX-License-Identifier: Apache-2.0
//! The errors of this crate: refused moduli, ring degrees, lengths and values, lack of random bytes
//! or of kernels, and stops by a limit.

use thiserror::Error;

/// The error of a function of this crate: a refused input, a failure of the system's random device, kernels that the
/// processor does not run, or a halt by a limit.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MathError {
    #[error("{0}")]
    Halt(#[from] ringmill_limits::Halt),
    #[error("modulus {got} is out of range: expected 2 <= q < 2^61; choose a smaller prime")]
    ModulusOutOfRange { got: u64 },
    #[error("{value} has no inverse mod {modulus}; pass a value coprime to the modulus")]
    NotInvertible { value: u64, modulus: u64 },
    #[error(
        "{modulus} is not prime; an NTT needs one that is prime, and 1 mod twice the ring degree"
    )]
    NotPrime { modulus: u64 },
    #[error(
        "modulus {modulus} is not 1 mod {order}, so it has no root of unity of that order; take a prime that is 1 mod {order}"
    )]
    NoRootOfUnity { modulus: u64, order: u64 },
    #[error("ring degree 2^{got} is not supported; expected a log2 between {min} and {max}")]
    RingDegree { got: u32, min: u32, max: u32 },
    #[error("expected {expected}, got a ring of kind {got:?} with 2^{log_n} coefficients")]
    WrongRing {
        expected: &'static str,
        got: crate::RingKind,
        log_n: u8,
    },
    #[error("{what} has length {got}, expected {expected}; pass as many, one limb each")]
    Length {
        what: &'static str,
        expected: usize,
        got: usize,
    },
    #[error(
        "Galois element {got} is not an odd number below {bound}; use 3^k mod 2N, or 2N - 1 for conjugation"
    )]
    GaloisElement { got: u64, bound: u64 },
    #[error(
        "only {found} primes of {bits} bits satisfy the conditions, {wanted} were asked for; use another size"
    )]
    NotEnoughPrimes {
        bits: u32,
        wanted: usize,
        found: usize,
    },
    #[error("{what} is {got}, expected {expected}")]
    OutOfRange {
        what: &'static str,
        expected: &'static str,
        got: String,
    },
    #[error("moduli {a} and {b} share a factor; an RNS basis needs pairwise coprime moduli")]
    NotCoprime { a: u64, b: u64 },
    #[error(
        "{terms} source moduli of up to {bits} bits, the smallest {smallest}, leave a Cox-Rower base extension of {precision} bits no exact range; expected moduli closer to 2^{bits} or a higher precision"
    )]
    CoxRowerRange {
        smallest: u64,
        bits: u32,
        terms: usize,
        precision: u32,
    },
    #[error("an RNS basis needs at least one modulus, got none")]
    EmptyBasis,
    #[error(
        "the operating system gave no random bytes: {0}; check that its random device is available"
    )]
    OsRandom(String),
    #[error(
        "this processor runs no {} kernels, but {}; let RINGMILL_PLANS name one of these, or none for the best",
        missing.name(),
        available.iter().map(|level| level.name()).collect::<Vec<_>>().join(", ")
    )]
    BackendUnavailable {
        missing: crate::Backend,
        available: Vec<crate::Backend>,
    },
}
