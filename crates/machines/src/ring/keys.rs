// SPDX-License-Identifier: Apache-2.0
//! Manages key memory from call to call: which key limbs lie in it, and which must cross the link.
//!
//! The next calls are known, so the limb whose next use is farthest away is replaced (Belady). Key limbs are counted as
//! the machine stores them, in pieces of the native degree: at twice that degree a limb of the program has two.

use ringmill_isa::mid::{LimbId, LimbTable};

use super::description::Description;

/// A piece of a key limb, with as many coefficients as the native degree: a limb of the program, and the index of
/// the piece.
pub type KeyLimb = (LimbId, u8);

/// A key limb that crosses the link before a call, with its destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeyLoad {
    pub rpau: usize,
    pub slot: u8,
    pub limb: KeyLimb,
}

/// The content of the key memory of all RPAUs.
#[derive(Clone, Debug)]
pub struct KeyMemory {
    /// For each RPAU, the key limb in each key slot, or `None` for an unused slot.
    held: Vec<Vec<Option<KeyLimb>>>,
    /// For each key limb of the program, whether a call has already used the limb.
    met: LimbTable<bool>,
    pieces: u64,
    /// Whether an unused slot counts as holding the first limb that a call needs there. The memory then begins with the
    /// limbs that are used first, the best choice.
    resident: bool,
    /// For each RPAU, the number of different key limbs that calls have used. A limb that two RPAUs use (`stand_in`)
    /// counts on the first only.
    needed: Vec<u64>,
    /// The number of key limbs that crossed the link between calls since the program's start.
    pub loads: u64,
    /// The number of key limbs that count as loaded before the program's first call.
    pub found: u64,
}

impl KeyMemory {
    /// Makes the key memory before the first call of a program with `inputs` inputs and ring degree 2^`log_n`.
    /// `resident` tells whether it begins with the limbs that are used first.
    pub fn new(d: &Description, log_n: u8, inputs: usize, resident: bool) -> Self {
        Self {
            held: vec![vec![None; d.keys.slots]; d.rpaus],
            met: LimbTable::new(inputs),
            pieces: d.pieces(log_n) as u64,
            resident,
            needed: vec![0; d.rpaus],
            loads: 0,
            found: 0,
        }
    }

    /// Notes that a call uses a key limb on RPAU `r`.
    pub fn meet(&mut self, limb: LimbId, r: usize) {
        let met = self.met.entry(limb);
        if !*met {
            *met = true;
            self.needed[r] += self.pieces;
        }
    }

    /// Brings the key limbs `wanted` of a call into the key memory of RPAU `r`, which must have room for all of them.
    /// Replaces the content of `slots` by the slots of these limbs, and appends to `loads` the limbs that must cross
    /// the link. `next` returns when a later call uses a limb next; limbs with the farthest next use are replaced
    /// first.
    pub fn bring_in<P: Ord>(
        &mut self,
        next: &dyn Fn(LimbId) -> P,
        r: usize,
        wanted: &[KeyLimb],
        slots: &mut Vec<u8>,
        loads: &mut Vec<KeyLoad>,
    ) {
        let before = loads.len();
        let held = &mut self.held[r];
        // The next use of each slot's limb, or `None` if this call needs it or there is none. It is computed on demand.
        let mut uses: Option<Vec<Option<P>>> = None;
        for limb in wanted {
            if held.contains(&Some(*limb)) {
                continue;
            }
            let empty = held.iter().position(Option::is_none);
            let slot = empty.or_else(|| {
                let uses = uses.get_or_insert_with(|| {
                    let others = |h: &Option<KeyLimb>| h.filter(|l| !wanted.contains(l));
                    let next = |h: &Option<KeyLimb>| others(h).map(|l| next(l.0));
                    held.iter().map(next).collect()
                });
                let last = (0..).zip(&*uses).filter(|(_, next)| next.is_some());
                let slot: usize = last.max_by_key(|&(slot, next)| (next, slot))?.0;
                uses[slot] = None;
                Some(slot)
            });
            let Some(slot) = slot else { continue };
            held[slot] = Some(*limb);
            if empty.is_some() && self.resident {
                self.found += 1;
            } else {
                loads.push(KeyLoad {
                    rpau: r,
                    slot: slot as u8,
                    limb: *limb,
                });
            }
        }
        self.loads += (loads.len() - before) as u64;
        let slot = |l: &KeyLimb| held.iter().position(|h| *h == Some(*l));
        slots.clear();
        slots.extend(wanted.iter().map(|l| slot(l).unwrap_or(0) as u8));
    }

    /// Notes that a procedure, after its own loads of key limbs, has left `limbs` in the key slots `slots` of RPAU
    /// `r`.
    pub fn leave(&mut self, r: usize, slots: &[u8], limbs: &[KeyLimb]) {
        for (&slot, &limb) in slots.iter().zip(limbs) {
            self.held[r][usize::from(slot)] = Some(limb);
        }
    }

    /// Returns the number of different key limbs that the program's calls have used, over all RPAUs.
    pub fn needed(&self) -> u64 {
        self.needed.iter().sum()
    }

    /// Returns for how many of the key limbs that calls have used there is room in key memory at the same time.
    pub fn fit(&self) -> u64 {
        let room = |(needed, held): (&u64, &Vec<_>)| (*needed).min(held.len() as u64);
        self.needed.iter().zip(&self.held).map(room).sum()
    }

    /// Returns the number of different key limbs on the RPAU that uses most of them.
    pub fn most(&self) -> u64 {
        self.needed.iter().copied().max().unwrap_or(0)
    }
}
