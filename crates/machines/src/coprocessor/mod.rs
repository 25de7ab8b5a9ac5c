// SPDX-License-Identifier: Apache-2.0
//! Machines that run some instructions of a program and leave the others to a host: alone, or several on one card.
//!
//! A co-processor *claims* instructions of a procedure as jobs ([`Claim`]). The procedure is cut into stages
//! ([`Partition`]): the host's instructions, then the jobs, none of which needs another of its stage. For each stage
//! the co-processor returns a schedule of its commands ([`Schedule`]). The schedule follows from its cycle model alone,
//! and from the data that it holds when the stage begins ([`Resident`]).
//!
//! Programs run on a [`Card`]. It has the host link, one or more co-processors, and perhaps a memory of residues that
//! they share ([`Shelf`]). Data that one co-processor makes and another takes then do not cross the link. [`Work`] adds
//! up all runs, by the models or by RTL, for every kind of co-processor.

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

/// A machine that runs some instructions, made from a description.
pub trait Coprocessor: Any + Send + Sync {
    /// Returns the kind of its description.
    fn kind(&self) -> &'static str;

    /// Returns the name of its description.
    fn name(&self) -> &str;

    fn clock_mhz(&self) -> f64;

    /// Returns the host link of its description, for a co-processor alone behind it.
    fn link(&self) -> &HostLink;

    /// Returns the width of its data ports, which a card's memory must serve.
    fn stream(&self) -> Stream;

    /// Returns its needs of the part that its description names.
    ///
    /// # Errors
    /// [`MachineError::UnknownPart`].
    fn needs(&self) -> Result<Needs, MachineError>;

    /// Returns the reason for which it may exceed that part, if its description has one.
    fn allowed(&self) -> Option<&str>;

    /// Returns its units by their names in reports and traces; a [`Step`] says which unit it keeps busy.
    fn lanes(&self) -> &'static [&'static str];

    /// Returns the limits for parameters of programs that it runs.
    fn target(&self) -> Target;

    /// Opens the co-processor on a program's head.
    ///
    /// # Errors
    /// A head of a program with which it can do nothing.
    fn accept(&self, head: &Head<'_>) -> Result<Box<dyn Accepted>, MachineError>;
}

impl dyn Coprocessor {
    /// Returns the co-processor as type `C`, if it is one, for code about one kind, such as its RTL.
    pub fn as_a<C: Coprocessor>(&self) -> Option<&C> {
        (self as &dyn Any).downcast_ref()
    }
}

/// Finds the co-processors that a card's description names.
pub trait Catalogue {
    /// Returns the description of a machine by its name.
    ///
    /// # Errors
    /// [`MachineError::Unknown`].
    fn description(&self, name: &str) -> Result<&'static str, MachineError>;

    /// Makes the co-processor of a description text.
    ///
    /// # Errors
    /// The errors of its parser; a machine that is no co-processor.
    fn coprocessor(&self, text: &str) -> Result<Box<dyn Coprocessor>, MachineError>;
}

/// The width of a port of data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stream {
    /// Bits of a residue.
    pub residue_bits: u32,
    /// Residues in a cycle.
    pub beat: usize,
}

/// A co-processor opened on a program's head.
pub trait Accepted {
    /// Returns jobs among those instructions of a procedure that are `free`, by their numbers; no instruction is in two
    /// jobs.
    fn claims(&self, procedure: &Procedure, free: &[bool]) -> Vec<Claim>;

    /// Returns the commands of a stage's jobs. The co-processor is idle before and after, and `holds` its data before.
    fn schedule(&self, procedure: &Procedure, jobs: &[&Claim], holds: &Resident) -> Schedule;

    /// Returns the same commands as text, a line each, without the cycles.
    fn text(&self, procedure: &Procedure, jobs: &[&Claim], holds: &Resident) -> Vec<String>;

    /// Returns the places whose content may stay from job to job and from call to call.
    fn keeps(&self) -> Vec<Keep>;
}

/// Places of a [`Resident`] in one of a co-processor's memories.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Keep {
    pub memory: &'static str,
    pub places: RangeInclusive<u16>,
    /// The bytes of each place.
    pub bytes: u64,
}

/// Commands from idle to idle, in the order of their first cycles, and the data that the co-processor holds after them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Schedule {
    pub steps: Vec<Step>,
    pub after: Resident,
}

impl Schedule {
    /// Returns the cycles from the first command to the last one's end.
    pub fn cycles(&self) -> u64 {
        self.steps.iter().map(|step| step.end).max().unwrap_or(0)
    }
}

/// A command with its cycles.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The name in reports.
    pub name: &'static str,
    /// The unit that the command keeps busy, an index into [`Coprocessor::lanes`].
    pub lane: usize,
    /// The cycle in which it is accepted; `end` is the cycle in which it is done.
    pub begin: u64,
    pub end: u64,
    /// The data that cross the border, in the order in which the command needs them; none if all stay inside.
    pub crosses: Vec<Crosses>,
}

/// Data that a command moves over the co-processor's border.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Crosses {
    /// Tables, keys or constants, which the host makes for this co-processor alone.
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
