// SPDX-License-Identifier: Apache-2.0
//! The error type of clients and servers of compiled programs.

use ringmill_compiler::EvaluateError;
use ringmill_compiler::ckks::bounded::Broken;
use ringmill_limits::Halt;
use ringmill_schemes::ckks::CkksError;
use ringmill_schemes::rlwe::{LedgerError, RlweError};
use thiserror::Error;

use ringmill_device::DeviceError;

/// The error of an input, a key or a run that a client or a server refuses. A message names the fault, and where they
/// are known what was expected, what came, and what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RuntimeError<E = CkksError> {
    #[error("{0}")]
    Halt(#[from] Halt),
    #[error("no value was given for {kind} input `{name}`; pass one by that name")]
    MissingInput { kind: &'static str, name: String },
    #[error("the program has no {kind} `{name}`; it has {}", if known.is_empty() { "none".to_owned() } else { known.join(", ") })]
    UnknownName {
        kind: &'static str,
        name: String,
        known: Vec<String>,
    },
    #[error(
        "`{name}` has {got} values, the program works on vectors of {expected}; pad or cut it to that length"
    )]
    VectorLength {
        name: String,
        expected: usize,
        got: usize,
    },
    #[error(
        "value {slot} of `{name}` is {value}, and the program was compiled for {range}; past that a result could wrap \
         around, so compile it with a wider range of this input"
    )]
    OutOfRange {
        name: String,
        slot: usize,
        /// The refused value as text, in the notation in which the range is shown.
        value: String,
        range: String,
    },
    #[error("`{name}`: {source}")]
    Value { name: String, source: E },
    #[error(
        "ciphertext `{name}` is at {got}, the program takes it at {expected}; encrypt it for this program"
    )]
    WrongPlace {
        name: String,
        expected: String,
        got: String,
    },
    #[error("ciphertext `{name}` has {got} polynomials, expected {expected}; relinearise it first")]
    WrongSize {
        name: String,
        expected: usize,
        got: usize,
    },
    #[error(
        "the program needs the {key}, which was not given; make the keys with `Client::evaluation_keys` of this program"
    )]
    MissingKey { key: String },
    #[error(
        "the {key} stores its uniform half, the program expands it from a seed; make seeded keys, or compile with stored keys"
    )]
    NotSeeded { key: String },
    #[error("the {key} cannot be used: {source}")]
    Key { key: String, source: E },
    #[error(
        "the {what} belongs to another secret key (key identity {got}) than what came before it (key identity {expected}); use inputs and evaluation keys that one client made"
    )]
    OtherKeys {
        what: String,
        expected: String,
        got: String,
    },
    #[error("output `{name}` cannot be shared: {reason}")]
    NotShareable { name: String, reason: String },
    #[error(transparent)]
    Count(#[from] LedgerError),
    #[error(
        "output `{name}` is incomplete; the program was not lowered by this version's compiler"
    )]
    IncompleteOutput { name: String },
    #[error(
        "output `{name}` is transparent: its value shows without the secret key, as that of a product with a plain vector of zeros does; compute it in the clear"
    )]
    Transparent { name: String },
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    Scheme(E),
    #[error("{0}; no prediction of the program holds for these inputs")]
    Bounded(Box<Broken>),
    #[error(transparent)]
    Evaluate(#[from] EvaluateError),
}

impl From<CkksError> for RuntimeError {
    fn from(e: CkksError) -> Self {
        Self::Scheme(e)
    }
}

impl From<RlweError> for RuntimeError {
    fn from(e: RlweError) -> Self {
        Self::Scheme(e.into())
    }
}
