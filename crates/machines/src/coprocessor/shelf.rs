// SPDX-License-Identifier: Apache-2.0
//! The memory of a card: residues that wait there between jobs instead of crossing the host link.
//!
//! What a job takes is brought over the link once and stays until room is short. What a job gives stays too, and crosses
//! only when the host reads it, at the program's end if it is an output, or when it must make room. Who makes room is what
//! nothing reads any more, else what was used longest ago.

use std::collections::HashSet;

use ringmill_isa::mid::{Call, LimbId, Procedure, ValueId};
use serde::Serialize;

use super::resident::{Name, entered, left};

/// A limb in the card's memory.
#[derive(Debug)]
struct Kept {
    /// All that it is called: a limb may be handed on as several results.
    names: Vec<Name>,
    /// As the co-processor that brought it says.
    bytes: u64,
    /// The host has it not yet.
    only_here: bool,
}

/// What a card's memory did instead of the link, and beside it.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct CardUse {
    /// Limbs that a job took from the card's memory where it would have taken them from the link.
    pub taken_from_card: u64,
    /// Of these, those that a job on the card made and the host never had: they were handed on.
    pub handed_on: u64,
    /// Limbs that left for want of room before the host had them, and so crossed the link.
    pub made_room: u64,
    /// What the link would have had to carry besides, had the card no memory: bytes of limbs that jobs took and gave, less
    /// those that crossed.
    pub link_bytes_saved: u64,
    /// Seconds of these at the link's rate.
    pub link_seconds_saved: f64,
}

/// A card's memory: which limbs it holds, those used longest ago first. Of capacity 0 where a card has none.
#[derive(Debug)]
pub struct Shelf {
    capacity: usize,
    kept: Vec<Kept>,
}

impl Shelf {
    /// A memory of that many limbs.
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            kept: Vec::new(),
        }
    }

    /// Limbs that it has room for.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Limbs that it holds.
    pub fn held(&self) -> usize {
        self.kept.len()
    }

    /// A job takes a limb: whether it crosses the link to be there. `needed` tells whether a value of the call is still
    /// read by anything; limbs of the program are.
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

    /// A job gives a limb: whether it crosses the link at once, which it does where there is no memory.
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

    /// The host reads a value: the bytes that cross the link for that.
    pub fn show(&mut self, value: ValueId) -> u64 {
        self.show_name(Name::Value(value))
    }

    /// The same between calls.
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

    /// As a call begins: limbs that it takes are named by its parameters.
    pub(super) fn enter(&mut self, procedure: &Procedure, call: &Call) {
        for name in self.kept.iter_mut().flat_map(|kept| &mut kept.names) {
            if let Some(value) = entered(*name, procedure, call) {
                *name = Name::Value(value);
            }
        }
    }

    /// As it ends: values are named as the program names them; what only the call knew is gone, and so is what dies with it
    /// or what a result replaces. `real` is the value by which one is known here.
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

/// What moved for the memory's sake.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Sums {
    pub card: CardUse,
    /// Bytes of limbs that crossed to the host beside those that a command gave at once.
    pub bytes_out: u64,
    /// Bytes of limbs that commands took or gave, whether they crossed or not, and of those that did at once.
    pub moved: u64,
    pub crossed: u64,
}
