// SPDX-License-Identifier: Apache-2.0
//! The source of a figure: counted, measured, modelled, or simulated in RTL.

use std::fmt;

use serde::Serialize;

/// The source of a figure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// Counted in the program.
    Counted,
    /// Measured by a clock or the operating system, during this run.
    Measured,
    /// Computed by the machine's cycle model.
    Model,
    /// Counted in the simulation of the machine's RTL.
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
