// SPDX-License-Identifier: Apache-2.0
//! How a figure was obtained.

use std::fmt;

use serde::Serialize;

/// How a figure was obtained.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// Read off the program.
    Counted,
    /// By a clock, or by the operating system, during this run.
    Measured,
    /// From the machine's cycle model.
    Model,
    /// From the simulation of the machine's RTL.
    Rtl,
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Counted => "counted",
            Self::Measured => "measured",
            Self::Model => "model",
            Self::Rtl => "RTL",
        })
    }
}
