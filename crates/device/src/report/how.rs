// SPDX-License-Identifier: Apache-2.0
//! The source of a figure in a report: counted, measured, modelled, or
//! simulated in RTL.

use std::fmt;

use serde::Serialize;

/// The source of a figure in a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// The figure was counted in the instructions of the program.
    Counted,
    /// A clock or the operating system measured the figure during this run.
    Measured,
    /// The machine's cycle model computed the figure.
    Model,
    /// The figure was counted in the simulation of the machine's RTL.
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
