// SPDX-License-Identifier: Apache-2.0
//! Schedules one procedure on the ring machine by list scheduling.
//!
//! While threads are idle, the scheduler issues the most urgent ready operation
//! ([`priorities`](super::policy::priorities)) that the policy, units, ports and slots allow. Equal operations on other
//! RPAUs join it in one SIMD instruction word, if unit, thread, ports and slots allow. The scheduler uses the same
//! [`Board`] as the cycle model, so both count the same cycles for an instruction word. It writes the four streams with
//! their waits, and the machine executes nothing else.

mod choose;
mod setup;
mod travel;
mod units;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use ringmill_math::RingKind;

use super::board::Board;
use super::description::{Description, MAX_RPAUS};
use super::emit::Emitter;
use super::graph::{Graph, Immediate, KeyPlan, Node, NodeIndex, Source, ValueIndex};
use super::micro::{MicroCode, OpWord, Opcode, Operand, Unit};
use super::place::Slots;
use super::policy::Policy;

/// The slots of a call's operands, and the slots that the call must not change.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Placement {
    /// For each parameter the memory slots of the pieces of its limb; empty for a key limb.
    pub args: Vec<Vec<u8>>,
    /// For each parameter, whether its slots must not change. That holds if a later call reads its limb, or if the call
    /// has the limb as another parameter, too.
    pub pinned: Vec<bool>,
    /// For each RPAU, a mask of the memory slots in which other values lie that later calls need.
    pub busy: [u32; MAX_RPAUS],
}

/// The micro code of a procedure, and the slots of its operands and results.
#[derive(Clone, PartialEq, Debug)]
pub struct Scheduled {
    pub code: MicroCode,
    /// For each result the memory slots of the pieces of its limb; empty for a result that is
    /// stored on the host.
    pub results: Vec<Vec<u8>>,
    /// For each parameter the numbers under which host memory has the pieces of its limb; empty if the pieces are in
    /// memory slots of the machine. `host_results` has those of each result.
    pub host_params: Vec<Vec<u16>>,
    pub host_results: Vec<Vec<u16>>,
    pub key_plans: Vec<KeyPlan>,
    /// For each RPAU, the most memory slots in use at once during the procedure. Slots with values of other calls
    /// count too.
    pub peak: [u8; MAX_RPAUS],
    /// The cycles by the scheduler's own clock. Reports show the cycle model's count.
    pub cycles: u64,
}

/// The reason why the scheduler found no schedule for a procedure: too few slots, or a full table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// No operation could be issued for lack of free slots.
    NoRoom,
    /// The procedure has more immediates, seeds or instruction words than the machine's tables can hold.
    TableFull,
}

/// Schedules a procedure for the placement `at` of its operands under the choices `policy`.
///
/// # Errors
/// [`Failure::NoRoom`] if at some point no operation can be issued for lack of slots. [`Failure::TableFull`] if the
/// micro code exceeds the machine's tables.
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
        .map(|r| r.iter().filter_map(|&v| s.slot_of[v as usize]).collect())
        .collect();
    let on_host = |list: &[Vec<ValueIndex>]| {
        let places = |r: &Vec<ValueIndex>| {
            let pieces = r.iter();
            pieces
                .filter_map(|&v| graph.values[v as usize].host)
                .collect()
        };
        list.iter().map(places).collect()
    };
    let code = s.emitter.finish(graph).ok_or(Failure::TableFull)?;
    Ok(Scheduled {
        code,
        results,
        host_params: on_host(&graph.params),
        host_results: on_host(&graph.results),
        key_plans: graph.key_plans.clone(),
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
    /// For each operation the number of its operands that are not computed yet, and of operations that must end before
    /// it.
    pending: Vec<u32>,
    /// For each RPAU the operations that wait for no other operation and are not issued, the most urgent first
    /// (`priority`).
    ready: Vec<Vec<NodeIndex>>,
    slot_of: Vec<Option<u8>>,
    /// For each value the number of operations that read it and have not ended.
    users: Vec<u32>,
    /// For each value whether its slot must not be freed: results, parameters that outlive the call, and values whose
    /// slot a result took over.
    keep: Vec<bool>,
    events: BinaryHeap<Reverse<(u64, NodeIndex)>>,
    /// The position of each operation among the operations of its RPAU, in the procedure's order; 0 for broadcasts
    /// unless the procedure is spilled. `by_rank` has for each RPAU its operations by position. `frontier` has for each
    /// RPAU the first position whose operation is not issued.
    rank: Vec<u32>,
    by_rank: Vec<Vec<NodeIndex>>,
    frontier: Vec<usize>,
    /// For each broadcast of a spilled procedure, its positions among the operations of its source and of its
    /// receivers, as pairs of RPAU and position.
    stations: HashMap<NodeIndex, Vec<(usize, u32)>>,
    /// For each operation those that must follow it though they do not read its results.
    followers: HashMap<NodeIndex, Vec<NodeIndex>>,
    issued: Vec<bool>,
    left: usize,
}

impl<'a> Scheduler<'a> {
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
                // Nothing runs and nothing can be issued: the scheduler gives up its preferences, and if that does
                // not help, the procedure.
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

    /// Issues the most urgent operation that can start now, and returns whether there was one. With `force` the
    /// policy's rules on units, slots and order do not count, except the order of a spilled procedure.
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

    /// Returns a program controller whose thread for `unit` is idle, or `None` if there is none.
    fn stream_for(&self, unit: Unit) -> Option<u8> {
        (0..self.d.controllers as u8)
            .find(|&c| self.board.thread[2 * usize::from(c) + unit as usize] <= self.now)
    }

    fn try_issue(&mut self, n: NodeIndex, force: bool) -> Result<bool, Failure> {
        let node = &self.g.nodes[n as usize];
        let ordered = node.op != Opcode::Bcast || self.g.spilled;
        if ordered && (!force || self.g.spilled) && !self.in_window(n) {
            return Ok(false);
        }
        if node.op == Opcode::Bcast {
            return self.try_broadcast(n, force);
        }
        if node.op.on_link() {
            return self.try_transfer(n, force);
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

    /// Returns the instruction word for an operation on its own RPAU, before the results have slots.
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
            ring: read_ring(node),
            layer: node.layer,
            dst: 0,
            a: as_slot(operand(0)),
            b: match operand(0) {
                Operand::Key(k) => Operand::Key(k), // the limb that a load brings
                _ => operand(1),
            },
            c: as_slot(operand(2)),
            imm: u16::from(node.op == Opcode::Red && node.immediate != Immediate::None),
        }
    }

    /// Returns for every other RPAU the most urgent ready operation that the instruction word `word` could execute
    /// there too, if there is one.
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
                    && (!self.g.spilled || self.in_window(m))
                    && other.layer == node.layer
                    && read_ring(other) == read_ring(node)
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

    fn in_window(&self, n: NodeIndex) -> bool {
        let near = |r: usize, rank: u32| {
            rank <= (self.frontier[r] as u32).saturating_add(self.policy.window)
        };
        let node = &self.g.nodes[n as usize];
        match self.stations.get(&n) {
            Some(stations) => stations.iter().all(|&(r, rank)| near(r, rank)),
            None => near(usize::from(node.rpau), self.rank[n as usize]),
        }
    }

    fn issue(&mut self, word: OpWord, group: &[NodeIndex]) -> Result<(), Failure> {
        let nodes: Vec<&Node> = group.iter().map(|&n| &self.g.nodes[n as usize]).collect();
        let word = self
            .emitter
            .emit(word, &nodes, self.g, &mut self.slots)
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
                if self.g.values[v as usize].host.is_some() {
                    continue;
                }
                let r = usize::from(self.g.values[v as usize].rpau);
                let slot = if i == 0 || node.op == Opcode::Bcast {
                    word.dst
                } else {
                    word.c
                };
                // In place: the operand's slot goes to the result.
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
        for u in self.followers.remove(&n).unwrap_or_default() {
            self.arrived(u);
        }
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
                self.arrived(u);
            }
        }
    }

    /// Counts one more operand of the operation `u` as computed, or one more operation that must end before `u` as
    /// ended. With the last one, `u` becomes ready.
    fn arrived(&mut self, u: NodeIndex) {
        self.pending[u as usize] -= 1;
        if self.pending[u as usize] == 0 {
            self.make_ready(u);
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

/// Returns the polynomial ring that the operation's instruction word names. A coefficient-wise word has no field for
/// the number of a part of the ring and reads no twiddles, so it names the full ring in place of a part. The
/// exception is a word whose operand comes from the generator.
fn read_ring(node: &Node) -> RingKind {
    let generated = node.sources.iter().any(|s| matches!(s, Source::Stream(_)));
    match node.ring {
        RingKind::Part(_) if node.op.is_coefficient_wise() && !generated => RingKind::Full,
        ring => ring,
    }
}

/// Returns whether one instruction word can carry both immediates, each for its own RPAU. Galois elements must be
/// equal. Constants and generator streams may differ, because a row of their tables has one for each RPAU.
fn same_kind(a: Immediate, b: Immediate) -> bool {
    match (a, b) {
        (Immediate::Galois(g), Immediate::Galois(h)) => g == h,
        _ => std::mem::discriminant(&a) == std::mem::discriminant(&b),
    }
}
