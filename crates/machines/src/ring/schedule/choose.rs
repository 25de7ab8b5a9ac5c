// SPDX-License-Identifier: Apache-2.0
//! Chooses the memory slots into which an instruction word of the ring machine writes its results.

use super::Scheduler;
use crate::ring::graph::{Node, NodeIndex, Source, ValueIndex};
use crate::ring::micro::{OpWord, Opcode};
use crate::ring::place::Class;

/// The largest distance at which a reader counts as near: the number of positions, in the order of
/// an RPAU's operations, from an operation to the reader of its result.
const NEAR: u32 = 6;

impl Scheduler<'_> {
    /// Returns whether the operation that is issued now, which reads `v`, is the last to need the slot of `v`. Its
    /// result may then overwrite that slot.
    fn dies(&self, v: ValueIndex) -> bool {
        !self.keep[v as usize] && self.users[v as usize] == 1
    }

    /// Chooses the memory slots for the results of operation `n`, whose instruction word is `word`. Returns the word
    /// with these slots, and `n` together with those operations of `mates`, on other RPAUs, that can use the same
    /// slots. Returns `None` if no slots serve `n`.
    pub(super) fn with_slots(
        &self,
        n: NodeIndex,
        mut word: OpWord,
        mates: Vec<NodeIndex>,
    ) -> Option<(OpWord, Vec<NodeIndex>)> {
        let node = &self.g.nodes[n as usize];
        let mut group: Vec<NodeIndex> = std::iter::once(n).chain(mates).collect();
        let mut chosen: Vec<u8> = Vec::new();
        for &result in &node.results {
            let class = self.class(result);
            let mut best: Option<(u8, Vec<NodeIndex>)> = None;
            for slot in self.candidates(node, class) {
                if chosen.contains(&slot) {
                    continue;
                }
                let mut trial = word;
                if chosen.is_empty() {
                    trial.dst = slot
                } else {
                    trial.c = slot
                };
                if node.op.is_pair() && chosen.is_empty() {
                    trial.c = slot; // the second result is chosen next; its port is checked then
                }
                let fits = |m: &NodeIndex| self.slot_fits(*m, slot, &trial);
                if !fits(&n) {
                    continue;
                }
                let able: Vec<NodeIndex> = group.iter().copied().filter(fits).collect();
                let all = able.len() == group.len();
                if best.as_ref().is_none_or(|(_, b)| able.len() > b.len()) {
                    best = Some((slot, able));
                }
                if all {
                    break;
                }
            }
            let (slot, able) = best?;
            if chosen.is_empty() {
                word.dst = slot
            } else {
                word.c = slot
            };
            chosen.push(slot);
            group = able;
        }
        for &m in &group {
            word.mask |= 1 << self.g.nodes[m as usize].rpau;
        }
        Some((word, group))
    }

    /// Returns the memory slots for a result, best first. These are the free slots, and the slots of operands that
    /// nothing else reads, unless the operation is a permutation. An operand's slot comes first if the result's class
    /// (used soon, or waiting) prefers it, and last otherwise.
    fn candidates(&self, node: &Node, class: Class) -> Vec<u8> {
        let mut own: Vec<u8> = Vec::new();
        if !node.op.is_permutation() {
            own = node
                .values()
                .filter(|&v| self.dies(v))
                .filter_map(|v| self.slot_of[v as usize])
                .collect();
        }
        let preferred = self.slots.preferred(class);
        let suits = |slot: u8| {
            let shared = |s: u8| self.d.memory[self.board.group(s)].slots > 1;
            preferred
                .first()
                .is_some_and(|&best| shared(best) == shared(slot))
        };
        let r = usize::from(node.rpau);
        let (mut list, rest): (Vec<u8>, Vec<u8>) = own.into_iter().partition(|&s| suits(s));
        list.extend(
            preferred
                .iter()
                .copied()
                .filter(|&s| self.slots.is_free(r, s)),
        );
        list.extend(rest);
        list
    }

    fn slot_fits(&self, m: NodeIndex, slot: u8, trial: &OpWord) -> bool {
        let node = &self.g.nodes[m as usize];
        if !self.has_rows(node, slot) {
            return false;
        }
        let r = usize::from(node.rpau);
        let in_place = || {
            !node.op.is_permutation()
                && node
                    .values()
                    .any(|v| self.slot_of[v as usize] == Some(slot) && self.dies(v))
        };
        let room = self.slots.is_free(r, slot) || in_place();
        room && self.board.can_start(
            &OpWord {
                mask: 1 << r,
                ..*trial
            },
            self.now,
        )
    }

    /// Returns whether a result of the operation may lie in this slot. A slot whose port is narrower than a row takes
    /// no result that is written in whole rows. It also takes no result that is read by an operation that writes whole
    /// rows, such as a transform.
    fn has_rows(&self, node: &Node, slot: u8) -> bool {
        let transformed = |&v: &ValueIndex| {
            let mut users = self.g.values[v as usize].users.iter();
            users.any(|&u| self.g.nodes[u as usize].op.needs_rows())
        };
        !self.d.is_narrow(self.board.group(slot))
            || !(node.op.needs_rows() || node.results.iter().any(transformed))
    }

    fn class(&self, v: ValueIndex) -> Class {
        let value = &self.g.values[v as usize];
        let heavy = |n: &NodeIndex| {
            let op = self.g.nodes[*n as usize].op;
            !op.is_coefficient_wise() || op == Opcode::Red
        };
        let made = value.def.map(|n| self.g.nodes[n as usize].op);
        let transformed =
            matches!(made, Some(Opcode::Ntt | Opcode::Split | Opcode::Red)) && value.results == 0;
        // Operations close to the definition read the value, and none as the addend of a `MAC`. Their other operands
        // come from shared slots, so the value is better in a slot of its own port.
        let brief = |def: NodeIndex| {
            let near = |&u: &NodeIndex| self.rank[u as usize] <= self.rank[def as usize] + NEAR;
            let addend =
                |&u: &NodeIndex| self.g.nodes[u as usize].sources.get(2) == Some(&Source::Value(v));
            value.results == 0 && value.users.iter().all(near) && !value.users.iter().any(addend)
        };
        let work = transformed || value.users.iter().any(heavy) || value.def.is_some_and(brief);
        if work { Class::Work } else { Class::Keep }
    }
}
