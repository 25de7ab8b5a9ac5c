// SPDX-License-Identifier: Apache-2.0
//! The errors of bootstrapping engines: shapes, keys and ciphertexts that an engine cannot take.

use crate::MachineError;

/// An error in a bootstrapping engine's shape, in a key or in a ciphertext. The error is found
/// before any data reach the engine.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TorusError {
    #[error("`{what}` is {got}; a bootstrapping engine takes {expected}")]
    Shape {
        what: &'static str,
        expected: String,
        got: u64,
    },
    #[error("{got} {what} came where the engine takes {expected}")]
    Count {
        what: &'static str,
        expected: usize,
        got: usize,
    },
    #[error("{what} {got} is not below {bound}")]
    Range {
        what: &'static str,
        bound: u64,
        got: u64,
    },
    #[error(transparent)]
    Math(#[from] ringmill_math::MathError),
}

impl From<TorusError> for MachineError {
    fn from(error: TorusError) -> Self {
        Self::own(error)
    }
}
