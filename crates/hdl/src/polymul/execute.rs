//! A schedule of commands on the RTL: each is sent in the cycle that the scheduler gives it.

use std::sync::Arc;

use ringmill_isa::mid::{ModulusId, ValueId};
use ringmill_machines::polymul::{Command, Tables, Timed};

use super::{DriveError, Multiplier, Place, Unit};

/// What a schedule gave.
#[derive(Clone, Debug, Default)]
pub struct Executed {
    /// The commands with the cycles in which they began and were done, from the first command's.
    pub commands: Vec<Timed>,
    /// What was unloaded, in order.
    pub limbs: Vec<(ValueId, Vec<u64>)>,
}

impl Executed {
    /// Cycles from the first command's acceptance to the last done bit.
    pub fn cycles(&self) -> u64 {
        self.commands.iter().map(|t| t.end).max().unwrap_or(0)
    }
}

/// Runs a schedule (`ringmill_machines::polymul::timeline`) on an idle machine. `tables` and `limb` give what the
/// commands name.
///
/// # Errors
/// [`DriveError::Busy`] where a unit is not yet free when its command is due, so that the RTL is slower than the
/// scheduler's model; [`DriveError::Missing`]; those of [`Multiplier`].
pub fn execute<'a>(
    machine: &mut Multiplier,
    timeline: &[Timed],
    tables: impl Fn(ModulusId) -> Option<Arc<Tables>>,
    limb: impl Fn(ValueId) -> Option<&'a [u64]>,
) -> Result<Executed, DriveError> {
    let base = machine.driver().cycle();
    // In the order of their done bits, by unit: the commands that each unit is at.
    let mut begun: [Vec<usize>; 3] = Default::default();
    for (number, timed) in timeline.iter().enumerate() {
        while machine.driver().cycle() < base + timed.begin {
            machine.driver_mut().tick()?;
        }
        match timed.command {
            Command::Tables(modulus) => {
                let tables = tables(modulus).ok_or_else(|| {
                    DriveError::Missing(format!("tables of modulus {}", modulus.0))
                })?;
                machine.start_tables(&tables)?;
            }
            Command::Load {
                set,
                buf,
                eval,
                limb: value,
            } => {
                let residues =
                    limb(value).ok_or_else(|| DriveError::Missing(format!("limb %{}", value.0)))?;
                machine.start_load(Place { set, buf, eval }, residues)?;
            }
            Command::Run { set, op } => machine.start(op, set, 0)?,
            Command::Unload { set, eval, .. } => {
                machine.start_unload(Place { set, buf: 0, eval })?;
            }
        }
        begun[unit(timed.command).index()].push(number);
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

/// The unit that a command keeps busy.
fn unit(command: Command) -> Unit {
    match command {
        Command::Run { .. } => Unit::Array,
        Command::Load { .. } | Command::Tables(_) => Unit::Load,
        Command::Unload { .. } => Unit::Unload,
    }
}
