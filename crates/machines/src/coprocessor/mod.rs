// SPDX-License-Identifier: Apache-2.0
//! Machines that take some instructions of a program and leave the others to a host: alone, or several on one card.
//!
//! A co-processor *claims* instructions of a procedure as jobs ([`Claim`]). The procedure is cut into stages
//! ([`Partition`]): the host's instructions, then the jobs, none of which needs another of its stage. For each stage the
//! co-processor gives a schedule of its commands ([`Schedule`]), by its cycle model alone, from what it holds
//! ([`Resident`]) when the stage begins. A [`Card`] is what programs are run on: it has the host link, one co-processor or
//! several, and perhaps a memory of residues that they share ([`Shelf`]), so that what one makes and another takes does
//! not cross the link. What runs, by the models or by RTL, is added up by [`Work`], once for every kind of them.

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

/// A machine that takes some instructions, made from a description.
pub trait Coprocessor: Any + Send + Sync {
    /// The kind of its description.
    fn kind(&self) -> &'static str;

    /// The name of its description.
    fn name(&self) -> &str;

    fn clock_mhz(&self) -> f64;

    /// The host link that its description names, for when it is alone behind it.
    fn link(&self) -> &HostLink;

    /// What its data ports carry, which the memory of a card has to serve.
    fn stream(&self) -> Stream;

    /// What it needs of the part that its description names.
    ///
    /// # Errors
    /// [`MachineError::UnknownPart`].
    fn needs(&self) -> Result<Needs, MachineError>;

    /// Why it may need more than that part has, where its description says so.
    fn allowed(&self) -> Option<&str>;

    /// Its units, by the names that reports and traces give them; a [`Step`] says which it keeps busy.
    fn lanes(&self) -> &'static [&'static str];

    /// What parameters must keep for it to take a program's work.
    fn target(&self) -> Target;

    /// What of a program it takes.
    ///
    /// # Errors
    /// A head of a program that it can do nothing of.
    fn accept(&self, head: &Head<'_>) -> Result<Box<dyn Accepted>, MachineError>;
}

impl dyn Coprocessor {
    /// The co-processor as what it is, where it is of that type: for what knows those of one kind, as their RTL does.
    pub fn as_a<C: Coprocessor>(&self) -> Option<&C> {
        (self as &dyn Any).downcast_ref()
    }
}

/// Where a card finds the co-processors that its description names.
pub trait Catalogue {
    /// The description of a machine by its name.
    ///
    /// # Errors
    /// [`MachineError::Unknown`].
    fn description(&self, name: &str) -> Result<&'static str, MachineError>;

    /// The co-processor that a description text describes.
    ///
    /// # Errors
    /// Those of its parser; a machine that is no co-processor.
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
    /// Jobs among those instructions of a procedure that are `free`, by their numbers; no instruction is in two.
    fn claims(&self, procedure: &Procedure, free: &[bool]) -> Vec<Claim>;

    /// The commands of a stage's jobs: it is idle before and after, and `holds` what it holds before.
    fn schedule(&self, procedure: &Procedure, jobs: &[&Claim], holds: &Resident) -> Schedule;

    /// The same commands as text, a line each, without the cycles.
    fn text(&self, procedure: &Procedure, jobs: &[&Claim], holds: &Resident) -> Vec<String>;

    /// The places in which things may stay from job to job and from call to call.
    fn keeps(&self) -> Vec<Keep>;
}

/// Places of a [`Resident`] in one of a co-processor's memories.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Keep {
    pub memory: &'static str,
    pub places: RangeInclusive<u16>,
    /// Bytes of each.
    pub bytes: u64,
}

/// Commands from idle to idle, in the order of their beginnings, and what is held after them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Schedule {
    pub steps: Vec<Step>,
    pub after: Resident,
}

impl Schedule {
    /// Cycles from the first command to the last one's end.
    pub fn cycles(&self) -> u64 {
        self.steps.iter().map(|step| step.end).max().unwrap_or(0)
    }
}

/// A command with its cycles.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// For reports.
    pub name: &'static str,
    /// The unit that it keeps busy, of [`Coprocessor::lanes`].
    pub lane: usize,
    /// The cycle in which it is accepted, and the one in which it is done.
    pub begin: u64,
    pub end: u64,
    /// In the order in which the command needs it; none where all stays inside.
    pub crosses: Vec<Crosses>,
}

/// What a command moves over the co-processor's border.
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
