// SPDX-License-Identifier: Apache-2.0
//! The sources of our figures.

use serde::{Deserialize, Serialize};

use crate::error::PaperError;

/// The way in which our figure of a row was obtained.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// The figure comes from a run of the cycle model.
    Model,
    /// The figure comes from a run of the cycle model that was checked: the RTL of that size has run the same
    /// instruction words in the same cycles.
    Lockstep,
    /// The figure was measured on this computer in this run.
    Measured,
    /// The figure comes from a simulation of the machine's RTL.
    Rtl,
    /// The figure comes from a synthesis of the machine's RTL by Yosys.
    Synthesis,
    /// The figure is a count in our program, or a calculation from other figures.
    Counted,
    /// The figure is a statement of the machine's description, such as a number of multipliers.
    Stated,
    /// The figure was measured on another computer and recorded before this run.
    Recorded,
}

impl How {
    /// Returns the source of figures that has this name in a sheet.
    pub(crate) fn named(name: &str) -> Result<Self, PaperError> {
        let name = serde::de::value::StrDeserializer::<serde::de::value::Error>::new(name);
        Self::deserialize(name).map_err(|reason| PaperError::Tables(reason.to_string()))
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Lockstep => "lockstep",
            Self::Measured => "measured",
            Self::Rtl => "rtl",
            Self::Synthesis => "synthesis",
            Self::Counted => "counted",
            Self::Stated => "stated",
            Self::Recorded => "recorded",
        }
    }
}
