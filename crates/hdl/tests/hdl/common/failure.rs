// SPDX-License-Identifier: Apache-2.0
//! The reason why a check failed. A fault counts as noticed only if the check found the RTL wrong.

use std::fmt::{self, Debug};
use std::panic::{AssertUnwindSafe, catch_unwind};

use ringmill_hdl::{Hdl, HdlError};

/// The reason of a failed check: the RTL is wrong, or a tool failed, which proves nothing about the RTL.
pub enum Failure {
    Mismatch(String),
    Tool(String),
}

impl Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Mismatch(message) | Self::Tool(message)) = self;
        f.write_str(message)
    }
}

impl From<HdlError> for Failure {
    /// Turns a stopped simulation, which an assertion of the RTL ends, into a mismatch, and every other error into a
    /// failure of a tool.
    fn from(error: HdlError) -> Self {
        match error {
            HdlError::Simulation(message) => Self::Mismatch(message),
            error => Self::Tool(error.to_string()),
        }
    }
}

pub type Check = Result<(), Failure>;

/// A check of a copy of the RTL, with a seed for its random numbers.
pub type Checker = fn(&Hdl, u64) -> Check;

/// Runs a check that panics where the RTL is wrong, and returns a panic as a mismatch.
pub fn panics(check: impl FnOnce()) -> Check {
    let outcome = catch_unwind(AssertUnwindSafe(check));
    outcome.map_err(|_| Failure::Mismatch("the check panics".to_owned()))
}

/// Fails with a formatted mismatch unless the condition holds.
macro_rules! ensure {
    ($holds:expr, $($message:tt)+) => {
        if !$holds {
            return Err($crate::common::failure::Failure::Mismatch(format!($($message)+)));
        }
    };
}
pub(crate) use ensure;
