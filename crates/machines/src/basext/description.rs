// SPDX-License-Identifier: Apache-2.0
//! The description of a base-extension machine: every number of the unit and of the memory beside it, read from TOML
//! and checked.
#![deny(clippy::arithmetic_side_effects)]

use serde::{Deserialize, Serialize};

use super::{BasextError, MachineUnit, Rate, Shape, Shared, Word};
use crate::MachineError;
use crate::fields::{self, HostLink, ensure, float, range};
use crate::fpga::Part;

/// The fields of a base-extension machine: a unit with high-bandwidth memory behind a host link. [`Description::read`]
/// checks the ranges of the fields.
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
    /// How the unit uses its multipliers: one target modulus at a time (folded), or several (shared).
    #[serde(default)]
    pub architecture: Architecture,
    /// The number of target moduli whose residues the shared unit computes at once. Only the shared unit has this
    /// field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<usize>,
    /// Bits of one word in the unit's input and output streams: 32 or 64.
    pub word_bits: u32,
    /// The coefficients that the unit takes in one cycle: TP in Kırbıyık's thesis.
    pub lanes: usize,
    /// log2 of the smallest ring degree that the unit supports. `max_log_n` is log2 of the largest.
    pub min_log_n: u32,
    pub max_log_n: u32,
    /// The largest number of source moduli of an extension.
    pub max_l: usize,
    /// The largest number of target moduli of an extension.
    pub max_k: usize,
    pub hbm: Hbm,
    pub link: HostLink,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Basext,
}

/// How a base-extension unit uses the multipliers of a lane.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Architecture {
    /// The folded architecture of Kırbıyık's thesis: three multipliers in each lane compute the
    /// residues for one target modulus at a time.
    #[default]
    Folded,
    /// Our shared architecture: `batch` + 2 multipliers in each lane compute the residues for `batch` target moduli at
    /// a time. The work that all targets share is done once.
    Shared,
}

/// The port to the high-bandwidth memory. Reads and writes share its bits.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hbm {
    /// The bits that the port reads or writes in one cycle of its clock.
    pub bits: u32,
    pub clock_mhz: f64,
}

impl Description {
    /// The TOML text of the machine with the folded unit of Kırbıyık's thesis, which computes one
    /// target modulus at a time.
    pub const PAPER: &'static str = include_str!("basext.toml");
    /// The TOML text of the machine with our shared unit, which computes several target moduli at a
    /// time.
    pub const SHARED: &'static str = include_str!("basext-shared.toml");

    /// Reads a base-extension machine's description from TOML and checks its fields.
    ///
    /// # Errors
    /// [`MachineError::Syntax`] for text that is no description, [`MachineError::Field`] for a field out of range or a
    /// part without high-bandwidth memory, [`MachineError::UnknownPart`].
    pub fn read(text: &str) -> Result<Self, MachineError> {
        let description: Self =
            toml::from_str(text).map_err(|e| MachineError::Syntax(e.to_string()))?;
        description.unit()?;
        description.rate()?;
        let part = Part::named(&description.part)?;
        let there = part.high_bandwidth_bytes > 0;
        ensure(
            there,
            "part",
            &description.part,
            "one with high-bandwidth memory, as the U280",
        )?;
        Ok(description)
    }

    /// Checks the unit's fields of the description. Returns the unit: its architecture and the parameters of its RTL.
    ///
    /// # Errors
    /// [`MachineError::Field`] for a field out of range, or for a `batch` that the architecture does not have.
    pub fn unit(&self) -> Result<MachineUnit, MachineError> {
        let shape = self.shape()?;
        let field = |got: String, expected: String| MachineError::Field {
            field: "batch",
            got,
            expected,
        };
        match (self.architecture, self.batch) {
            (Architecture::Folded, None) => Ok(shape.into()),
            (Architecture::Folded, Some(got)) => Err(field(
                got.to_string(),
                "none: `architecture = \"folded\"` makes one target at a time".to_owned(),
            )),
            (Architecture::Shared, None) => Err(field(
                "none".to_owned(),
                "the targets that `architecture = \"shared\"` makes at a time".to_owned(),
            )),
            (Architecture::Shared, Some(batch)) => {
                let unit = Shared::new(shape, batch).map_err(|fault| match fault {
                    BasextError::Shape { expected, .. } => field(batch.to_string(), expected),
                    other => other.into(),
                });
                Ok(unit?.into())
            }
        }
    }

    /// Checks and returns the parameters that the folded unit (one target modulus at a time) and
    /// the shared unit (several) have in common.
    fn shape(&self) -> Result<Shape, MachineError> {
        fields::name(&self.name)?;
        fields::clock_mhz(self.clock_mhz)?;
        self.link.check()?;
        let word = match self.word_bits {
            32 => Word::Bits32,
            64 => Word::Bits64,
            got => {
                ensure(false, "word_bits", got, "32 or 64")?;
                Word::Bits64
            }
        };
        let degrees = self.min_log_n..=self.max_log_n;
        Shape::new(word, self.lanes, degrees, self.max_l, self.max_k).map_err(|fault| {
            MachineError::Field {
                field: "lanes, min_log_n, max_log_n, max_l, max_k",
                got: format!(
                    "{}, {}, {}, {}, {}",
                    self.lanes, self.min_log_n, self.max_log_n, self.max_l, self.max_k
                ),
                expected: fault.to_string(),
            }
        })
    }

    /// Returns how much data the memory's port transfers in one cycle of the unit.
    ///
    /// # Errors
    /// [`MachineError::Field`]: a port out of range or narrower than a beat of the unit, or another field out of range.
    pub fn rate(&self) -> Result<Rate, MachineError> {
        let shape = self.shape()?;
        let beat = (shape.lanes() as u64).saturating_mul(shape.word().bits().into());
        range("hbm.bits", self.hbm.bits.into(), beat, 16384)?;
        float("hbm.clock_mhz", self.hbm.clock_mhz, 1.0, 10_000.0)?;
        // The ranges of the fields keep the products below 2^41.
        let khz = |mhz: f64| (mhz * 1e3).round() as u64;
        Ok(Rate::new(
            u64::from(self.hbm.bits).saturating_mul(khz(self.hbm.clock_mhz)),
            beat.saturating_mul(khz(self.clock_mhz)),
        ))
    }
}
