//! What can go wrong around a compiled program.

use ringmill_compiler::reference::EvaluateError;
use ringmill_schemes::ckks::CkksError;
use thiserror::Error;

use crate::DeviceError;

/// A refused input, key or run: what was expected, what came, what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RuntimeError {
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
    #[error("`{name}`: {source}")]
    Value { name: String, source: CkksError },
    #[error(
        "ciphertext `{name}` is at level {got_level} and scale 2^{got_scale:.2}, the program takes it at level {level} and scale 2^{scale:.2}; encrypt it for this program"
    )]
    WrongPlace {
        name: String,
        level: u32,
        scale: f64,
        got_level: u32,
        got_scale: f64,
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
    Key { key: String, source: CkksError },
    #[error(
        "output `{name}` is incomplete; the program was not lowered by this version's compiler"
    )]
    IncompleteOutput { name: String },
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    Scheme(#[from] CkksError),
    #[error(transparent)]
    Evaluate(#[from] EvaluateError),
}
