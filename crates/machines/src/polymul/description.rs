// SPDX-License-Identifier: Apache-2.0
//! The description of a polynomial multiplier: every number of the machine, read from TOML and checked.
#![deny(clippy::arithmetic_side_effects)]

use serde::{Deserialize, Serialize};

use super::Shape;
use crate::MachineError;
use crate::fields::{self, HostLink};

/// The fields of a polynomial multiplier behind a host link. [`Description::read`] checks the ranges of the fields.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The value of the field `kind`, which distinguishes this description from those of other machines.
    pub kind: Kind,
    /// The machine's name in reports.
    pub name: String,
    pub title: String,
    /// The FPGA for which the machine is laid out, by its name in [`crate::fpga::PARTS`].
    pub part: String,
    /// The reason for which the machine may need more than its FPGA has. A machine that fits its FPGA must not give
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_more_than_the_part_has: Option<String>,
    pub clock_mhz: f64,
    /// The number of processing units, each with one butterfly.
    pub units: usize,
    /// log2 of the largest ring degree that the multiplier supports.
    pub max_log_n: u32,
    /// Residues that each of the multiplier's two streams carries in a cycle.
    pub beat: usize,
    pub link: HostLink,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Polymul,
}

impl Description {
    /// The TOML text of the polynomial multiplier of Mert, Öztürk and Savaş (2020).
    pub const PAPER: &'static str = include_str!("polymul.toml");

    /// Reads a multiplier's description from TOML and checks its fields.
    ///
    /// # Errors
    /// [`MachineError::Syntax`] for text that is no description, [`MachineError::Field`] for a name or a number out
    /// of range. It does not look for the FPGA `part`.
    pub fn read(text: &str) -> Result<Self, MachineError> {
        let description: Self =
            toml::from_str(text).map_err(|e| MachineError::Syntax(e.to_string()))?;
        description.shape()?;
        Ok(description)
    }

    /// Reads the description of a multiplier that is alone on its FPGA, and checks its fields and that it fits.
    ///
    /// # Errors
    /// The errors of [`Self::read`] and of [`Self::fit`].
    pub fn parse(text: &str) -> Result<Self, MachineError> {
        let description = Self::read(text)?;
        description.fit()?;
        Ok(description)
    }

    /// Checks all fields except `part` and the reason to exceed it, and returns the parameters of the multiplier's RTL.
    ///
    /// # Errors
    /// [`MachineError::Field`] for a field out of range.
    pub fn shape(&self) -> Result<Shape, MachineError> {
        fields::name(&self.name)?;
        fields::clock_mhz(self.clock_mhz)?;
        self.link.check()?;
        Shape::new(self.units, self.max_log_n, self.beat).ok_or_else(|| MachineError::Field {
            field: "units, max_log_n, beat",
            got: format!("{}, {}, {}", self.units, self.max_log_n, self.beat),
            expected: "units a power of two from 4 to 64; max_log_n from 8 to 16; beat a power of two from 2 to units"
                .to_owned(),
        })
    }
}
