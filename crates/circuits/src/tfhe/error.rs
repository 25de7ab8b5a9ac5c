// SPDX-License-Identifier: Apache-2.0
//! The error type of the TFHE scheme. A message names the fault, and where they are known the expected value, the value
//! found and a cure.

use ringmill_device::Mismatch;
use ringmill_isa::VerifyError;
use ringmill_limits::Halt;
use ringmill_math::MathError;
use ringmill_schemes::file::FileError;
use thiserror::Error;

/// The error of an input that TFHE or a layer below it refuses.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum TfheError {
    #[error(transparent)]
    Math(#[from] MathError),
    #[error("{0}")]
    Halt(#[from] Halt),
    #[error("a bootstrap of these sizes is no program of the mid level: {0}; take smaller ones")]
    Program(#[from] VerifyError),
    #[error(
        "a bootstrap's program has {what}, expected what this computer's kernels run; run it on a device"
    )]
    Unplanned { what: String },
    #[error("the security tables cannot be read: {0}; the build is damaged")]
    Tables(String),
    #[error("no TFHE parameter set is called {got:?}; there are {known}")]
    UnknownSet { got: String, known: String },
    #[error("{what} is {got}, expected {expected}")]
    OutOfRange {
        what: &'static str,
        expected: String,
        got: String,
    },
    #[error(
        "insecure parameters: {reason}, below the {wanted} bits asked for; take a larger dimension or more noise, or ask for less by name"
    )]
    Insecure { reason: String, wanted: u32 },
    #[error(
        "{what} fails with probability 2^{got:.1}, more than the 2^{allowed} asked for; take less noise, more levels, or ask for a higher rate by name"
    )]
    FailureRate {
        what: &'static str,
        got: f64,
        allowed: i32,
    },
    #[error(
        "the secret key has more 1s than the failure probability counts, expected at most half of its bits, as keys of this version have; make a new key, and decrypt with this one what is encrypted under it"
    )]
    HeavyKey,
    #[error(
        "products reach 2^{bound:.1} with an unrolling of {m}, and {primes} hold 2^{room:.1}; take other primes, a smaller base, or a prime ciphertext modulus"
    )]
    Overflow {
        bound: f64,
        m: u32,
        primes: String,
        room: f64,
    },
    #[error("{what} belongs to other parameters (identity {got}, expected {expected})")]
    OtherParams {
        what: &'static str,
        expected: String,
        got: String,
    },
    #[error(transparent)]
    OtherKeys(#[from] Mismatch<&'static str>),
    #[error("{what} has dimension {got}, expected {expected}")]
    Dimension {
        what: &'static str,
        expected: usize,
        got: usize,
    },
    #[error("{what} has word {got}, expected residues below {modulus}")]
    Residue {
        what: &'static str,
        modulus: u128,
        got: u64,
    },
    #[error(
        "the ciphertext is under the {got} key, expected the {expected} one; switch its key first"
    )]
    WrongKey {
        expected: &'static str,
        got: &'static str,
    },
    #[error("a table has {got} entries, expected {expected}, one for each message with its carry")]
    TableSize { expected: usize, got: usize },
    #[error("message {got} is out of range, expected one below {bound}")]
    Message { got: u64, bound: u64 },
    #[error("these parameters are for {got}, expected {expected}; choose another set")]
    OtherMessages {
        expected: &'static str,
        got: &'static str,
    },
}

impl From<TfheError> for FileError {
    fn from(e: TfheError) -> Self {
        match e {
            TfheError::Halt(halt) => Self::Halt(halt),
            own => Self::Refused(own.to_string()),
        }
    }
}
