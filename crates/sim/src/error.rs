// SPDX-License-Identifier: Apache-2.0
//! The errors of opening simulated devices, of runs in which an RTL's results differ from those of the CPU's kernels,
//! and of products in a ring that no device has.

use std::path::PathBuf;

use ringmill_device::DeviceError;
use ringmill_device::error::Kind;
use thiserror::Error;

/// The reason why no device could be opened under a name, or why a machine has no bootstrapping engine.
#[derive(Debug, Error)]
pub enum OpenError {
    #[error("unknown device `{got}`; known devices: {}", known.join(", "))]
    UnknownDevice { got: String, known: Vec<String> },
    #[error("could not read machine file {}: {source}", path.display())]
    MachineFile {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error(
        "machine `{machine}` runs no bootstraps of TFHE; `torus` does, and descriptions of its kind"
    )]
    NoBootstraps { machine: String },
}

impl From<OpenError> for DeviceError {
    fn from(error: OpenError) -> Self {
        Self::own(Kind::Opening, error)
    }
}

/// The error of a simulated RTL whose results differ from the CPU's, or of a product in a ring that no device has.
#[derive(Debug, Error)]
pub enum RunError {
    #[error(
        "procedure {procedure}: the RTL gives other residues for %{value} than the CPU's kernels; one of them is wrong: please report it"
    )]
    RtlDiffers { procedure: String, value: u32 },
    #[error(
        "a polynomial of {got} coefficients has no ring here; expected a power of two from 8 to 131072"
    )]
    Degree { got: usize },
}

impl From<RunError> for DeviceError {
    fn from(error: RunError) -> Self {
        let kind = match error {
            RunError::RtlDiffers { .. } => Kind::Differs,
            RunError::Degree { .. } => Kind::Machine,
        };
        Self::own(kind, error)
    }
}

/// Cuts a name of more than 80 characters, so that an error message with it stays short.
pub(crate) fn shorten(name: &str) -> String {
    const MOST: usize = 80;
    if name.chars().count() <= MOST {
        name.to_owned()
    } else {
        name.chars().take(MOST).chain(['…']).collect()
    }
}
