// SPDX-License-Identifier: Apache-2.0
//! The memory of a card, in which residues wait between jobs instead of crossing the host link.
//!
//! An operand of a job crosses the link once and stays in the memory until room is short. A job's result stays, too. It
//! crosses the link only if the host reads it, if it is an output of the program, or if it must make room. Limbs that
//! nothing reads any more make room first, then the least recently used one.

use std::collections::HashSet;

use ringmill_isa::mid::{Call, LimbId, Procedure, ValueId};
use serde::Serialize;

use super::resident::{Name, entered, left};

/// A limb that lies in the card's memory, with its names and its size.
#[derive(Debug)]
struct Kept {
    /// All names of the limb, since a call may return one limb as several results.
    names: Vec<Name>,
    /// The limb's bytes, in the word size of the co-processor that took it from the link or computed it.
    bytes: u64,
    /// Whether only the card has the limb, and the host has no copy of it yet.
    only_here: bool,
}

/// The transfers that a card's memory saves on the host link, and those that it causes.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct CardUse {
    /// The number of limbs that a job took from the card's memory instead of from the link.
    pub taken_from_card: u64,
    /// The number of limbs among `taken_from_card` that a job on the card had computed and of which the host had no
    /// copy yet.
    pub handed_on: u64,
    /// The number of limbs that left the memory for lack of room before the host had a copy, and so crossed the link.
    pub made_room: u64,
    /// The bytes that the link would carry in addition if the card had no memory: those of all limbs that jobs took and
    /// gave, less those that crossed.
    pub link_bytes_saved: u64,
    /// The seconds that the link takes for `link_bytes_saved` at its rate.
    pub link_seconds_saved: f64,
}

/// The limbs in a card's memory for residues, the least recently used first. A card without such a memory has a shelf
/// of capacity 0.
#[derive(Debug)]
pub struct Shelf {
    capacity: usize,
    kept: Vec<Kept>,
}

impl Shelf {
    /// Makes an empty card memory with room for `capacity` limbs.
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            kept: Vec::new(),
        }
    }

    /// Returns the number of limbs for which the card's memory has room.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Returns the number of limbs in the card's memory.
    pub fn held(&self) -> usize {
        self.kept.len()
    }

    /// Gives a limb to a job as an operand, and returns whether the limb crosses the link for it. `needed` tells for a
    /// value of the running call whether an instruction or the procedure's end may still read it. To make room, the
    /// memory first drops a value that nothing reads any more. If there is none, the least recently used limb leaves,
    /// and crosses to the host unless the host has a copy. Limbs of the program, which live across calls, always count
    /// as read.
    pub fn take(
        &mut self,
        (value, bytes): (ValueId, u64),
        needed: &dyn Fn(ValueId) -> bool,
        sums: &mut Sums,
    ) -> bool {
        let name = Name::Value(value);
        let Some(at) = self.kept.iter().position(|kept| kept.names.contains(&name)) else {
            self.keep((name, bytes), false, needed, sums);
            return true;
        };
        let kept = self.kept.remove(at);
        sums.card.taken_from_card += 1;
        sums.card.handed_on += u64::from(kept.only_here);
        self.kept.push(kept);
        false
    }

    /// Puts a job's result into the card's memory, and returns whether the result crosses the link at once, as it does
    /// on a card without memory.
    pub fn give(
        &mut self,
        (value, bytes): (ValueId, u64),
        needed: &dyn Fn(ValueId) -> bool,
        sums: &mut Sums,
    ) -> bool {
        if self.capacity == 0 {
            return true;
        }
        self.keep((Name::Value(value), bytes), true, needed, sums);
        false
    }

    /// Gives the host a copy of a value of the running procedure, and returns the bytes that cross the link for it.
    /// They are 0 if the host has a copy or the memory does not have the value.
    pub fn show(&mut self, value: ValueId) -> u64 {
        self.show_name(Name::Value(value))
    }

    /// Gives the host a copy of a program's limb between calls, and returns the bytes that cross the link for it. They
    /// are 0 if the host has a copy or the memory does not have the limb.
    pub fn show_limb(&mut self, limb: LimbId) -> u64 {
        self.show_name(Name::Limb(limb))
    }

    fn show_name(&mut self, name: Name) -> u64 {
        let mut kept = self.kept.iter_mut();
        let found = kept.find(|kept| kept.names.contains(&name));
        found.map_or(0, |kept| match std::mem::take(&mut kept.only_here) {
            true => kept.bytes,
            false => 0,
        })
    }

    fn keep(
        &mut self,
        (name, bytes): (Name, u64),
        only_here: bool,
        needed: &dyn Fn(ValueId) -> bool,
        sums: &mut Sums,
    ) {
        if self.capacity == 0 {
            return;
        }
        let wanted = |kept: &Kept| {
            kept.names.iter().any(|name| match name {
                Name::Value(value) => needed(*value),
                Name::Limb(_) => true,
            })
        };
        if self.kept.len() >= self.capacity {
            let idle = self.kept.iter().position(|kept| !wanted(kept));
            let gone = self.kept.remove(idle.unwrap_or(0));
            if gone.only_here && wanted(&gone) {
                sums.bytes_out += gone.bytes;
                sums.card.made_room += 1;
            }
        }
        self.kept.push(Kept {
            names: vec![name],
            bytes,
            only_here,
        });
    }

    /// Renames the limbs in the card's memory at the start of a call: a limb that is an argument gets the name of the
    /// procedure's parameter.
    pub(super) fn enter(&mut self, procedure: &Procedure, call: &Call) {
        for name in self.kept.iter_mut().flat_map(|kept| &mut kept.names) {
            if let Some(value) = entered(*name, procedure, call) {
                *name = Name::Value(value);
            }
        }
    }

    /// Renames the limbs in the card's memory at the end of a call, from the procedure's values to limbs of the
    /// program. It drops values that live in the call alone, and limbs that die with the call or that a result
    /// replaces. `real` returns the value that holds a result.
    pub(super) fn leave(
        &mut self,
        (procedure, call): (&Procedure, &Call),
        real: &dyn Fn(ValueId) -> ValueId,
        dies: &[LimbId],
    ) {
        let dead: HashSet<LimbId> = dies.iter().copied().collect();
        self.kept.retain_mut(|kept| {
            let mut limbs = Vec::with_capacity(kept.names.len());
            for &name in &kept.names {
                match name {
                    Name::Limb(limb) if call.results.contains(&limb) => {}
                    Name::Limb(limb) => limbs.push(limb),
                    Name::Value(_) => limbs.extend(left(name, procedure, call, real)),
                }
            }
            limbs.retain(|limb| !dead.contains(limb));
            limbs.sort_unstable();
            limbs.dedup();
            kept.names = limbs.into_iter().map(Name::Limb).collect();
            !kept.names.is_empty()
        });
    }
}

/// The sums of the transfers to and from a card's memory.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Sums {
    pub card: CardUse,
    /// Bytes of limbs that crossed to the host later than the command that computed them.
    pub bytes_out: u64,
    /// The bytes of all limbs that commands took as operands or gave as results. `crossed` has the bytes of those that
    /// crossed the link.
    pub moved: u64,
    pub crossed: u64,
}
