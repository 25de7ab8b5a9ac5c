// SPDX-License-Identifier: Apache-2.0
//! The report of every machine: cycles, time, memory and link traffic of a run.

use std::collections::BTreeMap;

use serde::Serialize;

use super::end_to_end::EndToEnd;
use super::fit::Fit;
use super::lines::LineUse;
use super::own::{Interleaved, Own, OwnReport};

/// The cycles, time, memory and link traffic of one program on one machine.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MachineReport {
    pub machine: String,
    /// The time from the program's first input on the link to its last output.
    pub end_to_end: EndToEnd,
    /// The source of the cycles: "model", or "RTL" for its simulation.
    pub how: &'static str,
    pub clock_mhz: f64,
    /// The machine's cycles, without the host link.
    pub cycles: u64,
    /// The time of `cycles` at `clock_mhz`.
    pub seconds: f64,
    pub calls: u64,
    /// The micro words executed, without waits, which cost nothing.
    pub instructions: u64,
    pub instructions_by_kind: BTreeMap<String, u64>,
    /// The cycles in which words of each kind were in flight. Kinds overlap, so they sum to more than `cycles`.
    pub cycles_by_kind: BTreeMap<String, u64>,
    pub procedures: BTreeMap<String, ProcedureUse>,
    /// `cycles` by the lines of the user's program, which add up to `cycles`. Front ends show them beside the source
    /// lines.
    #[serde(skip)]
    pub lines: Vec<LineUse>,
    pub utilisation: Vec<UnitUse>,
    pub memories: Vec<MemoryUse>,
    pub link: LinkUse,
    /// The resources of the machine: memories and multipliers by name, used and available, and whether they fit the
    /// part.
    pub fit: Fit,
    /// The figures that only this kind of machine has.
    #[serde(flatten)]
    pub own: Own,
}

impl MachineReport {
    /// Returns the figures of one kind of machine, if the report is of that kind.
    pub fn own<T: OwnReport>(&self) -> Option<&T> {
        self.own.get()
    }

    /// Returns the share of one program among those that the machine interleaves, if it interleaves.
    pub fn interleaved(&self) -> Option<Interleaved> {
        self.own.interleaved()
    }
}

/// A memory of the machine, or one of several equal memories.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct MemoryUse {
    pub name: String,
    /// The number of such memories.
    pub count: usize,
    /// The most bytes in use at once in the fullest of them.
    pub used_bytes: u64,
    /// The bytes that one of them holds.
    pub available_bytes: u64,
}

/// The calls of one procedure, and their cycles.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ProcedureUse {
    pub calls: u64,
    pub cycles: u64,
}

/// The use of a unit.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct UnitUse {
    pub unit: String,
    pub busy_cycles: u64,
    /// Busy cycles over all cycles; the mean if there are several such units.
    pub utilisation: f64,
}

/// The traffic on the host link between calls (64-bit residues). The machine's cycles do not contain it.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct LinkUse {
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub key_bytes: u64,
    /// The bytes of procedures' words and tables, and of the data that each call needs.
    pub program_bytes: u64,
    pub seconds_in: f64,
    pub seconds_out: f64,
    pub key_seconds: f64,
    pub program_seconds: f64,
}
