// SPDX-License-Identifier: Apache-2.0
//! The errors of BGV. Most messages name the expected value, the value found and a cure.

use ringmill_limits::Halt;
use ringmill_math::MathError;
use thiserror::Error;

use super::bootstrap::BootstrapError;
use crate::exact::ExactError;
use crate::file::FileError;
use crate::rlwe::RlweError;

/// The error of an input that BGV, or a layer below it, refuses.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum BgvError {
    #[error(transparent)]
    Rlwe(#[from] RlweError),
    #[error(transparent)]
    Exact(ExactError),
    #[error(
        "correction factor {got} is not one modulo {modulus}; expected an integer from 1 to {modulus} - 1 that is coprime to {modulus}: the object is corrupt"
    )]
    Factor { got: u64, modulus: u64 },
    #[error("{0}")]
    Bootstrap(Box<BootstrapError>),
}

impl From<BootstrapError> for BgvError {
    fn from(e: BootstrapError) -> Self {
        match e {
            BootstrapError::Bgv(own) => own,
            other => Self::Bootstrap(Box::new(other)),
        }
    }
}

impl From<ExactError> for BgvError {
    fn from(e: ExactError) -> Self {
        match e {
            ExactError::Rlwe(e) => Self::Rlwe(e),
            own => Self::Exact(own),
        }
    }
}

impl From<MathError> for BgvError {
    fn from(e: MathError) -> Self {
        Self::Rlwe(e.into())
    }
}

impl From<Halt> for BgvError {
    fn from(halt: Halt) -> Self {
        Self::Rlwe(halt.into())
    }
}

impl From<BgvError> for FileError {
    fn from(e: BgvError) -> Self {
        match e {
            BgvError::Rlwe(e) => Self::Contents(e),
            BgvError::Exact(e) => e.into(),
            own @ (BgvError::Factor { .. } | BgvError::Bootstrap(_)) => {
                Self::Refused(own.to_string())
            }
        }
    }
}
