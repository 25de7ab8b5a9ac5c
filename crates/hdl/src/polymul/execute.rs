// SPDX-License-Identifier: Apache-2.0
//! Runs a schedule of commands on the polynomial multiplier's RTL. Each command is sent in the cycle that the scheduler
//! has computed.

use std::collections::HashSet;
use std::sync::Arc;

use ringmill_isa::mid::{ModulusId, ValueId};
use ringmill_machines::polymul::{Command, Tables, Timed};

use super::{DriveError, Multiplier, Place, Unit};

/// The commands of a schedule that was run on the multiplier's RTL, and the limbs that they
/// unloaded.
#[derive(Clone, Debug, Default)]
pub struct Executed {
    /// The commands with the cycles in which the schedule begins them and the cycles in which the RTL was done. Cycle 0
    /// is the schedule's.
    pub commands: Vec<Timed>,
    /// The limbs that were unloaded, in order: for each, the value of the procedure that it is, and
    /// its residues.
    pub limbs: Vec<(ValueId, Vec<u64>)>,
}

impl Executed {
    /// Returns the cycles from the schedule's cycle 0 to the last done bit.
    pub fn cycles(&self) -> u64 {
        self.commands.iter().map(|t| t.end).max().unwrap_or(0)
    }
}

/// Runs a schedule (`ringmill_machines::polymul::timeline`) on an idle multiplier. `tables` returns the tables of a
/// modulus, `limb` the residues of a value. Tables and operands that the schedule assumes and the multiplier does not
/// have are loaded first, in cycles that are not counted. Present tables count as the right ones if their modulus is
/// right. A present operand counts as the right one if it was loaded with the right table slot.
///
/// # Errors
/// [`DriveError::Busy`] if a unit is not free in the cycle of its command: the RTL is then slower than the scheduler's
/// model. [`DriveError::Missing`] for data that the caller does not return; those of [`Multiplier`].
pub fn execute<'a>(
    machine: &mut Multiplier,
    timeline: &[Timed],
    tables: impl Fn(ModulusId) -> Option<Arc<Tables>>,
    limb: impl Fn(ValueId) -> Option<&'a [u64]>,
) -> Result<Executed, DriveError> {
    begin_from(machine, timeline, &tables, &limb)?;
    let base = machine.driver().cycle();
    // For each unit, its unfinished commands in the order of their done bits.
    let mut begun: [Vec<usize>; 3] = Default::default();
    for (number, timed) in timeline.iter().enumerate() {
        while machine.driver().cycle() < base + timed.begin {
            machine.driver_mut().tick()?;
        }
        match timed.command {
            Command::Tables { slot, modulus } => {
                machine.select(slot)?;
                machine.start_tables(&found(&tables, modulus)?)?;
            }
            Command::Load {
                set,
                buf,
                eval,
                limb: value,
                slot,
            } => {
                machine.select(slot)?;
                machine.start_load(Place { set, buf, eval }, given(&limb, value)?)?;
            }
            Command::Run { set, job, .. } => machine.start(job.op, set, 0)?,
            Command::Unload { set, eval, .. } => {
                machine.start_unload(Place { set, buf: 0, eval })?;
            }
        }
        begun[unit(timed.command).bits() as usize].push(number);
    }
    let mut executed = Executed {
        commands: timeline.to_vec(),
        limbs: Vec::new(),
    };
    for (unit, numbers) in Unit::ALL.into_iter().zip(begun) {
        for number in numbers {
            let end = machine.wait(unit)? - base;
            if let Some(timed) = executed.commands.get_mut(number) {
                timed.end = end;
            }
        }
    }
    for timed in timeline {
        if let Command::Unload { limb, .. } = timed.command {
            executed.limbs.push((limb, machine.take_limb()?));
        }
    }
    Ok(executed)
}

/// Loads the tables and operands that the schedule assumes in the multiplier and that are not there. If this schedule
/// continues the previous one, nothing is missing.
fn begin_from<'a>(
    machine: &mut Multiplier,
    timeline: &[Timed],
    tables: &impl Fn(ModulusId) -> Option<Arc<Tables>>,
    limb: &impl Fn(ValueId) -> Option<&'a [u64]>,
) -> Result<(), DriveError> {
    let (mut slots, mut places) = (HashSet::new(), HashSet::new());
    for timed in timeline {
        match timed.command {
            Command::Tables { slot, .. } => {
                slots.insert(slot);
            }
            Command::Load { set, buf, .. } => {
                places.insert((set, buf));
            }
            Command::Run { set, slot, job } => {
                if slots.insert(slot) {
                    let tables = found(tables, job.modulus)?;
                    let there = machine.tables_of(slot);
                    if there.is_none_or(|t| t.modulus() != tables.modulus()) {
                        machine.select(slot)?;
                        machine.load_tables(&tables)?;
                    }
                }
                let forms = job.op.forms();
                let operands = [
                    Some((0, forms.a, job.a)),
                    forms.b.and_then(|eval| Some((1, eval, job.b?))),
                ];
                for (buf, eval, value) in operands.into_iter().flatten() {
                    let taken_for_granted = places.insert((set, buf));
                    if taken_for_granted && machine.driver().limb_slot(set, buf) != Some(slot) {
                        machine.select(slot)?;
                        machine.load(Place { set, buf, eval }, given(limb, value)?)?;
                    }
                }
            }
            Command::Unload { .. } => {}
        }
    }
    Ok(())
}

fn found(
    tables: &impl Fn(ModulusId) -> Option<Arc<Tables>>,
    modulus: ModulusId,
) -> Result<Arc<Tables>, DriveError> {
    let missing = || DriveError::Missing(format!("tables of modulus {}", modulus.0));
    tables(modulus).ok_or_else(missing)
}

fn given<'a>(
    limb: &impl Fn(ValueId) -> Option<&'a [u64]>,
    value: ValueId,
) -> Result<&'a [u64], DriveError> {
    limb(value).ok_or_else(|| DriveError::Missing(format!("limb %{}", value.0)))
}

/// Returns the unit of the multiplier that a scheduled command occupies.
fn unit(command: Command) -> Unit {
    match command {
        Command::Run { .. } => Unit::Array,
        Command::Load { .. } | Command::Tables { .. } => Unit::Load,
        Command::Unload { .. } => Unit::Unload,
    }
}
