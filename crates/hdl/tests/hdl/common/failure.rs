// SPDX-License-Identifier: Apache-2.0
//! Why a check failed, so that a fault counts as caught only where the RTL is wrong.

use std::fmt::{self, Debug};

use ringmill_hdl::HdlError;

/// The RTL is wrong, or a tool would not do its work (which proves nothing).
pub enum Failure {
    Mismatch(String),
    Tool(HdlError),
}

impl Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mismatch(message) => f.write_str(message),
            Self::Tool(error) => write!(f, "{error}"),
        }
    }
}

impl From<HdlError> for Failure {
    fn from(error: HdlError) -> Self {
        Self::Tool(error)
    }
}

pub type Check = Result<(), Failure>;

/// Fails with a formatted mismatch unless the condition holds.
macro_rules! ensure {
    ($holds:expr, $($message:tt)+) => {
        if !$holds {
            return Err($crate::common::failure::Failure::Mismatch(format!($($message)+)));
        }
    };
}
pub(crate) use ensure;
