// SPDX-License-Identifier: Apache-2.0
//! The data that stay in the multiplier from job to job and from call to call: the tables of two moduli, and operands
//! that no command overwrote.

use ringmill_isa::mid::{ModulusId, ValueId};

use super::timeline::{Command, Timed};
use super::{ArrayOp, SETS, SLOTS};
use crate::coprocessor::{Held, Name, Resident, What};

/// The places of tables, one for each slot.
pub(super) const TABLES: std::ops::RangeInclusive<u16> = 0..=SLOTS as u16 - 1;
/// The places of limbs, two for each set.
pub(super) const LIMBS: std::ops::RangeInclusive<u16> =
    SLOTS as u16..=(SLOTS + 2 * SETS) as u16 - 1;

fn place(set: usize, buf: usize) -> u16 {
    (SLOTS + 2 * set + buf) as u16
}

/// Returns the slot that holds the tables of a modulus.
pub fn slot_of(holds: &Resident, modulus: ModulusId) -> Option<usize> {
    let there = |slot: &usize| {
        let held = holds.at(*slot as u16);
        held.is_some_and(|held| held.what == What::Tables(modulus))
    };
    (0..SLOTS).find(there)
}

/// Returns the slot for the tables of a modulus that are not loaded: an empty slot, or the one that was not used last.
pub fn slot_for(holds: &Resident, modulus: ModulusId) -> usize {
    let empty = || (0..SLOTS).find(|&slot| holds.at(slot as u16).is_none());
    let found = slot_of(holds, modulus).or_else(empty);
    found.unwrap_or(SLOTS - 1 - usize::from(holds.last_used()))
}

/// Returns whether polynomial `buf` of `set` holds this limb in this form.
pub fn holds(holds: &Resident, set: usize, buf: usize, value: ValueId, eval: bool) -> bool {
    let what = What::Limb {
        name: Name::Value(value),
        eval,
    };
    let held = holds.at(place(set, buf));
    held.is_some_and(|held| held.what == what)
}

/// Applies a command to the resident data.
pub fn apply(holds: &mut Resident, command: Command) {
    let limb = |value, eval, slot: usize| Held {
        what: What::Limb {
            name: Name::Value(value),
            eval,
        },
        under: Some(slot as u16),
    };
    match command {
        Command::Tables { slot, modulus } => {
            let what = What::Tables(modulus);
            holds.put(slot as u16, Held { what, under: None });
            holds.used(slot as u16);
        }
        Command::Load {
            set,
            buf,
            eval,
            limb: value,
            slot,
        } => {
            holds.used(slot as u16);
            holds.put(place(set, buf), limb(value, eval, slot));
        }
        Command::Run { set, slot, job } => {
            holds.used(slot as u16);
            holds.put(place(set, 0), limb(job.out, job.op.forms().out, slot));
            // A full product overwrites its second operand.
            if job.op == ArrayOp::Fpm {
                holds.clear(place(set, 1));
            }
        }
        Command::Unload { .. } => {}
    }
}

/// Returns the data that the multiplier holds after some commands.
pub fn loaded_after(commands: &[Timed], mut before: Resident) -> Resident {
    for timed in commands {
        apply(&mut before, timed.command);
    }
    before
}
