// SPDX-License-Identifier: Apache-2.0
//! The errors of opening the CPU as a device.

use ringmill_device::DeviceError;
use ringmill_device::error::Kind;
use thiserror::Error;

/// The reason for which the CPU device could not be opened with a number of threads.
#[derive(Debug, Error)]
pub enum OpenError {
    #[error(
        "`{got}` is not a thread count for the cpu device; expected `cpu` (all cores) or `cpu:N` with N from 1 to {max}"
    )]
    ThreadCount { got: String, max: usize },
    #[error("could not start {threads} worker threads: {reason}; ask for fewer with `cpu:N`")]
    Threads { threads: usize, reason: String },
}

impl From<OpenError> for DeviceError {
    fn from(error: OpenError) -> Self {
        Self::own(Kind::Opening, error)
    }
}
