// SPDX-License-Identifier: Apache-2.0
//! What every machine tells of a run.

use std::collections::BTreeMap;

use serde::Serialize;

use super::end_to_end::EndToEnd;
use super::fit::Fit;
use super::lines::LineUse;
use super::own::{Interleaved, Own, OwnReport};

/// Cycles, time, memory and link traffic of one program on one machine.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MachineReport {
    pub machine: String,
    /// What the program takes from its first input on the link to its last output.
    pub end_to_end: EndToEnd,
    /// How the cycles were obtained: "model", or "RTL" from its simulation.
    pub how: &'static str,
    pub clock_mhz: f64,
    /// Machine cycles, host link apart.
    pub cycles: u64,
    /// `cycles` at `clock_mhz`.
    pub seconds: f64,
    pub calls: u64,
    /// Micro words executed, waits apart (they cost nothing).
    pub instructions: u64,
    pub instructions_by_kind: BTreeMap<String, u64>,
    /// Cycles that words of each kind were in flight; kinds overlap, so they sum to more than `cycles`.
    pub cycles_by_kind: BTreeMap<String, u64>,
    pub procedures: BTreeMap<String, ProcedureUse>,
    /// `cycles` by the lines of the user's program; they add up to it. Front ends show them with what they know of the lines.
    #[serde(skip)]
    pub lines: Vec<LineUse>,
    pub utilisation: Vec<UnitUse>,
    pub memories: Vec<MemoryUse>,
    pub link: LinkUse,
    /// What the machine is made of: memories and multipliers by name, used and available, and whether the part has them.
    pub fit: Fit,
    /// What its kind of machine alone tells.
    #[serde(flatten)]
    pub own: Own,
}

impl MachineReport {
    /// What a kind of machine alone tells, where the report is of that kind.
    pub fn own<T: OwnReport>(&self) -> Option<&T> {
        self.own.get()
    }

    /// What programs take that the machine interleaves, where it does.
    pub fn interleaved(&self) -> Option<Interleaved> {
        self.own.interleaved()
    }
}

/// A memory of the machine, or one of several alike.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct MemoryUse {
    pub name: String,
    /// How many there are.
    pub count: usize,
    /// Most bytes that were in use at once in the fullest.
    pub used_bytes: u64,
    /// Bytes that one holds.
    pub available_bytes: u64,
}

/// Calls of one procedure and their cycles.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ProcedureUse {
    pub calls: u64,
    pub cycles: u64,
}

/// How busy a unit was.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct UnitUse {
    pub unit: String,
    pub busy_cycles: u64,
    /// Busy cycles over all cycles; for units of which there are several, their mean.
    pub utilisation: f64,
}

/// Traffic on the host link between calls (64-bit residues). None of it is in the machine's cycles.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct LinkUse {
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub key_bytes: u64,
    /// Words and tables of procedures, and what each call is told.
    pub program_bytes: u64,
    pub seconds_in: f64,
    pub seconds_out: f64,
    pub key_seconds: f64,
    pub program_seconds: f64,
}
