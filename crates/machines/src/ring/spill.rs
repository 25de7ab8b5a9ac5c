// SPDX-License-Identifier: Apache-2.0
//! Rewrites procedures that need more memory than the ring machine has. Limbs wait on the host and cross its link
//! during the procedure.
//!
//! All decisions are made here, in one order of the procedure: the limb whose next use is farthest away is replaced
//! (Belady); key limbs that come again are an exception ([`plan_keys`]). The scheduler may issue operations ahead of
//! that order as far as slots allow. Its window limits how many operations one operation may overtake.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use ringmill_math::RingKind;

use super::graph::{Graph, Immediate, KeyPlan, Node, NodeIndex, Source, ValueIndex};
use super::micro::Opcode;

/// Returns the operations of the graph in the procedure's order, which changes only where dependences need that.
/// Broadcasts come as late as possible.
fn linear(g: &Graph) -> Vec<NodeIndex> {
    let key = |n: NodeIndex| {
        let node = &g.nodes[n as usize];
        let users = node
            .results
            .iter()
            .flat_map(|&v| &g.values[v as usize].users);
        let order = if node.op == Opcode::Bcast {
            users.map(|&u| g.nodes[u as usize].order).min()
        } else {
            None
        };
        Reverse((order.unwrap_or(node.order), node.is_keyed(), n))
    };
    let mut next: Vec<Vec<NodeIndex>> = vec![Vec::new(); g.nodes.len()];
    let mut open = vec![0u32; g.nodes.len()];
    for (index, node) in g.nodes.iter().enumerate() {
        for &v in &node.results {
            for &u in &g.values[v as usize].users {
                next[index].push(u);
                open[u as usize] += 1;
            }
        }
    }
    for &(first, second) in &g.after {
        next[first as usize].push(second);
        open[second as usize] += 1;
    }
    let ready = (0..g.nodes.len() as NodeIndex).filter(|&n| open[n as usize] == 0);
    let mut heap: BinaryHeap<_> = ready.map(key).collect();
    let mut list = Vec::with_capacity(g.nodes.len());
    while let Some(Reverse((_, _, n))) = heap.pop() {
        list.push(n);
        for &u in &next[n as usize] {
            open[u as usize] -= 1;
            if open[u as usize] == 0 {
                heap.push(key(u));
            }
        }
    }
    list
}

/// Adds loads of key limbs on every RPAU that reads more key limbs than `capacity`, the slots of its key memory. A limb
/// replaces the one whose next use is farthest away, except that a limb that comes again goes to its former slot. Does
/// nothing if `capacity` is 0.
pub fn plan_keys(g: &mut Graph, rpaus: usize, capacity: usize) {
    if g.key_slots <= capacity || capacity == 0 {
        return;
    }
    let order = linear(g);
    for r in 0..rpaus as u8 {
        let reads = order.iter().filter(|&&n| g.nodes[n as usize].rpau == r);
        let reads: Vec<(NodeIndex, u8)> = reads
            .filter_map(|&n| key_of(&g.nodes[n as usize]).map(|k| (n, k)))
            .collect();
        let mut distinct: Vec<u8> = reads.iter().map(|&(_, k)| k).collect();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() > capacity {
            plan_rpau(g, r, capacity, &reads);
        }
    }
}

/// Returns the key index of the key limb that an operation reads.
fn key_of(node: &Node) -> Option<u8> {
    node.sources.iter().find_map(|s| match s {
        Source::Key(k) if node.op != Opcode::Load => Some(*k),
        _ => None,
    })
}

fn plan_rpau(g: &mut Graph, r: u8, capacity: usize, reads: &[(NodeIndex, u8)]) {
    let mut plan = KeyPlan {
        rpau: r,
        slots: Vec::new(),
        entry: Vec::new(),
        exit: Vec::new(),
    };
    // The readers of each slot's limb; `brought` is the node that loaded it.
    let mut readers: Vec<Vec<NodeIndex>> = vec![Vec::new(); capacity];
    let mut brought: Vec<Option<NodeIndex>> = vec![None; capacity];
    for (at, &(n, k)) in reads.iter().enumerate() {
        let slot = match plan.exit.iter().position(|&held| held == k) {
            Some(slot) => slot,
            None if plan.exit.len() < capacity => {
                plan.entry.push(k);
                plan.exit.push(k);
                plan.slots.push((k, plan.exit.len() as u8 - 1));
                plan.exit.len() - 1
            }
            None => {
                let next = |k: u8| reads[at..].iter().position(|&(_, later)| later == k);
                let farthest = plan.exit.iter().enumerate();
                let farthest = farthest.max_by_key(|(_, held)| next(**held).unwrap_or(usize::MAX));
                // The key table is fixed for the call, so a limb that comes again goes to its former slot.
                let had = plan.slots.iter().find(|(index, _)| *index == k);
                let slot = match had {
                    Some((_, slot)) => usize::from(*slot),
                    None => {
                        let slot = farthest.map_or(0, |(slot, _)| slot);
                        plan.slots.push((k, slot as u8));
                        slot
                    }
                };
                let (layer, order) = (g.nodes[n as usize].layer, g.nodes[n as usize].order);
                let load = g.nodes.len() as NodeIndex;
                g.nodes.push(Node {
                    op: Opcode::Load,
                    ring: RingKind::Full,
                    layer,
                    rpau: r,
                    sources: vec![Source::Key(k)],
                    results: Vec::new(),
                    immediate: Immediate::None,
                    order,
                });
                let earlier = readers[slot].drain(..).map(|reader| (reader, load));
                g.after.extend(earlier);
                plan.exit[slot] = k;
                brought[slot] = Some(load);
                slot
            }
        };
        readers[slot].push(n);
        g.after.extend(brought[slot].map(|load| (load, n)));
    }
    g.key_plans.push(plan);
}

/// Returns the procedure with its operands on the host. Loads and stores are added so that no RPAU ever holds more than
/// `capacity` values. Results without room stay on the host. With `split` every broadcast has one receiver, so that its
/// receivers need no common slot. Returns `None` if one instruction alone needs more values.
pub fn spill(g: &Graph, rpaus: usize, capacity: usize, split: bool) -> Option<Graph> {
    let order = linear(g);
    let mut s = Spiller::new(g, rpaus, capacity, &order);
    let mut renumbered: HashMap<NodeIndex, NodeIndex> = HashMap::new();
    for (at, &n) in order.iter().enumerate() {
        let node = &g.nodes[n as usize];
        let parts: Vec<&[ValueIndex]> = if split && node.op == Opcode::Bcast {
            node.results.chunks(1).collect()
        } else {
            vec![&node.results]
        };
        let last = parts.len() - 1;
        for (part, results) in parts.into_iter().enumerate() {
            s.node(node, results, at, part == last)?;
        }
        renumbered.insert(n, s.out.nodes.len() as NodeIndex - 1);
    }
    s.results();
    let mut out = s.out;
    let edge = |(a, b)| Some((*renumbered.get(a)?, *renumbered.get(b)?));
    out.after = g
        .after
        .iter()
        .map(|(a, b)| (a, b))
        .filter_map(edge)
        .collect();
    out.index();
    Some(out)
}

struct Spiller<'a> {
    g: &'a Graph,
    capacity: usize,
    out: Graph,
    /// For each value of the procedure its copy in a memory slot: the value itself, or the result of its last load.
    here: Vec<Option<ValueIndex>>,
    /// For each value its copy on the host, if there is one.
    host: Vec<Option<ValueIndex>>,
    /// For each value the positions, in the order of operations, at which it is read.
    uses: Vec<VecDeque<usize>>,
    /// For each RPAU the values that lie in its memory slots at this point of the procedure.
    held: Vec<Vec<ValueIndex>>,
    frames: u16,
}

impl<'a> Spiller<'a> {
    fn new(g: &'a Graph, rpaus: usize, capacity: usize, order: &[NodeIndex]) -> Self {
        let mut uses = vec![VecDeque::new(); g.values.len()];
        for (at, &n) in order.iter().enumerate() {
            for v in g.nodes[n as usize].values() {
                if uses[v as usize].back() != Some(&at) {
                    uses[v as usize].push_back(at);
                }
            }
        }
        let out = Graph {
            nodes: Vec::new(),
            spilled: true,
            ..g.clone()
        };
        let mut s = Self {
            g,
            capacity,
            out,
            here: vec![None; g.values.len()],
            host: vec![None; g.values.len()],
            uses,
            held: vec![Vec::new(); rpaus],
            frames: 0,
        };
        s.out.params = g
            .params
            .iter()
            .map(|p| p.iter().map(|&v| s.on_host(v)).collect())
            .collect();
        s
    }

    /// Adds a copy of the value `v` in host memory to the graph, and returns the copy.
    fn on_host(&mut self, v: ValueIndex) -> ValueIndex {
        let rpau = self.g.values[v as usize].rpau;
        let place = self.out.value(rpau);
        self.out.values[place as usize].host = Some(self.frames);
        self.host[v as usize] = Some(place);
        self.frames = self.frames.saturating_add(1);
        place
    }

    fn is_result(&self, v: ValueIndex) -> bool {
        self.g.values[v as usize].results > 0
    }

    fn rpau(&self, v: ValueIndex) -> usize {
        usize::from(self.g.values[v as usize].rpau)
    }

    /// Appends an operation to the spilled procedure, after all others.
    fn push(&mut self, node: Node) {
        let order = self.out.nodes.len() as u32;
        self.out.nodes.push(Node { order, ..node });
    }

    /// Appends a load or a store of the value `v` (`op` says which) to the spilled procedure. It reads the copy `from`
    /// and writes the copy `to`; one lies in a memory slot, the other on the host.
    fn transfer(&mut self, op: Opcode, v: ValueIndex, from: ValueIndex, to: ValueIndex) {
        let place = self.host[v as usize].and_then(|h| self.out.values[h as usize].host);
        self.push(Node {
            op,
            ring: RingKind::Full,
            layer: 0,
            rpau: self.g.values[v as usize].rpau,
            sources: vec![Source::Value(from)],
            results: vec![to],
            immediate: Immediate::Host(place.unwrap_or(0)),
            order: 0,
        });
    }

    fn node(&mut self, node: &Node, results: &[ValueIndex], at: usize, last: bool) -> Option<()> {
        let mut operands: Vec<ValueIndex> = node.values().collect();
        operands.sort_unstable();
        operands.dedup();
        for &v in &operands {
            if self.here[v as usize].is_none() {
                self.room(self.rpau(v), 1, &operands)?;
                let from = self.host[v as usize]?;
                let copy = self.out.value(self.g.values[v as usize].rpau);
                self.transfer(Opcode::Load, v, from, copy);
                self.here[v as usize] = Some(copy);
                let r = self.rpau(v);
                self.held[r].push(v);
            }
        }
        if last {
            for &v in &operands {
                let uses = &mut self.uses[v as usize];
                uses.pop_front_if(|next| *next == at);
            }
        }
        let dead = |s: &Self, v: ValueIndex| s.uses[v as usize].is_empty() && !s.is_result(v);
        let dying: Vec<ValueIndex> = operands
            .iter()
            .copied()
            .filter(|&v| dead(self, v))
            .collect();
        let in_place = if node.op.is_permutation() || node.op == Opcode::Bcast {
            0
        } else {
            dying.len()
        };
        for r in 0..self.held.len() {
            let made = results.iter().filter(|&&v| self.rpau(v) == r).count();
            if made > in_place {
                self.room(r, made - in_place, &operands)?;
            }
        }
        let source = |s: &Source| match s {
            Source::Value(v) => Source::Value(self.here[*v as usize].unwrap_or(*v)),
            other => *other,
        };
        let moved = Node {
            sources: node.sources.iter().map(source).collect(),
            results: results.to_vec(),
            ..node.clone()
        };
        self.push(moved);
        for v in dying {
            let r = self.rpau(v);
            self.held[r].retain(|&held| held != v);
            self.here[v as usize] = None;
        }
        for &v in results {
            if !dead(self, v) {
                let r = self.rpau(v);
                self.held[r].push(v);
                self.here[v as usize] = Some(v);
            }
        }
        Some(())
    }

    /// Frees memory slots for `count` more values on RPAU `r`. The values in `needed` keep their slots. Returns `None`
    /// if that is impossible.
    fn room(&mut self, r: usize, count: usize, needed: &[ValueIndex]) -> Option<()> {
        while self.held[r].len() + count > self.capacity {
            let next = |v: &ValueIndex| {
                let next = self.uses[*v as usize].front().copied();
                (next.unwrap_or(usize::MAX), self.host[*v as usize].is_some())
            };
            let candidates = self.held[r].iter().filter(|v| !needed.contains(v));
            let victim = candidates.max_by_key(|v| next(v)).copied()?;
            self.leave(victim);
        }
        Some(())
    }

    /// Removes the value `v` from its memory slot, and sends it to the host unless the host has a copy.
    fn leave(&mut self, v: ValueIndex) {
        if let Some(from) = self.here[v as usize].take()
            && self.host[v as usize].is_none()
        {
            let to = self.on_host(v);
            self.transfer(Opcode::Store, v, from, to);
        }
        let r = self.rpau(v);
        self.held[r].retain(|&held| held != v);
    }

    /// Completes the procedure's results, so that the pieces of each result (each as large as a memory slot) are all in
    /// memory slots or all on the host.
    fn results(&mut self) {
        for pieces in &self.g.results {
            if pieces.iter().any(|&v| self.here[v as usize].is_none()) {
                pieces.iter().for_each(|&v| self.leave(v));
            }
        }
        let place = |v: &ValueIndex| {
            let v = *v as usize;
            self.here[v].or(self.host[v]).unwrap_or(v as ValueIndex)
        };
        let results = self.g.results.iter();
        self.out.results = results.map(|r| r.iter().map(place).collect()).collect();
    }
}
