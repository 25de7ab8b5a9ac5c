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
    /// The time from the program's first input on the host link to its last output, with its parts.
    pub end_to_end: EndToEnd,
    /// The source of the cycles: "model" for the cycle model, or "RTL" for a simulation of the RTL.
    pub how: &'static str,
    pub clock_mhz: f64,
    /// The number of cycles in which the machine executes the program, without transfers on the host link.
    pub cycles: u64,
    /// The time in seconds of `cycles` at the clock of `clock_mhz`.
    pub seconds: f64,
    pub calls: u64,
    /// The number of instructions that the machine executed. They are binary instructions (micro words) on the ring and
    /// vector machines, instructions of procedures on the torus machine, and commands on co-processors. Words of the
    /// ring machine that only wait are not counted.
    pub instructions: u64,
    pub instructions_by_kind: BTreeMap<String, u64>,
    /// The sum of the cycles that the instructions or commands of each kind took. On the torus machine the kinds are
    /// parts of a bootstrap. Several instructions execute at once, so the numbers may sum to more than `cycles`.
    pub cycles_by_kind: BTreeMap<String, u64>,
    pub procedures: BTreeMap<String, ProcedureUse>,
    /// The `cycles` of the run divided among the lines of the user's program; the parts add up to
    /// `cycles`. Front ends show them beside the source lines.
    #[serde(skip)]
    pub lines: Vec<LineUse>,
    pub utilisation: Vec<UnitUse>,
    pub memories: Vec<MemoryUse>,
    pub link: LinkUse,
    /// The resources that the machine needs, those that its FPGA part or silicon budget has, and
    /// whether they fit.
    pub fit: Fit,
    /// The figures of the report that only this kind of machine has, such as the ring machine.
    #[serde(flatten)]
    pub own: Own,
}

impl MachineReport {
    /// Returns the figures that only one kind of machine has, or `None` for a report of another kind.
    pub fn own<T: OwnReport>(&self) -> Option<&T> {
        self.own.get()
    }

    /// Returns the number of runs of a program that the machine interleaves and each run's share of the cycles, or
    /// `None` if the machine interleaves none.
    pub fn interleaved(&self) -> Option<Interleaved> {
        self.own.interleaved()
    }
}

/// A memory of the machine, or one of several equal memories, and its use.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct MemoryUse {
    pub name: String,
    /// The number of equal memories of this name.
    pub count: usize,
    /// The most bytes in use at one time in the fullest of these memories.
    pub used_bytes: u64,
    /// The capacity in bytes of one memory of this kind.
    pub available_bytes: u64,
}

/// The number of calls of one procedure, and their cycles.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ProcedureUse {
    pub calls: u64,
    pub cycles: u64,
}

/// The use of one of the machine's units, or of several equal units.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct UnitUse {
    pub unit: String,
    pub busy_cycles: u64,
    /// The busy cycles of the unit over all cycles, from 0 to 1; the mean if there are several equal units.
    pub utilisation: f64,
}

/// The traffic of a run between host and machine: input limbs, output limbs, key limbs and programs. Each kind of
/// machine has its own number of bytes for a residue.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct LinkUse {
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub key_bytes: u64,
    /// The bytes of procedures' binary instructions and tables, and of the data that each call needs.
    pub program_bytes: u64,
    pub seconds_in: f64,
    pub seconds_out: f64,
    pub key_seconds: f64,
    pub program_seconds: f64,
}
