//! List scheduling of one procedure: at every cycle where something becomes free, the ready operation with the longest
//! path to the end is issued, together with its like on other RPAUs (one SIMD word), if unit, thread, ports and slots
//! allow. The scheduler advances the same [`Board`] as the model, so it decides with true cycles; what it emits are
//! the four streams with their waits, and only those are executed.

mod choose;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ringmill_math::RingKind;

use super::board::Board;
use super::description::{Description, MAX_RPAUS};
use super::emit::Emitter;
use super::graph::{Graph, Immediate, Node, NodeIndex, Source, ValueIndex};
use super::micro::{MicroCode, OpWord, Opcode, Operand, Unit};
use super::place::{Class, Slots};
use super::policy::{Policy, priorities};

/// Where a call finds its operands, and what it must leave alone.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Placement {
    /// For each parameter, the slot of each piece (empty for key limbs).
    pub args: Vec<Vec<u8>>,
    /// Parameters that are still needed after the call.
    pub pinned: Vec<bool>,
    /// Slots of other live values, per RPAU.
    pub busy: [u32; MAX_RPAUS],
}

/// A scheduled procedure.
#[derive(Clone, PartialEq, Debug)]
pub struct Scheduled {
    pub code: MicroCode,
    /// For each result, the slot of each piece.
    pub results: Vec<Vec<u8>>,
    /// Most slots in use at once on each RPAU.
    pub peak: [u8; MAX_RPAUS],
    /// Cycles by the scheduler's own clock; the model's count is the one that is reported.
    pub cycles: u64,
}

/// Why no schedule came out: not enough slots, or a table of the instruction word overflowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// No operation could go on for want of slots.
    NoRoom,
    /// More immediates than a word can name.
    TableFull,
}

/// Schedules `graph` under `policy`.
pub fn schedule(
    d: &Description,
    graph: &Graph,
    at: &Placement,
    policy: &Policy,
) -> Result<Scheduled, Failure> {
    let mut s = Scheduler::new(d, graph, at, policy);
    s.run()?;
    let results = graph.results.iter();
    let results = results
        .map(|r| {
            r.iter()
                .map(|&v| s.slot_of[v as usize].unwrap_or(0))
                .collect()
        })
        .collect();
    let code = s.emitter.finish(graph);
    Ok(Scheduled {
        code,
        results,
        peak: s.slots.peak,
        cycles: s.now,
    })
}

struct Scheduler<'a> {
    d: &'a Description,
    g: &'a Graph,
    policy: &'a Policy,
    board: Board,
    slots: Slots,
    emitter: Emitter,
    now: u64,
    priority: Vec<u64>,
    /// Operands of each node that are not there yet.
    pending: Vec<u32>,
    /// Ready nodes of each RPAU, longest path first.
    ready: Vec<Vec<NodeIndex>>,
    slot_of: Vec<Option<u8>>,
    /// Users of each value that have not completed.
    users: Vec<u32>,
    /// Values that stay (parameters that outlive the call, results) or whose slot was taken over.
    keep: Vec<bool>,
    events: BinaryHeap<Reverse<(u64, NodeIndex)>>,
    /// Position of each node in the order of its RPAU, and the first unissued position of each RPAU.
    rank: Vec<u32>,
    by_rank: Vec<Vec<NodeIndex>>,
    frontier: Vec<usize>,
    issued: Vec<bool>,
    left: usize,
}

impl<'a> Scheduler<'a> {
    fn new(d: &'a Description, g: &'a Graph, at: &Placement, policy: &'a Policy) -> Self {
        let mut keep: Vec<bool> = g.values.iter().map(|v| v.results > 0).collect();
        let mut slot_of = vec![None; g.values.len()];
        let mut slots = Slots::new(d, at.busy);
        let mut there = vec![false; g.values.len()];
        for ((values, places), &pinned) in g.params.iter().zip(&at.args).zip(&at.pinned) {
            for (&v, &slot) in values.iter().zip(places) {
                let value = &g.values[v as usize];
                slot_of[v as usize] = Some(slot);
                there[v as usize] = true;
                keep[v as usize] |= pinned;
                if pinned || !value.users.is_empty() {
                    slots.take(usize::from(value.rpau), slot);
                }
            }
        }
        let waits = |n: &Node| {
            let mut values: Vec<ValueIndex> = n.values().filter(|&v| !there[v as usize]).collect();
            values.sort_unstable();
            values.dedup();
            values.len() as u32
        };
        let mut by_rank: Vec<Vec<NodeIndex>> = vec![Vec::new(); d.rpaus];
        for (index, node) in g.nodes.iter().enumerate() {
            if node.op != Opcode::Bcast {
                by_rank[usize::from(node.rpau)].push(index as NodeIndex);
            }
        }
        let mut rank = vec![0; g.nodes.len()];
        for list in &mut by_rank {
            // Products follow what they wait for.
            list.sort_by_key(|&n| (g.nodes[n as usize].order, g.nodes[n as usize].is_keyed()));
            for (position, &n) in list.iter().enumerate() {
                rank[n as usize] = position as u32;
            }
        }
        let mut s = Self {
            d,
            g,
            policy,
            board: Board::new(d, g.log_n),
            slots,
            emitter: Emitter::new(d.rpaus),
            now: 0,
            priority: priorities(d, g, policy),
            pending: g.nodes.iter().map(waits).collect(),
            ready: vec![Vec::new(); d.rpaus],
            slot_of,
            users: g.values.iter().map(|v| v.users.len() as u32).collect(),
            keep,
            events: BinaryHeap::new(),
            rank,
            by_rank,
            frontier: vec![0; d.rpaus],
            issued: vec![false; g.nodes.len()],
            left: g.nodes.len(),
        };
        for index in 0..g.nodes.len() {
            if s.pending[index] == 0 {
                s.make_ready(index as NodeIndex);
            }
        }
        s
    }

    fn make_ready(&mut self, n: NodeIndex) {
        let list = &mut self.ready[usize::from(self.g.nodes[n as usize].rpau)];
        let key = |m: NodeIndex| (Reverse(self.priority[m as usize]), self.rank[m as usize], m);
        let at = list.partition_point(|&m| key(m) < key(n));
        list.insert(at, n);
    }

    fn run(&mut self) -> Result<(), Failure> {
        while self.left > 0 || !self.events.is_empty() {
            if self.issue_one(false)? {
                continue;
            }
            let Some(&Reverse((next, _))) = self.events.peek() else {
                // Nothing runs: give up every preference, then the procedure.
                if self.issue_one(true)? {
                    continue;
                }
                return Err(Failure::NoRoom);
            };
            // A broadcast frees its thread before it completes.
            let threads = self.board.thread.iter().copied().filter(|&t| t > self.now);
            self.now = threads.min().unwrap_or(next).min(next);
            while let Some(&Reverse((at, node))) = self.events.peek() {
                if at > self.now {
                    break;
                }
                self.events.pop();
                self.complete(node);
            }
        }
        Ok(())
    }

    /// Issues the most urgent word that can start now.
    fn issue_one(&mut self, force: bool) -> Result<bool, Failure> {
        let idle = |s: &Self, unit: Unit| s.stream_for(unit).is_some();
        if !idle(self, Unit::Main) && !idle(self, Unit::Dyadic) {
            return Ok(false);
        }
        let mut all: Vec<NodeIndex> = self.ready.iter().flatten().copied().collect();
        all.sort_by_key(|&n| (Reverse(self.priority[n as usize]), self.rank[n as usize], n));
        for n in all {
            if self.try_issue(n, force)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The controller whose thread for `unit` is idle.
    fn stream_for(&self, unit: Unit) -> Option<u8> {
        (0..self.d.controllers as u8)
            .find(|&c| self.board.thread[2 * usize::from(c) + unit as usize] <= self.now)
    }

    fn try_issue(&mut self, n: NodeIndex, force: bool) -> Result<bool, Failure> {
        let node = &self.g.nodes[n as usize];
        if node.op == Opcode::Bcast {
            return self.try_broadcast(n, force);
        }
        if !force && !self.in_window(n) {
            return Ok(false);
        }
        let units = self.units(n, force);
        for unit in units.into_iter().flatten() {
            let Some(controller) = self.stream_for(unit) else {
                continue;
            };
            let r = usize::from(node.rpau);
            if self.board.unit_free(r, unit) > self.now {
                continue;
            }
            let word = self.word(n, controller, unit);
            let mates = self.mates(n, &word);
            let Some((word, group)) = self.with_slots(n, word, mates) else {
                continue;
            };
            self.issue(word, &group)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Units that should do the node, now.
    fn units(&self, n: NodeIndex, force: bool) -> [Option<Unit>; 2] {
        let node = &self.g.nodes[n as usize];
        let main_only = !node.op.is_coefficient_wise() && node.op != Opcode::Prng;
        if main_only {
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
            let heavy = !main.op.is_coefficient_wise() && main.op != Opcode::Bcast;
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

    /// The node's word on its own RPAU, without result slots.
    fn word(&self, n: NodeIndex, controller: u8, unit: Unit) -> OpWord {
        let node = &self.g.nodes[n as usize];
        let slot = |v: ValueIndex| self.slot_of[v as usize].unwrap_or(0);
        let operand = |i: usize| match node.sources.get(i) {
            None => Operand::None,
            Some(Source::Value(v)) => Operand::Slot(slot(*v)),
            Some(Source::Key(k)) => Operand::Key(*k),
            Some(Source::Stream(_)) => Operand::Generator,
        };
        let as_slot = |o: Operand| if let Operand::Slot(s) = o { s } else { 0 };
        OpWord {
            op: node.op,
            controller,
            unit,
            mask: 1 << node.rpau,
            ring: node.ring,
            layer: node.layer,
            dst: 0,
            a: as_slot(operand(0)),
            b: operand(1),
            c: as_slot(operand(2)),
            imm: u16::from(node.op == Opcode::Red && node.immediate != Immediate::None),
        }
    }

    /// On every other RPAU, the most urgent ready node that the same word could do.
    fn mates(&self, n: NodeIndex, word: &OpWord) -> Vec<NodeIndex> {
        let node = &self.g.nodes[n as usize];
        let mut mates = Vec::new();
        for (r, ready) in self.ready.iter().enumerate() {
            if r == usize::from(node.rpau) || self.board.unit_free(r, word.unit) > self.now {
                continue;
            }
            let like = ready.iter().copied().find(|&m| {
                let other = &self.g.nodes[m as usize];
                other.op == node.op
                    && other.layer == node.layer
                    && other.ring == node.ring
                    && same_kind(node.immediate, other.immediate)
                    && OpWord {
                        mask: word.mask,
                        ..self.word(m, word.controller, word.unit)
                    } == *word
            });
            mates.extend(like);
        }
        mates
    }

    fn try_broadcast(&mut self, n: NodeIndex, force: bool) -> Result<bool, Failure> {
        let node = &self.g.nodes[n as usize];
        let threads = [
            (1, Unit::Main),
            (1, Unit::Dyadic),
            (0, Unit::Dyadic),
            (0, Unit::Main),
        ];
        let idle = threads.into_iter().find(|&(c, unit)| {
            c < self.d.controllers && self.board.thread[2 * c + unit as usize] <= self.now
        });
        let Some((controller, unit)) = idle else {
            return Ok(false);
        };
        let receivers: Vec<usize> = node
            .results
            .iter()
            .map(|&v| usize::from(self.g.values[v as usize].rpau))
            .collect();
        if !force {
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
            ..self.word(n, controller as u8, unit)
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

    fn in_window(&self, n: NodeIndex) -> bool {
        let node = &self.g.nodes[n as usize];
        let front = self.frontier[usize::from(node.rpau)] as u32;
        self.rank[n as usize] <= front.saturating_add(self.policy.window)
    }

    fn issue(&mut self, word: OpWord, group: &[NodeIndex]) -> Result<(), Failure> {
        let nodes: Vec<&Node> = group.iter().map(|&n| &self.g.nodes[n as usize]).collect();
        let word = self
            .emitter
            .emit(word, &nodes, &self.g.streams, &mut self.slots)
            .ok_or(Failure::TableFull)?;
        let duration = self.board.start(self.d, &word, self.now);
        for &n in group {
            let node = &self.g.nodes[n as usize];
            self.events.push(Reverse((self.now + duration.total, n)));
            let list = &mut self.ready[usize::from(node.rpau)];
            list.retain(|&m| m != n);
            self.issued[n as usize] = true;
            self.left -= 1;
            for (i, &v) in node.results.iter().enumerate() {
                let r = usize::from(self.g.values[v as usize].rpau);
                let slot = if i == 0 || node.op == Opcode::Bcast {
                    word.dst
                } else {
                    word.c
                };
                // In place: the operand's slot changes hands.
                for old in node.values().filter(|_| node.op != Opcode::Bcast) {
                    if self.slot_of[old as usize] == Some(slot) {
                        self.keep[old as usize] = true;
                    }
                }
                self.slots.take(r, slot);
                self.slot_of[v as usize] = Some(slot);
            }
        }
        for r in 0..self.d.rpaus {
            let list = &self.by_rank[r];
            while self.frontier[r] < list.len() && self.issued[list[self.frontier[r]] as usize] {
                self.frontier[r] += 1;
            }
        }
        Ok(())
    }

    fn complete(&mut self, n: NodeIndex) {
        let node = &self.g.nodes[n as usize];
        let mut operands: Vec<ValueIndex> = node.values().collect();
        operands.sort_unstable();
        operands.dedup();
        for v in operands {
            self.users[v as usize] -= 1;
            self.release_if_dead(v);
        }
        for &v in &node.results {
            self.release_if_dead(v);
            let users: &[NodeIndex] = &self.g.values[v as usize].users;
            for &u in users {
                self.pending[u as usize] -= 1;
                if self.pending[u as usize] == 0 {
                    self.make_ready(u);
                }
            }
        }
    }

    fn release_if_dead(&mut self, v: ValueIndex) {
        if self.users[v as usize] == 0
            && !self.keep[v as usize]
            && let Some(slot) = self.slot_of[v as usize]
        {
            self.slots
                .release(usize::from(self.g.values[v as usize].rpau), slot);
        }
    }
}

/// A product of two ciphertext limbs: long-winded work that suits the dyadic cores while the main cores transform.
fn products_of_values(node: &Node) -> bool {
    matches!(node.op, Opcode::Mul | Opcode::Mac)
}

/// Immediates that one word can carry for all its RPAUs: the tables hold a constant or stream for each.
fn same_kind(a: Immediate, b: Immediate) -> bool {
    match (a, b) {
        (Immediate::Galois(g), Immediate::Galois(h)) => g == h,
        _ => std::mem::discriminant(&a) == std::mem::discriminant(&b),
    }
}
