//! The machine description: every number of the multiplier, read from TOML and validated.

use serde::{Deserialize, Serialize};

use super::Shape;
use crate::MachineError;

/// A polynomial multiplier behind a host link. Ranges are checked by [`Description::read`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// Tells this description from those of other machines.
    pub kind: Kind,
    /// The name reports carry.
    pub name: String,
    pub title: String,
    /// The FPGA that it is laid out for, by its name in [`crate::fpga::PARTS`].
    pub part: String,
    /// Why the description may need more than its part has; refused where it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_more_than_the_part_has: Option<String>,
    pub clock_mhz: f64,
    /// Processing units.
    pub units: usize,
    /// log2 of the largest degree.
    pub max_log_n: u32,
    /// Residues a cycle on each stream.
    pub beat: usize,
    pub link: HostLink,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Polymul,
}

/// The host link, half duplex.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostLink {
    /// Effective rate.
    pub gbit_per_second: f64,
}

impl Description {
    /// The paper's configuration.
    pub const PAPER: &'static str = include_str!("polymul.toml");

    /// Reads a description and checks its fields.
    ///
    /// # Errors
    /// [`MachineError::Syntax`] for text that is no description, [`MachineError::Field`] for a number out of range.
    pub fn read(text: &str) -> Result<Self, MachineError> {
        let description: Self =
            toml::from_str(text).map_err(|e| MachineError::Syntax(e.to_string()))?;
        description.shape()?;
        Ok(description)
    }

    /// Reads a description of a multiplier alone on its part and validates it.
    ///
    /// # Errors
    /// Those of [`Self::read`] and of [`Self::fit`].
    pub fn parse(text: &str) -> Result<Self, MachineError> {
        let description = Self::read(text)?;
        description.fit()?;
        Ok(description)
    }

    /// Checks every field; the elaboration parameters they stand for.
    ///
    /// # Errors
    /// [`MachineError::Field`].
    pub fn shape(&self) -> Result<Shape, MachineError> {
        let named = (1..=64).contains(&self.name.len())
            && self
                .name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        ensure(
            named,
            "name",
            &self.name,
            "1 to 64 letters, digits, `-`, `_` or `.`",
        )?;
        let (clock, rate) = (self.clock_mhz, self.link.gbit_per_second);
        ensure(
            (1.0..=10_000.0).contains(&clock),
            "clock_mhz",
            clock,
            "1 to 10000",
        )?;
        ensure(
            (0.001..=100_000.0).contains(&rate),
            "link.gbit_per_second",
            rate,
            "0.001 to 100000",
        )?;
        Shape::new(self.units, self.max_log_n, self.beat).ok_or_else(|| MachineError::Field {
            field: "units, max_log_n, beat",
            got: format!("{}, {}, {}", self.units, self.max_log_n, self.beat),
            expected: "units a power of two from 4 to 64; max_log_n from 8 to 16; beat a power of two from 2 to units"
                .to_owned(),
        })
    }

    /// Seconds for some bytes on the link.
    pub fn link_seconds(&self, bytes: u64) -> f64 {
        bytes as f64 * 8.0 / (self.link.gbit_per_second * 1e9)
    }
}

fn ensure(
    holds: bool,
    field: &'static str,
    got: impl ToString,
    expected: &str,
) -> Result<(), MachineError> {
    if holds {
        return Ok(());
    }
    Err(MachineError::Field {
        field,
        got: got.to_string(),
        expected: expected.to_owned(),
    })
}
