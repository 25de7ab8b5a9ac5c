// SPDX-License-Identifier: Apache-2.0
//! Moves data over the host link between calls: operands and keys to the machine, results to the host, and limbs
//! that must make room.

use std::collections::HashMap;

use ringmill_isa::mid::{Call, LimbId};

use super::Outcome;
use super::layout::{Layout, Travel};
use super::state::{Now, Run};
use crate::ring::graph::KeyPlan;
use crate::ring::keys::KeyLoad;
use crate::ring::residency::{Bundle, Pieces};

/// The key table of a call: for each RPAU and key index (the number by which instruction words name a key limb),
/// the key slot.
pub type KeyTable = HashMap<(usize, u8), u8>;

impl Run<'_> {
    /// Brings the call's key limbs into key memory. An RPAU whose key memory is too small for all of them has a plan in
    /// `plans`. There the limbs with which the procedure starts are brought, and key memory then counts as it is at the
    /// procedure's end. The content of `loads` is replaced by the limbs that cross the link. `table`, if there is one,
    /// gets the slot of each key index.
    pub(super) fn bring_keys(
        &mut self,
        now: &Now<'_>,
        plans: &[KeyPlan],
        mut table: Option<&mut KeyTable>,
        loads: &mut Vec<KeyLoad>,
    ) {
        loads.clear();
        let calls = &self.calls;
        let next = |limb| calls.next_use(limb);
        let (mut indices, mut limbs) = (Vec::new(), Vec::new());
        let mut slots = Vec::new();
        for (r, keys) in now.layout.keys.iter().enumerate() {
            indices.clear();
            limbs.clear();
            for key in keys {
                let limb = now.call.args[key.at];
                self.keys.meet(limb, r);
                for piece in 0..self.pieces {
                    indices.push(key.base + piece);
                    limbs.push((limb, piece));
                }
            }
            if let Some(plan) = plans.iter().find(|p| usize::from(p.rpau) == r) {
                // If more limbs are needed than fit, these are the limbs with which the procedure starts, then those
                // that it leaves behind.
                let limb = |k: &u8| {
                    let at = indices.iter().position(|i| i == k);
                    at.map(|at| limbs[at])
                };
                let named = |list: &[u8]| list.iter().filter_map(limb).collect::<Vec<_>>();
                let entry = named(&plan.entry);
                self.keys.bring_in(&next, r, &entry, &mut slots, loads);
                self.keys.leave(r, &slots, &named(&plan.exit));
                if let Some(table) = &mut table {
                    let of = |&(k, at): &(u8, u8)| Some(((r, k), *slots.get(usize::from(at))?));
                    table.extend(plan.slots.iter().filter_map(of));
                }
                continue;
            }
            self.keys.bring_in(&next, r, &limbs, &mut slots, loads);
            if let Some(table) = &mut table {
                let named = indices.iter().zip(&slots);
                table.extend(named.map(|(&k, &slot)| ((r, k), slot)));
            }
        }
    }

    /// Returns the call's arguments, other than key limbs, that are not on the machine, in bundles: the limbs of one
    /// polynomial of one operand in one layer of primes.
    pub(super) fn missing(&self, call: &Call, layout: &Layout) -> Vec<Bundle> {
        let mut bundles: Vec<(Travel, Bundle)> = Vec::new();
        let mut seen = Vec::new();
        for value in &layout.values {
            let limb = call.args[value.at];
            if self.residency.pieces(limb).is_some() || seen.contains(&limb) {
                continue;
            }
            seen.push(limb);
            let one = (limb, value.rpau);
            match bundles.iter_mut().find(|(k, _)| *k == value.travel) {
                Some((_, bundle)) => bundle.limbs.push(one),
                None => {
                    let (operand, limbs) = (value.travel.0, vec![one]);
                    bundles.push((value.travel, Bundle { operand, limbs }));
                }
            }
        }
        bundles.into_iter().map(|(_, bundle)| bundle).collect()
    }

    /// Moves a limb that the call does not read to the host. It takes the RPAU with most slots in use that has such a
    /// limb, and there the limb whose next read is farthest away. Returns false if no limb can move.
    pub(super) fn evict(&mut self, call: &Call) -> bool {
        let used = self.residency.busy().map(u32::count_ones);
        let others = self.residency.limbs();
        let others = others.filter(|(limb, _)| !call.args.contains(limb));
        let victim = others.max_by_key(|&(limb, r)| (used[r], self.calls.next_use(limb), limb));
        let Some((victim, _)) = victim else {
            return false;
        };
        self.leave(victim);
        true
    }

    /// Removes a program's limb from its memory slots. The limb crosses the link to the host, unless the host has a
    /// copy.
    pub(super) fn leave(&mut self, limb: LimbId) {
        if !self.residency.on_host(limb) {
            self.residency.copy_to_host(limb);
            self.totals.spills.stores += 1;
        }
        self.residency.remove(limb);
    }

    /// Counts a limb that has crossed the link to the machine: the first transfer of one of the program's inputs as
    /// input, every other transfer as a spill.
    pub(super) fn arrived(&mut self, limb: LimbId) {
        let input = self
            .came
            .get_mut(limb.0 as usize)
            .is_some_and(|came| !std::mem::replace(came, true));
        if input {
            self.totals.bytes_in += self.limb_bytes;
        } else {
            self.totals.spills.loads += 1;
        }
    }

    /// Frees the slots of arguments that no later call reads. Sends results that are outputs to the host, and notes
    /// the slots of results that later calls read.
    pub(super) fn settle_results(&mut self, now: &Now<'_>, outcome: &Outcome) {
        for at in 0..now.call.args.len() {
            if !self.calls.later().get(at).is_some_and(|later| *later) {
                self.drop_limb(now.call.args[at]);
            }
        }
        let results = now.call.results.iter().zip(&now.layout.results);
        for ((&limb, &rpau), slots) in results.zip(&outcome.scheduled.results) {
            let output = self.calls.is_output(limb);
            if slots.is_empty() {
                // Its procedure has sent it to the host already.
                self.residency.copy_to_host(limb);
                self.sent.extend(output.then_some(limb));
                continue;
            }
            if output {
                // Outputs leave when they are made; a copy stays while the program still reads it.
                self.totals.bytes_out += self.limb_bytes;
                self.residency.copy_to_host(limb);
                self.sent.insert(limb);
            }
            if self.calls.used_later(limb) {
                let pieces = Pieces::of(slots.iter().copied());
                self.residency.settle(limb, rpau, pieces);
            } else {
                self.drop_limb(limb);
            }
        }
    }

    /// Forgets a program's limb that no later call reads, and frees its memory slots.
    fn drop_limb(&mut self, limb: LimbId) {
        self.residency.forget(limb);
        self.calls.forget(limb);
    }

    /// Sends outputs to the host after the last call: those that were not known to be outputs when they were
    /// computed.
    pub(super) fn send_rest(&mut self) {
        for &limb in self.calls.outputs() {
            if limb.0 < self.head.inputs.len() as u64 || !self.sent.insert(limb) {
                continue;
            }
            self.totals.bytes_out += self.limb_bytes;
            if self.residency.on_host(limb) {
                // It has left for lack of room; that transfer was the output's.
                self.totals.spills.stores = self.totals.spills.stores.saturating_sub(1);
            }
        }
    }
}
