// SPDX-License-Identifier: Apache-2.0
//! The errors of BFV. Most messages name the expected value, the value found and a cure.

use ringmill_limits::Halt;
use ringmill_math::MathError;
use thiserror::Error;

use crate::exact::ExactError;
use crate::file::FileError;
use crate::rlwe::RlweError;

/// The error of an input that BFV, or a layer below it, refuses.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum BfvError {
    #[error(transparent)]
    Rlwe(#[from] RlweError),
    #[error(transparent)]
    Exact(ExactError),
}

impl From<ExactError> for BfvError {
    fn from(e: ExactError) -> Self {
        match e {
            ExactError::Rlwe(e) => Self::Rlwe(e),
            own => Self::Exact(own),
        }
    }
}

impl From<MathError> for BfvError {
    fn from(e: MathError) -> Self {
        Self::Rlwe(e.into())
    }
}

impl From<Halt> for BfvError {
    fn from(halt: Halt) -> Self {
        Self::Rlwe(halt.into())
    }
}

impl From<BfvError> for FileError {
    fn from(e: BfvError) -> Self {
        match e {
            BfvError::Rlwe(e) => Self::Contents(e),
            BfvError::Exact(e) => e.into(),
        }
    }
}
