// SPDX-License-Identifier: Apache-2.0
//! The errors of CKKS. Most messages name the expected value, the value found and a cure.

use ringmill_isa::Level;
use ringmill_limits::Halt;
use ringmill_math::MathError;
use thiserror::Error;

use crate::file::FileError;
use crate::rlwe::RlweError;

/// The error of an input that CKKS, or the layer below it, refuses.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum CkksError {
    #[error(transparent)]
    Rlwe(#[from] RlweError),
    #[error("unknown parameter set {got:?}; expected set1 or set2")]
    UnknownSet { got: String },
    #[error("scales {a} and {b} differ; rescale or re-encode so that they agree")]
    ScaleMismatch { a: f64, b: f64 },
    #[error("{got} slots were given; expected a power of two of at most {max}")]
    Slots { got: usize, max: usize },
    #[error("slot {slot} is {got}; only finite numbers can be encoded")]
    NotFinite { slot: usize, got: String },
    #[error("scale {got} is not usable; expected a finite positive number below 2^{max_log2:.0}")]
    Scale { got: f64, max_log2: f64 },
    #[error(
        "a value of about 2^{value_log2:.1} after scaling does not fit level {level}, which holds less than 2^{room_log2:.1}; use a smaller scale, smaller values or a higher level"
    )]
    TooLarge {
        value_log2: f64,
        level: Level,
        room_log2: f64,
    },
    #[error("these parameters do not bootstrap: {reason}")]
    NotBootstrapped { reason: String },
}

impl From<MathError> for CkksError {
    fn from(e: MathError) -> Self {
        Self::Rlwe(e.into())
    }
}

impl From<Halt> for CkksError {
    fn from(halt: Halt) -> Self {
        Self::Rlwe(halt.into())
    }
}

impl From<CkksError> for FileError {
    fn from(e: CkksError) -> Self {
        match e {
            CkksError::Rlwe(e) => Self::Contents(e),
            own => Self::Refused(own.to_string()),
        }
    }
}
