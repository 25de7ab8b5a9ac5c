// SPDX-License-Identifier: Apache-2.0
//! Schedules the instruction words that no core executes: broadcasts on the ring network, loads and
//! stores over the host link.

use ringmill_math::RingKind;

use super::{Failure, Scheduler};
use crate::ring::graph::NodeIndex;
use crate::ring::micro::{OpWord, Opcode, Operand, Unit};
use crate::ring::place::Class;

impl Scheduler<'_> {
    pub(super) fn try_broadcast(&mut self, n: NodeIndex, force: bool) -> Result<bool, Failure> {
        let node = &self.g.nodes[n as usize];
        let Some((controller, unit)) = self.idle_thread() else {
            return Ok(false);
        };
        let receivers: Vec<usize> = node
            .results
            .iter()
            .map(|&v| usize::from(self.g.values[v as usize].rpau))
            .collect();
        if !force && !self.g.spilled {
            let room = |&r: &usize| self.slots.free_count(r) > self.policy.reserve;
            let near = node.results.iter().all(|&v| {
                self.g.values[v as usize]
                    .users
                    .iter()
                    .all(|&u| self.in_window(u))
            });
            if !near || !receivers.iter().all(room) {
                return Ok(false);
            }
        }
        let mut word = OpWord {
            ring: RingKind::Full,
            mask: receivers.iter().fold(0, |mask, r| mask | 1 << r),
            c: node.rpau,
            b: Operand::None,
            ..self.word(n, controller, unit)
        };
        let free = |slot: u8| receivers.iter().all(|&r| self.slots.is_free(r, slot));
        let suits = |slot: u8| {
            force || !self.policy.own_ports || self.d.memory[self.board.group(slot)].slots == 1
        };
        let slot = self
            .slots
            .preferred(Class::Work)
            .iter()
            .copied()
            .find(|&slot| {
                suits(slot)
                    && !self.d.is_narrow(self.board.group(slot))
                    && free(slot)
                    && self
                        .board
                        .can_start(&OpWord { dst: slot, ..word }, self.now)
            });
        let Some(slot) = slot else { return Ok(false) };
        word.dst = slot;
        self.issue(word, &[n])?;
        Ok(true)
    }

    /// Returns the controller and unit of an idle thread, which can issue an instruction word to
    /// the ring network or the host link.
    fn idle_thread(&self) -> Option<(u8, Unit)> {
        let threads = [
            (1, Unit::Main),
            (1, Unit::Dyadic),
            (0, Unit::Dyadic),
            (0, Unit::Main),
        ];
        threads.into_iter().find(|&(c, unit)| {
            let c = usize::from(c);
            c < self.d.controllers && self.board.thread[2 * c + unit as usize] <= self.now
        })
    }

    /// Issues a load or a store. A load occupies its slot's write port for as long as the link takes, so it goes to a
    /// slot that shares no port, unless `force` allows any slot. Returns whether the transfer was issued.
    pub(super) fn try_transfer(&mut self, n: NodeIndex, force: bool) -> Result<bool, Failure> {
        let Some((controller, unit)) = self.idle_thread() else {
            return Ok(false);
        };
        let node = &self.g.nodes[n as usize];
        let mut word = self.word(n, controller, unit);
        if node.op == Opcode::Load && !node.results.is_empty() {
            let own = |slot: u8| self.d.memory[self.board.group(slot)].slots == 1;
            let r = usize::from(node.rpau);
            let slots = self.slots.preferred(Class::Work).iter().copied();
            let slot = slots.filter(|&s| force || own(s)).find(|&s| {
                self.slots.is_free(r, s)
                    && self.board.can_start(&OpWord { dst: s, ..word }, self.now)
            });
            let Some(slot) = slot else { return Ok(false) };
            word.dst = slot;
        } else if !self.board.can_start(&word, self.now) {
            return Ok(false);
        }
        self.issue(word, &[n])?;
        Ok(true)
    }
}
