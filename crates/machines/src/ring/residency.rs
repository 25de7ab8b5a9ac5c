// SPDX-License-Identifier: Apache-2.0
//! Tracks in which slots of the ring machine the program's limbs lie between calls.

use ringmill_isa::mid::{Head, LimbId, LimbMap};

use super::description::{Description, MAX_PIECES, MAX_RPAUS};
use super::place::{Class, order};

/// The kind of memory slots that the missing arguments of a call prefer. An argument is missing if it is not on the
/// machine yet. If no slot of the kind is free, it goes to another slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrangement {
    /// All missing arguments go to slots that share ports with other slots.
    Together,
    /// The first operand goes to slots that share ports, the others to slots that share none, so
    /// that an instruction word can read both operands in the same cycles.
    Apart,
    /// All missing arguments go to slots that share no port with other slots.
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

/// The limbs of a call's operand that cross the link together: those of one polynomial in one layer of primes. A layer
/// has one prime for each RPAU.
#[derive(Clone, Debug)]
pub struct Bundle {
    /// The number of the operand in the call to which these limbs belong.
    pub operand: u16,
    /// The limbs that cross the link together, each with the RPAU into whose slots it goes.
    pub limbs: Vec<(LimbId, u8)>,
}

/// The memory slots of a limb's pieces: one at the native degree, two at twice it, four at four
/// times it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pieces {
    slots: [u8; MAX_PIECES],
    count: u8,
}

impl Pieces {
    /// Collects memory slots from a list: one for each piece of a limb, up to the most pieces that
    /// a limb may have.
    pub fn of(list: impl IntoIterator<Item = u8>) -> Self {
        let mut pieces = Self::default();
        for (place, slot) in pieces.slots.iter_mut().zip(list) {
            *place = slot;
            pieces.count += 1;
        }
        pieces
    }

    pub fn slots(&self) -> &[u8] {
        self.slots.get(..self.count.into()).unwrap_or_default()
    }

    fn mask(&self) -> u32 {
        self.slots().iter().fold(0, |mask, slot| mask | 1 << slot)
    }
}

#[derive(Clone, Copy, Debug)]
struct Resident {
    rpau: u8,
    pieces: Pieces,
}

/// The slots of the program's limbs in polynomial memory.
#[derive(Clone, Debug)]
pub struct Residency {
    resident: LimbMap<Resident>,
    /// The limbs computed on the machine of which the host has a copy. The host has all inputs, too.
    host: LimbMap<()>,
    inputs: u64,
    busy: [u32; MAX_RPAUS],
    orders: [Vec<u8>; 2],
    pieces: usize,
}

impl Residency {
    /// Makes the residency of a machine with empty slots. The host has the inputs.
    pub fn new(d: &Description, head: &Head<'_>) -> Self {
        Self {
            resident: LimbMap::default(),
            host: LimbMap::default(),
            inputs: head.inputs.len() as u64,
            busy: [0; MAX_RPAUS],
            orders: [order(d, Class::Keep), order(d, Class::Work)],
            pieces: d.pieces(head.log_n),
        }
    }

    /// Returns the memory slots of a limb's pieces, or `None` if the limb is not on the machine.
    pub fn pieces(&self, limb: LimbId) -> Option<Pieces> {
        self.resident.get(&limb).map(|resident| resident.pieces)
    }

    pub fn on_host(&self, limb: LimbId) -> bool {
        limb.0 < self.inputs || self.host.contains_key(&limb)
    }

    /// Notes that the host has a copy of the limb.
    pub fn copy_to_host(&mut self, limb: LimbId) {
        self.host.insert(limb, ());
    }

    /// Returns for each RPAU a mask of the slots in use.
    pub fn busy(&self) -> [u32; MAX_RPAUS] {
        self.busy
    }

    /// Returns the limbs on the machine, each with its RPAU.
    pub fn limbs(&self) -> impl Iterator<Item = (LimbId, usize)> + '_ {
        let each = self.resident.iter();
        each.map(|(&limb, resident)| (limb, usize::from(resident.rpau)))
    }

    /// Notes that the program's limb `limb` lies in the slots `pieces` of the RPAU `rpau`.
    pub fn settle(&mut self, limb: LimbId, rpau: u8, pieces: Pieces) {
        self.busy[usize::from(rpau)] |= pieces.mask();
        self.resident.insert(limb, Resident { rpau, pieces });
    }

    /// Notes that the program's limb `limb` is no longer on the ring machine, and frees its slots.
    pub fn remove(&mut self, limb: LimbId) {
        if let Some(Resident { rpau, pieces }) = self.resident.remove(&limb) {
            self.busy[usize::from(rpau)] &= !pieces.mask();
        }
    }

    /// Notes that neither the machine nor the host has `limb` any more. The host keeps an input of the program.
    pub fn forget(&mut self, limb: LimbId) {
        self.remove(limb);
        self.host.remove(&limb);
    }

    /// Assigns free slots to the limbs of bundles. A bundle is one polynomial of one operand in one layer of primes.
    /// All its limbs get the same slot number if that slot is free on their RPAUs. Returns the limbs, which must cross
    /// the link. If there is no room, it returns `None` and changes nothing.
    pub fn bring_in(
        &mut self,
        bundles: &[Bundle],
        arrangement: Arrangement,
    ) -> Option<Vec<LimbId>> {
        let mut settled = Vec::new();
        for bundle in bundles {
            let work = arrangement.class(bundle.operand) == Class::Work;
            let free = |busy: u32| {
                let order = self.orders[usize::from(work)].iter().copied();
                Pieces::of(order.filter(|slot| busy >> slot & 1 == 0).take(self.pieces))
            };
            let busy = |rpau: u8| self.busy[usize::from(rpau)];
            let common = free(bundle.limbs.iter().fold(0, |all, &(_, r)| all | busy(r)));
            // A bundle's later limbs see the slots that its earlier limbs take.
            let mut taken = self.busy;
            let mut places = Vec::with_capacity(bundle.limbs.len());
            for &(limb, rpau) in &bundle.limbs {
                let mine = &mut taken[usize::from(rpau)];
                let mut pieces = common;
                // There are no common slots, or this is a second limb of the bundle on the same RPAU.
                if pieces.slots().len() < self.pieces || *mine & pieces.mask() != 0 {
                    pieces = free(*mine);
                }
                *mine |= pieces.mask();
                places.push((limb, rpau, pieces));
            }
            for (limb, rpau, pieces) in places {
                if pieces.slots().len() < self.pieces {
                    settled.into_iter().for_each(|l| self.remove(l));
                    return None;
                }
                self.settle(limb, rpau, pieces);
                settled.push(limb);
            }
        }
        Some(settled)
    }
}
