// SPDX-License-Identifier: Apache-2.0
//! The description of a TFHE bootstrapping engine: every number of the engine, read from TOML and checked.
#![deny(clippy::arithmetic_side_effects)]

use serde::{Deserialize, Serialize};

use super::keyswitch::{Digits, Generators};
use super::{KeyRate, KeySwitch, Schedule, Shape, Sizes, TorusError};
use crate::MachineError;
use crate::fields::{self, HostLink, float};
use crate::fpga::Part;

/// The fields of a bootstrapping engine behind a host link. [`Description::read`] checks the ranges of the fields.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The value of the field `kind`, which distinguishes this description from those of other machines.
    pub kind: Kind,
    /// The engine's name in reports.
    pub name: String,
    pub title: String,
    /// The FPGA for which the engine is laid out, by its name in [`crate::fpga::PARTS`].
    pub part: String,
    /// The reason for which the engine may need more than its FPGA has. An engine that fits its FPGA must not give
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_more_than_the_part_has: Option<String>,
    pub clock_mhz: f64,
    /// log2 of the ring degree. This field and the following ones up to `key_beats` are those of [`Sizes`], except
    /// `schedule`.
    pub log_n: u32,
    pub levels: usize,
    pub log_base: u32,
    pub dim: usize,
    pub unroll: usize,
    #[serde(default)]
    pub schedule: Schedule,
    pub units: usize,
    pub log_lanes: u32,
    pub log_pos: u32,
    pub places: usize,
    pub group: usize,
    pub key_beats: usize,
    pub key: KeySource,
    pub switch: Switch,
    pub link: HostLink,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Torus,
}

/// The memory or link from which the bootstrapping key and the switching key come, with its rate in 10^9 bytes per
/// second.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeySource {
    pub gbyte_per_second: f64,
}

/// The key switch: its digits, and the generators of the key's masks. There are `cores` generators
/// side by side. Each has hardware for `rounds` of the 20 ChaCha20 rounds, with `steps` 32-bit
/// additions between two pipeline registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    pub log_base: u32,
    pub levels: usize,
    pub cores: usize,
    pub rounds: u32,
    pub steps: u32,
}

impl From<Switch> for KeySwitch {
    fn from(s: Switch) -> Self {
        Self {
            digits: Digits {
                log_base: s.log_base,
                levels: s.levels,
            },
            generators: Generators {
                cores: s.cores,
                rounds: s.rounds,
                steps: s.steps,
            },
        }
    }
}

/// Converts an error about an engine's sizes to an error about the description's field.
fn by_its_field(fault: TorusError) -> MachineError {
    match fault {
        TorusError::Shape {
            what,
            expected,
            got,
        } => MachineError::Field {
            field: what,
            got: got.to_string(),
            expected,
        },
        other => other.into(),
    }
}

impl Description {
    /// The TOML text of our engine with as many butterflies and multipliers as the engine of Kong and Li's paper, for m
    /// = 1 key bit a step.
    pub const OURS: &'static str = include_str!("torus.toml");
    /// The TOML text of the engine of Kong and Li's paper, for m = 1 key bit a step.
    pub const PAPER: &'static str = include_str!("torus-paper.toml");
    /// The TOML text of our engine that needs no more LUT, FF, DSP blocks and memory than the engine of Kong and Li's
    /// paper.
    pub const FIT: &'static str = include_str!("torus-fit.toml");
    /// The TOML text of our engine that needs no more DSP blocks than the engine of Kong and Li's paper.
    pub const WIDE: &'static str = include_str!("torus-wide.toml");
    /// The TOML text of our engine that needs no more DSP blocks than FPT, another bootstrapping engine.
    pub const LARGE: &'static str = include_str!("torus-large.toml");

    /// Reads an engine's description from TOML and checks its fields.
    ///
    /// # Errors
    /// [`MachineError::Syntax`] for text that is no description. [`MachineError::UnknownPart`] for an unknown FPGA. The
    /// errors of [`Self::shape`].
    pub fn read(text: &str) -> Result<Self, MachineError> {
        let description: Self =
            toml::from_str(text).map_err(|e| MachineError::Syntax(e.to_string()))?;
        description.shape()?;
        Part::named(&description.part)?;
        Ok(description)
    }

    /// Checks all fields except `part`, and returns the sizes and the schedule of the engine.
    ///
    /// # Errors
    /// [`MachineError::Field`] for a field out of range. [`MachineError::Own`] for digits of the key switch that the
    /// software does not have.
    pub fn shape(&self) -> Result<Shape, MachineError> {
        fields::name(&self.name)?;
        fields::clock_mhz(self.clock_mhz)?;
        self.link.check()?;
        let rate = self.key.gbyte_per_second;
        float("key.gbyte_per_second", rate, 0.001, 100_000.0)?;
        Shape::scheduled(self.sizes(), self.schedule).map_err(by_its_field)
    }

    fn sizes(&self) -> Sizes {
        Sizes {
            log_n: self.log_n,
            levels: self.levels,
            log_base: self.log_base,
            dim: self.dim,
            unroll: self.unroll,
            units: self.units,
            log_lanes: self.log_lanes,
            log_pos: self.log_pos,
            places: self.places,
            group: self.group,
            key_beats: self.key_beats,
            switch: self.switch.into(),
        }
    }

    /// Returns the engine with the schedule and the `key_beats` of [`Shape::cheapest`].
    /// [`Shape::cheapest`] chooses between the two schedules that sum products before the inverse
    /// transform.
    ///
    /// # Errors
    /// [`MachineError::Field`] for a field out of range. [`MachineError::Own`] for digits of the key switch that the
    /// software does not have.
    pub fn cheapest(self) -> Result<Self, MachineError> {
        let shape = Shape::cheapest(self.sizes()).map_err(by_its_field)?;
        Ok(Self {
            schedule: shape.schedule(),
            key_beats: shape.sizes().key_beats,
            ..self
        })
    }

    /// Returns the source of the bootstrapping key: how often a beat of the key arrives at the rate of the field `key`.
    ///
    /// # Errors
    /// The errors of [`Self::shape`].
    pub fn key_rate(&self) -> Result<KeyRate, MachineError> {
        let bits_a_cycle = self.key.gbyte_per_second * 8e3 / self.clock_mhz;
        Ok(KeyRate::new(self.shape()?, bits_a_cycle))
    }
}
