// SPDX-License-Identifier: Apache-2.0
//! The Python exceptions for errors of schemes and of SEAL's files.

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use ringmill_limits::Halt;
use ringmill_schemes::bfv::BfvError;
use ringmill_schemes::bgv::BgvError;
use ringmill_schemes::ckks::CkksError;
use ringmill_schemes::exact::ExactError;
use ringmill_schemes::rlwe::RlweError;
use ringmill_schemes::seal::SealError;

use crate::errors::{DataError, FileError, KeysError, ParameterError, RingmillError, halted};

/// An error of a scheme, or of a layer below it, that becomes a Python exception.
pub(super) trait Refusal: ToString {
    /// Returns the Python exception for this error, with this text.
    fn raised(&self, text: String) -> PyErr;
}

/// Returns the Python exception for an error of a scheme.
pub(super) fn scheme_refused(error: impl Refusal) -> PyErr {
    error.raised(error.to_string())
}

/// Returns the Python exception for an error of a file in SEAL's format.
pub(super) fn refused(error: SealError) -> PyErr {
    let text = error.to_string();
    if let Some(halt) = Halt::of(&error) {
        return halted(halt, text);
    }
    match error {
        SealError::Budget { .. } => PyMemoryError::new_err(text),
        SealError::Unsupported { .. } => ParameterError::new_err(text),
        SealError::Scheme(inner) => scheme_refused(inner),
        SealError::Bfv(inner) => scheme_refused(inner),
        SealError::Bgv(inner) => scheme_refused(inner),
        SealError::Exact(inner) => scheme_refused(inner),
        SealError::Rlwe(inner) => scheme_refused(inner),
        _ => FileError::new_err(text),
    }
}

impl Refusal for RlweError {
    fn raised(&self, text: String) -> PyErr {
        match self {
            Self::Halt(halt) => halted(halt, text),
            Self::MissingKey(_)
            | Self::KeyForm { .. }
            | Self::OtherParams { .. }
            | Self::OtherKeys { .. } => KeysError::new_err(text),
            Self::Insecure { .. }
            | Self::Parameter { .. }
            | Self::UnknownSecurityTable { .. }
            | Self::UnknownSecurityLevel { .. } => ParameterError::new_err(text),
            Self::Transparent => DataError::new_err(text),
            _ => RingmillError::new_err(text),
        }
    }
}

impl Refusal for CkksError {
    fn raised(&self, text: String) -> PyErr {
        match self {
            Self::Rlwe(inner) => inner.raised(text),
            Self::Slots { .. }
            | Self::NotFinite { .. }
            | Self::TooLarge { .. }
            | Self::Scale { .. } => DataError::new_err(text),
            _ => RingmillError::new_err(text),
        }
    }
}

impl Refusal for ExactError {
    fn raised(&self, text: String) -> PyErr {
        match self {
            Self::Rlwe(inner) => inner.raised(text),
            Self::PlainModulus { .. }
            | Self::NotBatchable { .. }
            | Self::NotCoprime { .. }
            | Self::PlainTooLarge { .. } => ParameterError::new_err(text),
            _ => DataError::new_err(text),
        }
    }
}

impl Refusal for BfvError {
    fn raised(&self, text: String) -> PyErr {
        match self {
            Self::Rlwe(inner) => inner.raised(text),
            Self::Exact(inner) => inner.raised(text),
            _ => RingmillError::new_err(text),
        }
    }
}

impl Refusal for BgvError {
    fn raised(&self, text: String) -> PyErr {
        match self {
            Self::Rlwe(inner) => inner.raised(text),
            Self::Exact(inner) => inner.raised(text),
            Self::Factor { .. } => FileError::new_err(text),
            _ => RingmillError::new_err(text),
        }
    }
}
