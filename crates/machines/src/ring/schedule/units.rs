// SPDX-License-Identifier: Apache-2.0
//! Chooses the unit that executes an operation: the main or the dyadic cores.

use super::Scheduler;
use crate::ring::graph::{Node, NodeIndex, Source};
use crate::ring::micro::{Opcode, Unit};

impl Scheduler<'_> {
    /// Returns the units to try for the operation, the preferred one first. It does not check whether they are free.
    /// With `force` the policy's rules do not count.
    pub(super) fn units(&self, n: NodeIndex, force: bool) -> [Option<Unit>; 2] {
        let node = &self.g.nodes[n as usize];
        let main_only = !node.op.is_coefficient_wise() && node.op != Opcode::Prng;
        if main_only {
            return [Some(Unit::Main), None];
        }
        if self.d.cores.dyadic == 0 {
            return [Some(Unit::Main), None];
        }
        if self.dyadic_only(node) {
            return [Some(Unit::Dyadic), None];
        }
        if force {
            return [Some(Unit::Main), Some(Unit::Dyadic)];
        }
        if self.policy.first_products_on_main && node.is_keyed() && node.op == Opcode::Mul {
            return [Some(Unit::Main), None];
        }
        if self.policy.light.on_main && !node.is_keyed() && !products_of_values(node) {
            return [Some(Unit::Main), None];
        }
        let r = usize::from(node.rpau);
        let wait = |unit| self.board.unit_free(r, unit).saturating_sub(self.now);
        let cycles = |unit| self.board.duration(self.d, &self.word(n, 0, unit)).total;
        let urgent = self.ready[r].iter().take_while(|&&m| m != n).map(|&m| {
            let main = &self.g.nodes[m as usize];
            let heavy = !main.op.is_coefficient_wise() && main.op.on_cores();
            if heavy {
                self.board
                    .duration(self.d, &self.word(m, 0, Unit::Main))
                    .total
            } else {
                0
            }
        });
        let main = wait(Unit::Main) + urgent.sum::<u64>() + cycles(Unit::Main);
        let dyadic = wait(Unit::Dyadic) + cycles(Unit::Dyadic);
        [
            Some(if main <= dyadic {
                Unit::Main
            } else {
                Unit::Dyadic
            }),
            None,
        ]
    }

    fn dyadic_only(&self, node: &Node) -> bool {
        let generated = node.sources.iter().any(|s| matches!(s, Source::Stream(_)));
        let narrow = self.d.generator.residues_per_cycle < self.d.main.lanes;
        node.op == Opcode::Prng
            || (generated && narrow)
            || (node.op == Opcode::Mac && !self.d.main.mac)
    }
}

/// Returns whether the operation multiplies two limbs, with or without an addend. This long work suits the dyadic cores
/// while the main cores do transforms.
fn products_of_values(node: &Node) -> bool {
    matches!(node.op, Opcode::Mul | Opcode::Mac)
}
