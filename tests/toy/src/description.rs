// SPDX-License-Identifier: Apache-2.0
//! The description of an abacus.

use ringmill_machines::fpga::{MemoryKind, Need, Needs, Part, Unit};
use ringmill_machines::{HostLink, MachineError};
use serde::{Deserialize, Serialize};

/// An abacus: its part, clock, number of beads and host link.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    pub kind: String,
    pub name: String,
    pub part: String,
    pub clock_mhz: f64,
    /// The number of residues that move in a cycle.
    pub beads: u64,
    pub link: HostLink,
}

impl Description {
    /// The text of the shipped description.
    pub const OURS: &'static str = include_str!("abacus.toml");

    /// Reads and checks a description.
    ///
    /// # Errors
    /// Returns [`MachineError::Syntax`] for text that is no description, and [`MachineError::Field`] for other than 1
    /// to 1024 beads.
    pub fn parse(text: &str) -> Result<Self, MachineError> {
        let read: Self = toml::from_str(text).map_err(|e| MachineError::Syntax(e.to_string()))?;
        match read.beads {
            1..=1024 => Ok(read),
            beads => Err(MachineError::Field {
                field: "beads",
                got: beads.to_string(),
                expected: "1 to 1024".to_owned(),
            }),
        }
    }

    /// Returns the resources that the abacus needs of its part: a memory for each bead.
    pub(crate) fn needs(&self) -> Result<Needs, MachineError> {
        Ok(Needs {
            machine: self.name.clone(),
            part: Part::named(&self.part)?,
            unit: Unit {
                name: "bead",
                count: self.beads,
                needs: vec![Need::memory("wire", MemoryKind::Bram, 1, 1024, 64)],
            },
            shared: Vec::new(),
        })
    }
}
