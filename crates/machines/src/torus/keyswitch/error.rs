// SPDX-License-Identifier: Apache-2.0
//! The errors of TFHE key-switching units: shapes, ciphertexts and keys that a unit cannot take.

/// An error in a key-switching unit's shape, in a ciphertext or in a key. The error is found before
/// any data reach the unit.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SwitchError {
    #[error("`{what}` is {got}; a key-switching unit takes {expected}")]
    Shape {
        what: &'static str,
        expected: String,
        got: u64,
    },
    #[error("{what} has {got} words where the sizes of the switch make it {expected}")]
    Length {
        what: &'static str,
        expected: usize,
        got: usize,
    },
    #[error(transparent)]
    Math(#[from] ringmill_math::MathError),
}
