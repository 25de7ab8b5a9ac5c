// SPDX-License-Identifier: Apache-2.0
//! The description of a card: its FPGA, its link, its memory and the co-processors on it.
#![deny(clippy::arithmetic_side_effects)]

use serde::{Deserialize, Serialize};

use super::{Card, Catalogue, Coprocessor};
use crate::error::MachineError;
use crate::fields::{self, HostLink, ensure, range};
use crate::fpga::{MemoryKind, Need, Needs, Part, Unit};

/// The field `kind` of the descriptions of cards.
pub const KIND: &str = "card";

/// The card descriptions that Ringmill ships: pairs of name and TOML text.
pub const SHIPPED: [(&str, &str); 2] = [
    ("polymul-card", CardDescription::POLYMUL),
    ("basext-card", CardDescription::BASEXT),
];

/// The fields of a card: one FPGA behind a host link, with one or more co-processors and a memory of residues.
/// [`CardDescription::parse`] checks the ranges.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardDescription {
    /// The value of the field `kind`, which distinguishes this description from those of other machines.
    pub kind: Kind,
    /// The card's name in reports.
    pub name: String,
    pub title: String,
    /// The FPGA for which the card is laid out, by its name in [`crate::fpga::PARTS`].
    pub part: String,
    /// The reason for which the card may need more than its FPGA has. A card that fits its FPGA must not give one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_more_than_the_part_has: Option<String>,
    /// The clock of the card and of each co-processor on it, in MHz.
    pub clock_mhz: f64,
    pub link: HostLink,
    pub memory: Memory,
    /// The descriptions of the co-processors. An earlier co-processor claims instructions before a later one.
    pub coprocessor: Vec<toml::Table>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Card,
}

/// The card's memory for residues that one co-processor passes to another or uses again.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// The kind of RAM in which the memory is built.
    pub of: MemoryOf,
    /// The number of limbs of degree 2^`max_log_n` that the card's memory holds.
    pub limbs: u64,
    /// log2 of the ring degree of the limbs that `limbs` counts. Of limbs of half the degree the memory holds twice as
    /// many.
    pub max_log_n: u8,
    /// Bits of one residue in the card's memory.
    pub residue_bits: u32,
    /// The residues that the memory reads in one cycle, and also those that it writes. A co-processor's streams must
    /// not carry more.
    pub beat: usize,
}

impl Memory {
    /// Returns the number of residues that the card's memory holds.
    fn residues(&self) -> u64 {
        let degree = 1u64.checked_shl(self.max_log_n.into()).unwrap_or(u64::MAX);
        self.limbs.saturating_mul(degree)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryOf {
    Block,
    Ultra,
    /// The card's memory is high-bandwidth memory in the FPGA's package, which takes no block or ultra RAM of the FPGA.
    Hbm,
}

/// The most co-processors that a card can have.
const MOST: usize = 8;

impl Memory {
    /// Refuses a co-processor whose data ports have wider residues, or more residues in a cycle,
    /// than the card's memory.
    pub(super) fn serves(&self, unit: &dyn Coprocessor) -> Result<(), MachineError> {
        let stream = unit.stream();
        let expected =
            |of: &dyn std::fmt::Display| format!("{of} at least, as {} has", unit.name());
        let (bits, beat) = (self.residue_bits, self.beat);
        let holds = stream.residue_bits <= bits;
        ensure(
            holds,
            "memory.residue_bits",
            bits,
            expected(&stream.residue_bits),
        )?;
        ensure(
            stream.beat <= beat,
            "memory.beat",
            beat,
            expected(&stream.beat),
        )
    }
}

impl CardDescription {
    /// The TOML text of a card with the multiplier of Mert, Öztürk and Savaş (2020). Its memory of residues takes the
    /// block RAM that the multiplier leaves.
    pub const POLYMUL: &'static str = include_str!("polymul-card.toml");
    /// The TOML text of a card with the base-extension unit, the multiplier and high-bandwidth memory.
    pub const BASEXT: &'static str = include_str!("basext-card.toml");

    /// Reads a card's description from TOML, checks it and makes the card. `catalogue` makes the co-processors.
    ///
    /// # Errors
    /// [`MachineError::Syntax`] for text that is no description. [`MachineError::Field`] for a number out of range or a
    /// co-processor that does not suit the card. [`MachineError::Unknown`] for a machine that is not in the catalogue.
    /// The errors of the co-processors' own descriptions and of [`Card::of`].
    pub fn parse(text: &str, catalogue: &dyn Catalogue) -> Result<Card, MachineError> {
        let description: Self =
            toml::from_str(text).map_err(|e| MachineError::Syntax(e.to_string()))?;
        description.check()?;
        let count = description.coprocessor.len();
        ensure(
            (1..=MOST).contains(&count),
            "coprocessor",
            count,
            "1 to 8 tables [[coprocessor]]",
        )?;
        let mut units = Vec::with_capacity(count);
        for table in &description.coprocessor {
            let unit = catalogue.coprocessor(&description.text_of(table, catalogue)?)?;
            let clock = unit.clock_mhz();
            ensure(
                (clock - description.clock_mhz).abs() < 1e-9,
                "clock_mhz",
                description.clock_mhz,
                format!("that of each co-processor: {} has {clock}", unit.name()),
            )?;
            units.push(unit);
        }
        Card::of(description, units)
    }

    /// Returns the TOML text of a co-processor's description from its table in the card's. The key `machine` names a
    /// built-in description whose keys the table's other keys replace; without it the table is the whole description.
    /// The FPGA (`part`) and the link are those of the card.
    fn text_of(
        &self,
        table: &toml::Table,
        catalogue: &dyn Catalogue,
    ) -> Result<String, MachineError> {
        let syntax = |e: &dyn std::fmt::Display| MachineError::Syntax(e.to_string());
        let mut whole = match table.get("machine") {
            None => toml::Table::new(),
            Some(name) => {
                let name = name.as_str().unwrap_or_default();
                toml::from_str(catalogue.description(name)?).map_err(|e| syntax(&e))?
            }
        };
        let own = table.iter().filter(|(key, _)| *key != "machine");
        whole.extend(own.map(|(key, value)| (key.clone(), value.clone())));
        let link = toml::Table::try_from(&self.link).map_err(|e| syntax(&e))?;
        whole.insert("part".to_owned(), self.part.clone().into());
        whole.insert("link".to_owned(), link.into());
        toml::to_string(&whole).map_err(|e| syntax(&e))
    }

    fn check(&self) -> Result<(), MachineError> {
        fields::name(&self.name)?;
        fields::clock_mhz(self.clock_mhz)?;
        self.link.check()?;
        let m = &self.memory;
        range("memory.limbs", m.limbs, 1, 1 << 20)?;
        range("memory.max_log_n", m.max_log_n.into(), 1, 17)?;
        range("memory.residue_bits", m.residue_bits.into(), 1, 64)?;
        let beats = m.beat.is_power_of_two() && m.beat.ilog2() <= u32::from(m.max_log_n.min(12));
        if m.of == MemoryOf::Hbm {
            let there = Part::named(&self.part)?.high_bandwidth_bytes;
            let bytes = m.residues().saturating_mul(m.residue_bits.into()) / 8;
            let most = format!("{there} bytes at most, which the {} has of it", self.part);
            ensure(
                bytes <= there,
                "memory.limbs",
                format!("{bytes} bytes"),
                most,
            )?;
        }
        ensure(
            beats,
            "memory.beat",
            m.beat,
            "a power of two up to 4096 and to the degree",
        )
    }

    /// Returns the FPGA resources that the card needs: those of its co-processors and of its memory. The memory has one
    /// stream that reads and one that writes. Only the first co-processor's units are placed on dies.
    ///
    /// # Errors
    /// [`MachineError::UnknownPart`] if the description names an unknown FPGA.
    pub(super) fn needs(&self, units: &[Box<dyn Coprocessor>]) -> Result<Needs, MachineError> {
        let m = &self.memory;
        let kind = match m.of {
            MemoryOf::Block => Some(MemoryKind::Bram),
            MemoryOf::Ultra => Some(MemoryKind::Uram),
            MemoryOf::Hbm => None,
        };
        let beat = m.beat as u64;
        let depth = m.residues().div_ceil(beat);
        let width = beat.saturating_mul(m.residue_bits.into());
        let memory = kind.map(|kind| Need::memory("residues", kind, 1, depth, width));
        let mut unit = Unit {
            name: "processing unit",
            count: 0,
            needs: Vec::new(),
        };
        let mut shared: Vec<Need> = memory.into_iter().collect();
        for (number, coprocessor) in units.iter().enumerate() {
            let needs = coprocessor.needs()?;
            if number == 0 {
                unit = needs.unit;
                shared.extend(needs.shared);
            } else {
                let name = coprocessor.name();
                let (units, of_units) = (needs.unit.count, needs.unit.needs.into_iter());
                shared.extend(of_units.map(|need| need.of(name, units)));
                shared.extend(needs.shared.into_iter().map(|need| need.of(name, 1)));
            }
        }
        Ok(Needs {
            machine: self.name.clone(),
            part: Part::named(&self.part)?,
            unit,
            shared,
        })
    }
}
