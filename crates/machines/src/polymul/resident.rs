// SPDX-License-Identifier: Apache-2.0
//! The data that stay in the multiplier from one job to the next and from one call to the next: the tables of two
//! moduli, and limbs that no command overwrote.

use ringmill_isa::mid::{ModulusId, ValueId};

use super::timeline::{Command, Timed};
use super::{ArrayOp, SETS, SLOTS};
use crate::coprocessor::{Held, Name, Resident, What};

/// The place numbers of the table slots in a [`Resident`], the record of the multiplier's data. A table slot holds
/// the tables of one modulus.
pub(super) const TABLES: std::ops::RangeInclusive<u16> = 0..=SLOTS as u16 - 1;
/// The place numbers of limbs in a [`Resident`], the record of the multiplier's data: two for each of the sets of two
/// polynomials.
pub(super) const LIMBS: std::ops::RangeInclusive<u16> =
    SLOTS as u16..=(SLOTS + 2 * SETS) as u16 - 1;

fn place(set: usize, buf: usize) -> u16 {
    (SLOTS + 2 * set + buf) as u16
}

/// Returns the number of the table slot that holds the tables of `modulus`, or `None` if they are not loaded.
pub fn slot_of(holds: &Resident, modulus: ModulusId) -> Option<usize> {
    let there = |slot: &usize| {
        let held = holds.at(*slot as u16);
        held.is_some_and(|held| held.what == What::Tables(modulus))
    };
    (0..SLOTS).find(there)
}

/// Returns the table slot for the tables of `modulus`: the slot that holds them, else an empty slot, else the one
/// of the two slots that was used less recently.
pub fn slot_for(holds: &Resident, modulus: ModulusId) -> usize {
    let empty = || (0..SLOTS).find(|&slot| holds.at(slot as u16).is_none());
    let found = slot_of(holds, modulus).or_else(empty);
    found.unwrap_or(SLOTS - 1 - usize::from(holds.last_used()))
}

/// Returns whether buffer `buf` of set `set` holds the limb `value`. A set is a pair of buffers for two polynomials.
/// `eval` asks for the limb in evaluation form.
pub fn holds(holds: &Resident, set: usize, buf: usize, value: ValueId, eval: bool) -> bool {
    let what = What::Limb {
        name: Name::Value(value),
        eval,
    };
    let held = holds.at(place(set, buf));
    held.is_some_and(|held| held.what == what)
}

/// Updates the record `holds` of the multiplier's data for the effect of a command.
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

/// Returns the data that the multiplier holds after these commands, if it held `before` at their start.
pub fn loaded_after(commands: &[Timed], mut before: Resident) -> Resident {
    for timed in commands {
        apply(&mut before, timed.command);
    }
    before
}
