// SPDX-License-Identifier: Apache-2.0
//! Co-processors, machines that run some instructions of a program and leave the others to a host: alone, or several on
//! one card.
//!
//! A co-processor *claims* instructions of a procedure as jobs ([`Claim`]). The procedure is cut into stages
//! ([`Partition`]): the host's instructions, then the jobs, none of which needs another job of its stage. For each
//! stage the co-processor returns a schedule of its commands ([`Schedule`]). The schedule follows from its cycle model
//! and from the data that it holds when the stage begins ([`Resident`]).
//!
//! Programs run on a [`Card`]. It has the host link, one or more co-processors, and perhaps a memory of residues that
//! they share ([`Shelf`]). Data that one co-processor computes and another takes then do not cross the link. [`Work`]
//! adds up all runs, by the models or by RTL, for every kind of co-processor.

mod card;
mod claim;
mod description;
mod engine;
mod report;
mod resident;
mod shelf;
mod tally;
mod timing;
mod work;

use std::any::Any;
use std::ops::RangeInclusive;

use ringmill_isa::Target;
use ringmill_isa::mid::{Head, Procedure, ValueId};

pub use card::Card;
pub use claim::{Claim, Partition, Stage};
pub use description::{CardDescription, KIND, SHIPPED};
pub use engine::{Engine, Executed, Residues};
pub use report::{CoprocessorUse, HostTimes, OffloadTimes, OffloadUse};
pub use resident::{Bases, Held, Name, Resident, What};
pub use shelf::{CardUse, Shelf};
pub use timing::RunStage;
pub use work::{Turn, Work};

use crate::error::MachineError;
use crate::fields::HostLink;
use crate::fpga::Needs;

/// A machine that runs some of a program's instructions and leaves the others to the host.
pub trait Coprocessor: Any + Send + Sync {
    /// Returns the field `kind` of the co-processor's description.
    fn kind(&self) -> &'static str;

    /// Returns the field `name` of the co-processor's description.
    fn name(&self) -> &str;

    fn clock_mhz(&self) -> f64;

    /// Returns the host link of the co-processor's description. Only [`Card::alone`] uses this link; a card that is
    /// made from a description has a link of its own.
    fn link(&self) -> &HostLink;

    /// Returns the width of the co-processor's data ports. The memory of a card with this co-processor must be at least
    /// as wide.
    fn stream(&self) -> Stream;

    /// Returns the resources that the co-processor needs of the FPGA that its description names.
    ///
    /// # Errors
    /// [`MachineError::UnknownPart`] if the description names an unknown FPGA.
    fn needs(&self) -> Result<Needs, MachineError>;

    /// Returns the reason for which the co-processor may exceed its FPGA, if its description gives one.
    fn allowed(&self) -> Option<&str>;

    /// Returns the names of the co-processor's units in reports and traces. A [`Step`] says which unit it occupies.
    fn lanes(&self) -> &'static [&'static str];

    /// Returns the limits on the parameters of programs that the co-processor can run.
    fn target(&self) -> Target;

    /// Opens the co-processor for a program. `head` has the program's ring degree, moduli, procedures and inputs, which
    /// are known before the first call.
    ///
    /// # Errors
    /// An error if the co-processor does not take the program's ring degree, or takes none of the program's moduli. A
    /// program that is accepted may still have no instruction for the co-processor.
    fn accept(&self, head: &Head<'_>) -> Result<Box<dyn Accepted>, MachineError>;
}

impl dyn Coprocessor {
    /// Returns the co-processor as a value of type `C`, or `None` if it has another type. Code about one kind, such as
    /// its RTL, uses this.
    pub fn as_a<C: Coprocessor>(&self) -> Option<&C> {
        (self as &dyn Any).downcast_ref()
    }
}

/// The collection of machines from which a card's description takes its co-processors.
pub trait Catalogue {
    /// Returns the TOML description of the machine with this name.
    ///
    /// # Errors
    /// [`MachineError::Unknown`] for a name that no machine has.
    fn description(&self, name: &str) -> Result<&'static str, MachineError>;

    /// Makes the co-processor that a TOML description describes.
    ///
    /// # Errors
    /// The errors of the description's parser, and an error if the machine is no co-processor.
    fn coprocessor(&self, text: &str) -> Result<Box<dyn Coprocessor>, MachineError>;
}

/// The width of a co-processor's data port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stream {
    /// Bits of one residue at the co-processor's data port.
    pub residue_bits: u32,
    /// Residues that pass the co-processor's data port in one cycle.
    pub beat: usize,
}

/// A co-processor that is opened for one program: it claims instructions and schedules them.
pub trait Accepted {
    /// Returns the jobs in a procedure that the co-processor takes over from the host. `free` tells for each
    /// instruction whether a job may contain it. No instruction is in two jobs.
    fn claims(&self, procedure: &Procedure, free: &[bool]) -> Vec<Claim>;

    /// Returns the co-processor's commands for its jobs of one stage. The co-processor is idle before and after them;
    /// `holds` is the data in it before.
    fn schedule(&self, procedure: &Procedure, jobs: &[&Claim], holds: &Resident) -> Schedule;

    /// Returns the commands that [`Accepted::schedule`] gives for the same jobs as text, one command a line, without
    /// cycles.
    fn text(&self, procedure: &Procedure, jobs: &[&Claim], holds: &Resident) -> Vec<String>;

    /// Returns the places of the co-processor's memories whose content (a limb, tables or
    /// constants) may stay from one job to the next and from one call of a procedure to the next.
    fn keeps(&self) -> Vec<Keep>;
}

/// One memory of a co-processor whose content may stay between jobs, as a range of place numbers in a [`Resident`],
/// the record of the co-processor's data. A place holds one limb, or the tables or constants for one modulus or
/// base.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Keep {
    pub memory: &'static str,
    pub places: RangeInclusive<u16>,
    /// The bytes that one place of the co-processor's memory holds.
    pub bytes: u64,
}

/// The commands of a co-processor in one stage, in the order of their first cycles, and the data that it holds after
/// them. The co-processor is idle before and after.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Schedule {
    pub steps: Vec<Step>,
    pub after: Resident,
}

impl Schedule {
    /// Returns the cycles of the stage: from its cycle 0 to the end of the last command.
    pub fn cycles(&self) -> u64 {
        self.steps.iter().map(|step| step.end).max().unwrap_or(0)
    }
}

/// One command of a co-processor with the cycles in which it runs and the data that it moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The name of the co-processor's command in reports.
    pub name: &'static str,
    /// The unit of the co-processor that the command occupies: an index into its names of units,
    /// [`Coprocessor::lanes`].
    pub lane: usize,
    /// The cycle of the stage in which the co-processor accepts the command; `end` is the cycle in which the command is
    /// done.
    pub begin: u64,
    pub end: u64,
    /// The data that the command moves into or out of the co-processor, in the order in which it needs them; empty if
    /// all data stay inside.
    pub crosses: Vec<Crosses>,
}

/// Data that a command moves into or out of the co-processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Crosses {
    /// The command brings in tables, keys or constants that the host computes for this co-processor alone.
    Tables {
        bytes: u64,
    },
    In {
        limb: ValueId,
        bytes: u64,
    },
    Out {
        limb: ValueId,
        bytes: u64,
    },
}
