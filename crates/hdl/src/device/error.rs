// SPDX-License-Identifier: Apache-2.0
//! The errors of RTL devices, and their conversion to the errors of all devices.

use ringmill_device::DeviceError;
use ringmill_device::error::Kind;
use thiserror::Error;

use crate::HdlError;
use crate::basext::ExtendError;
use crate::polymul::DriveError;
use crate::ring::RpauError;
use crate::torus::EngineError;
use crate::vector::VectorError;

/// The reason for which a machine's RTL did not run a program.
#[derive(Debug, Error)]
pub enum RtlError {
    #[error(
        "`{device}` makes the masks of the key-switching key itself, from a seed that this input does not have: run a bootstrap with keys, as `Bootstrap` binds them, or `sim:` for random inputs"
    )]
    NoSeed { device: String },
    #[error(
        "machine `{machine}` has no RTL to run; machines that have: {known}. `sim:{machine}` is its model"
    )]
    NoRtl { machine: String, known: String },
}

impl From<RtlError> for DeviceError {
    fn from(error: RtlError) -> Self {
        let kind = match error {
            RtlError::NoSeed { .. } => Kind::Machine,
            RtlError::NoRtl { .. } => Kind::Opening,
        };
        Self::own(kind, error)
    }
}

impl From<HdlError> for DeviceError {
    fn from(error: HdlError) -> Self {
        Self::own(Kind::Opening, error)
    }
}

impl From<DriveError> for DeviceError {
    fn from(error: DriveError) -> Self {
        let kind = match error {
            DriveError::Mismatch(_) => Kind::Differs,
            _ => Kind::Machine,
        };
        Self::own(kind, error)
    }
}

macro_rules! of_machines {
    ($($error:ident),*) => {
        $(impl From<$error> for DeviceError {
            fn from(error: $error) -> Self {
                Self::own(Kind::Machine, error)
            }
        })*
    };
}

of_machines!(RpauError, VectorError, ExtendError, EngineError);
