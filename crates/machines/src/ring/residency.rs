//! Which program limbs are in which slots between calls.

use std::collections::{HashMap, HashSet};

use ringmill_isa::mid::{Call, Head, LimbId, Procedure};

use super::description::{Description, MAX_RPAUS};
use super::place::{Class, order};

/// Where the arguments that have to be brought in should go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrangement {
    /// All in the slots that share ports.
    Together,
    /// The first operand there, the others in slots with ports of their own, so that both can be read at once.
    Apart,
    /// All in slots with ports of their own.
    Spread,
}

impl Arrangement {
    pub const ALL: [Arrangement; 3] = [
        Arrangement::Together,
        Arrangement::Apart,
        Arrangement::Spread,
    ];

    fn class(self, operand: u16) -> Class {
        match self {
            Arrangement::Together => Class::Keep,
            Arrangement::Apart if operand == 0 => Class::Keep,
            Arrangement::Apart | Arrangement::Spread => Class::Work,
        }
    }
}

/// Limbs that travel together: same polynomial of the same operand, one limb for each modulus.
#[derive(Clone, Debug)]
pub struct Bundle {
    /// Number of the operand among the call's.
    pub operand: u16,
    pub limbs: Vec<LimbId>,
}

/// Program limbs in polynomial memory.
#[derive(Clone, Debug)]
pub struct Residency {
    slots: HashMap<LimbId, Vec<u8>>,
    /// Limbs made here of which the host has a copy; it has all inputs.
    host: HashSet<LimbId>,
    inputs: u64,
    busy: [u32; MAX_RPAUS],
    /// RPAU of each limb that was met and not forgotten.
    rpaus: HashMap<LimbId, u8>,
    rpau_count: usize,
    orders: [Vec<u8>; 2],
    pieces: usize,
}

impl Residency {
    /// Nothing is on the machine; the host has the inputs.
    pub fn new(d: &Description, head: &Head<'_>) -> Self {
        Self {
            slots: HashMap::new(),
            host: HashSet::new(),
            inputs: head.inputs.len() as u64,
            busy: [0; MAX_RPAUS],
            rpaus: HashMap::new(),
            rpau_count: d.rpaus,
            orders: [order(d, Class::Keep), order(d, Class::Work)],
            pieces: 1 + usize::from(head.log_n > d.log_n),
        }
    }

    /// The limbs of a call.
    pub fn meet(&mut self, call: &Call, procedure: &Procedure) {
        let args = call.args.iter().zip(procedure.param_types());
        for (&limb, ty) in args.chain(call.results.iter().zip(procedure.result_types())) {
            let rpau = usize::from(ty.modulus.0) % self.rpau_count;
            self.rpaus.insert(limb, rpau as u8);
        }
    }

    pub fn rpau(&self, limb: LimbId) -> usize {
        self.rpaus.get(&limb).map_or(0, |r| usize::from(*r))
    }

    pub fn slots(&self, limb: LimbId) -> Option<&Vec<u8>> {
        self.slots.get(&limb)
    }

    pub fn on_host(&self, limb: LimbId) -> bool {
        limb.0 < self.inputs || self.host.contains(&limb)
    }

    /// The host gets a copy.
    pub fn copy_to_host(&mut self, limb: LimbId) {
        self.host.insert(limb);
    }

    /// Slots in use on each RPAU.
    pub fn busy(&self) -> [u32; MAX_RPAUS] {
        self.busy
    }

    /// Limbs on the machine.
    pub fn limbs(&self) -> impl Iterator<Item = LimbId> + '_ {
        self.slots.keys().copied()
    }

    /// `limb` is now in these slots.
    pub fn settle(&mut self, limb: LimbId, slots: Vec<u8>) {
        let r = self.rpau(limb);
        slots.iter().for_each(|s| self.busy[r] |= 1 << s);
        self.slots.insert(limb, slots);
    }

    /// `limb` leaves the machine.
    pub fn remove(&mut self, limb: LimbId) {
        if let Some(slots) = self.slots.remove(&limb) {
            let r = self.rpau(limb);
            slots.iter().for_each(|s| self.busy[r] &= !(1 << s));
        }
    }

    /// The host's copy is needed no more either.
    pub fn forget(&mut self, limb: LimbId) {
        self.remove(limb);
        self.host.remove(&limb);
        self.rpaus.remove(&limb);
    }

    /// Brings bundles in: the same slots for all limbs of a bundle where such are free. Gives the limbs brought in, or
    /// `None` (and nothing settled) when there is no room.
    pub fn bring_in(
        &mut self,
        bundles: &[Bundle],
        arrangement: Arrangement,
    ) -> Option<Vec<LimbId>> {
        let mut settled = Vec::new();
        for bundle in bundles {
            let work = arrangement.class(bundle.operand) == Class::Work;
            let order = self.orders[usize::from(work)].clone();
            let free = |slot: &&u8| {
                bundle
                    .limbs
                    .iter()
                    .all(|&l| self.busy[self.rpau(l)] >> **slot & 1 == 0)
            };
            let common: Vec<u8> = order
                .iter()
                .filter(free)
                .take(self.pieces)
                .copied()
                .collect();
            for &limb in &bundle.limbs {
                let r = self.rpau(limb);
                let taken = |s: &u8| self.busy[r] >> *s & 1 == 1;
                let mut slots = common.clone();
                // No common slots, or a second limb of the bundle on the same RPAU.
                if slots.len() < self.pieces || slots.iter().any(taken) {
                    slots = order
                        .iter()
                        .filter(|s| !taken(s))
                        .take(self.pieces)
                        .copied()
                        .collect();
                }
                if slots.len() < self.pieces {
                    settled.into_iter().for_each(|l| self.remove(l));
                    return None;
                }
                self.settle(limb, slots);
                settled.push(limb);
            }
        }
        Some(settled)
    }
}
