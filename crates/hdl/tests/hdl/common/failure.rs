// SPDX-License-Identifier: Apache-2.0
//! Why a check failed, so that a fault counts as noticed only where the RTL is wrong.

use std::fmt::{self, Debug};
use std::panic::{AssertUnwindSafe, catch_unwind};

use ringmill_hdl::{Hdl, HdlError};

/// The RTL is wrong, or a tool would not do its work (which proves nothing).
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
    /// A simulation stops at an assertion of the RTL, which is then wrong.
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

/// Runs a check that panics where the RTL is wrong.
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
