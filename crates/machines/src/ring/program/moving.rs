//! What crosses the host link between calls: operands in, keys in, results out, and what has to make room.

use std::collections::HashMap;

use ringmill_isa::Poly;
use ringmill_isa::mid::{Call, LimbId, ParamRole, Procedure};

use super::{Outcome, Run};
use crate::ring::graph::KeyPlan;
use crate::ring::keys::{KeyLimb, KeyLoad};
use crate::ring::residency::Bundle;

impl Run<'_> {
    /// Brings the call's key limbs into key memory; gives their slots, and what crosses the link.
    pub(super) fn bring_keys(
        &mut self,
        call: &Call,
        plans: &[KeyPlan],
    ) -> (HashMap<(usize, u8), u8>, Vec<KeyLoad>) {
        let mut wanted: Vec<(Vec<u8>, Vec<KeyLimb>)> = vec![Default::default(); self.d.rpaus];
        if let Some(prepared) = self.prepared.get(&call.proc) {
            for (&limb, base) in call.args.iter().zip(&prepared.graph().keys) {
                let Some(base) = base else { continue };
                self.keys.meet(limb, self.residency.rpau(limb));
                let (indices, limbs) = &mut wanted[self.residency.rpau(limb)];
                for piece in 0..self.pieces {
                    indices.push(base + piece);
                    limbs.push((limb, piece));
                }
            }
        }
        let (mut table, mut loads) = (HashMap::new(), Vec::new());
        let calls = &self.calls;
        let next = |limb| calls.next_use(limb);
        for (r, (indices, limbs)) in wanted.into_iter().enumerate() {
            if let Some(plan) = plans.iter().find(|p| usize::from(p.rpau) == r) {
                // More than fit: those that the procedure starts with, then those that it leaves behind.
                let limb = |k: &u8| {
                    let at = indices.iter().position(|i| i == k);
                    at.map(|at| limbs[at])
                };
                let named = |list: &[u8]| list.iter().filter_map(limb).collect::<Vec<_>>();
                let slots = self
                    .keys
                    .bring_in(&next, r, &named(&plan.entry), &mut loads);
                self.keys.leave(r, &slots, &named(&plan.exit));
                let of = |&(k, at): &(u8, u8)| Some(((r, k), *slots.get(usize::from(at))?));
                table.extend(plan.slots.iter().filter_map(of));
                continue;
            }
            let slots = self.keys.bring_in(&next, r, &limbs, &mut loads);
            table.extend(
                indices
                    .into_iter()
                    .zip(slots)
                    .map(|(k, slot)| ((r, k), slot)),
            );
        }
        (table, loads)
    }

    /// Arguments that are not on the machine, bundled by operand and polynomial.
    pub(super) fn missing(&self, call: &Call, procedure: &Procedure) -> Vec<Bundle> {
        let mut bundles: Vec<((u16, Poly, usize), Bundle)> = Vec::new();
        let mut seen = Vec::new();
        let params = procedure.params.iter().zip(procedure.param_types());
        for ((param, ty), &limb) in params.zip(&call.args) {
            let (operand, poly) = match param.role {
                ParamRole::Cipher { arg, poly } => (arg, poly),
                ParamRole::Plain { arg } => (arg, Poly::FIRST),
                ParamRole::Key { .. } => continue,
            };
            if self.residency.slots(limb).is_some() || seen.contains(&limb) {
                continue;
            }
            seen.push(limb);
            let key = (operand, poly, usize::from(ty.modulus.0) / self.d.rpaus);
            match bundles.iter_mut().find(|(k, _)| *k == key) {
                Some((_, bundle)) => bundle.limbs.push(limb),
                None => bundles.push((
                    key,
                    Bundle {
                        operand,
                        limbs: vec![limb],
                    },
                )),
            }
        }
        bundles.into_iter().map(|(_, bundle)| bundle).collect()
    }

    /// Moves the limb that is needed last, and not by this call, to the host, from where most slots are in use. False when
    /// there is none.
    pub(super) fn evict(&mut self, call: &Call) -> bool {
        let busy = self.residency.busy();
        let used = |limb: LimbId| busy[self.residency.rpau(limb)].count_ones();
        let others = || {
            let limbs = self.residency.limbs();
            limbs.filter(|l| !call.args.contains(l))
        };
        let Some(most) = others().map(used).max() else {
            return false;
        };
        let candidates = others().filter(|&l| used(l) == most);
        let victim = candidates.map(|l| (self.calls.next_use(l), l)).max();
        let Some((_, victim)) = victim else {
            return false;
        };
        self.leave(victim);
        true
    }

    /// A limb leaves its slots, over the link unless the host has it.
    pub(super) fn leave(&mut self, limb: LimbId) {
        if !self.residency.on_host(limb) {
            self.residency.copy_to_host(limb);
            self.totals.spills.stores += 1;
        }
        self.residency.remove(limb);
    }

    /// A limb has come over the link: the first time an input, later a spill.
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

    /// Frees what the call used last, and settles what it made and is still needed.
    pub(super) fn settle_results(&mut self, call: &Call, outcome: &Outcome) {
        for &limb in &call.args {
            if !self.calls.used_later(limb) {
                self.drop_limb(limb);
            }
        }
        for (&limb, slots) in call.results.iter().zip(&outcome.scheduled.results) {
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
                self.residency.settle(limb, slots.clone());
            } else {
                self.drop_limb(limb);
            }
        }
    }

    /// Nothing asks for a limb any more.
    fn drop_limb(&mut self, limb: LimbId) {
        self.residency.forget(limb);
        self.calls.forget(limb);
    }

    /// After the last call: outputs that were made when it was not yet in sight that they are outputs.
    pub(super) fn send_rest(&mut self) {
        for &limb in self.calls.outputs() {
            if limb.0 < self.head.inputs.len() as u64 || !self.sent.insert(limb) {
                continue;
            }
            self.totals.bytes_out += self.limb_bytes;
            if self.residency.on_host(limb) {
                // It has left for want of room: that was it.
                self.totals.spills.stores = self.totals.spills.stores.saturating_sub(1);
            }
        }
    }
}
