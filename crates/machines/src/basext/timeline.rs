// SPDX-License-Identifier: Apache-2.0
//! Schedules the commands of a base-extension unit for one stage: the extensions one after another,
//! each after a load of its constants if the unit has none or those of other bases.

use std::sync::Arc;

use super::jobs::Job;
use super::replay::load_cycles_through;
use super::{Extension, MachineUnit, Rate};
use crate::coprocessor::{Bases, Held, Resident, What};

/// The place number under which a [`Resident`], the record of a co-processor's data, has the constants of a
/// base-extension unit. The unit keeps no other data from one command to the next.
pub(super) const CONSTANTS: u16 = 0;

/// A command to the base-extension unit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Command {
    /// The command loads the moduli and constants of an extension between these bases into the unit.
    Constants(Arc<Bases>),
    Extend(Job),
}

impl Command {
    /// Returns the command's name in reports. An extension has the name of its instruction.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Constants(_) => "CONSTANTS",
            Self::Extend(job) => match job.extension {
                Extension::Exact => "BEXTR",
                Extension::Fast => "BEXT",
            },
        }
    }

    /// Returns the cycles of the command. They end when the last constant is in the unit, or when an extension's last
    /// beat is in memory.
    pub fn cycles(&self, unit: MachineUnit, rate: Rate, log_n: u32) -> u64 {
        match self {
            Self::Constants(bases) => {
                let words = unit.words(bases.sources.len(), bases.targets.len());
                load_cycles_through(rate, words)
            }
            Self::Extend(job) => {
                let (l, k) = (job.sources.len(), job.targets.len());
                unit.extend_cycles(rate, job.extension, (l, k), log_n)
            }
        }
    }
}

/// A command with its first cycle and the cycle in which it is done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Timed {
    pub command: Command,
    pub begin: u64,
    pub end: u64,
}

/// Returns whether constants that were loaded for the bases `there` also serve an extension between the bases
/// `wanted`. Sources and targets must agree. The redundant modulus must agree only for an exact extension.
pub fn serves(there: &Bases, wanted: &Bases) -> bool {
    there.sources == wanted.sources
        && there.targets == wanted.targets
        && (wanted.redundant.is_none() || there.redundant == wanted.redundant)
}

/// Returns the bases for which the unit has constants loaded, or `None` if it has none.
pub fn held(resident: &Resident) -> Option<Arc<Bases>> {
    match resident.at(CONSTANTS)?.what {
        What::Constants(bases) => Some(bases),
        What::Tables(_) | What::Limb { .. } => None,
    }
}

/// Schedules the extensions of a stage, from an idle unit to an idle unit. `resident` is the data
/// in the unit before the first command. Extensions that the loaded constants serve come first,
/// then those of each pair of bases together.
pub fn timeline(
    unit: MachineUnit,
    rate: Rate,
    log_n: u32,
    jobs: Vec<Job>,
    resident: &Resident,
) -> Vec<Timed> {
    let mut there = held(resident);
    let served = |there: &Option<Arc<Bases>>, job: &Job| {
        there.as_ref().is_some_and(|t| serves(t, &job.bases))
    };
    let mut jobs = jobs;
    // Among the jobs of one pair of bases the exact ones come first: their constants also serve the fast ones.
    jobs.sort_by(|a, b| {
        let key = |job: &Job| (!served(&there, job), Arc::clone(&job.bases));
        let ((a, x), (b, y)) = (key(a), key(b));
        a.cmp(&b)
            .then_with(|| x.sources.cmp(&y.sources))
            .then_with(|| x.targets.cmp(&y.targets))
            .then_with(|| y.redundant.cmp(&x.redundant))
    });
    let mut commands = Vec::with_capacity(jobs.len());
    for job in jobs {
        if !served(&there, &job) {
            there = Some(Arc::clone(&job.bases));
            commands.push(Command::Constants(Arc::clone(&job.bases)));
        }
        commands.push(Command::Extend(job));
    }
    let mut begin = 0;
    let timed = commands.into_iter().map(|command| {
        let end = begin + command.cycles(unit, rate, log_n);
        let timed = Timed {
            command,
            begin,
            end,
        };
        begin = end;
        timed
    });
    timed.collect()
}

/// Returns the data that the base-extension unit holds after these commands, if it held `before` at their start.
pub fn loaded_after(commands: &[Timed], mut before: Resident) -> Resident {
    for timed in commands {
        if let Command::Constants(bases) = &timed.command {
            let what = What::Constants(Arc::clone(bases));
            before.put(CONSTANTS, Held { what, under: None });
        }
    }
    before
}
