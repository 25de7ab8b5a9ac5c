// SPDX-License-Identifier: Apache-2.0
//! Sets up the ring machine's scheduler before the first cycle of a procedure.

use std::collections::{BinaryHeap, HashMap};

use super::{Placement, Scheduler};
use crate::ring::board::Board;
use crate::ring::description::Description;
use crate::ring::emit::Emitter;
use crate::ring::graph::{Graph, Node, NodeIndex, ValueIndex};
use crate::ring::micro::Opcode;
use crate::ring::place::Slots;
use crate::ring::policy::{Policy, priorities};

impl<'a> Scheduler<'a> {
    pub(super) fn new(
        d: &'a Description,
        g: &'a Graph,
        at: &Placement,
        policy: &'a Policy,
    ) -> Self {
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
        for (v, value) in g.values.iter().enumerate() {
            there[v] |= value.host.is_some() && value.def.is_none();
        }
        let waits = |n: &Node| {
            let mut values: Vec<ValueIndex> = n.values().filter(|&v| !there[v as usize]).collect();
            values.sort_unstable();
            values.dedup();
            values.len() as u32
        };
        let mut by_rank: Vec<Vec<NodeIndex>> = vec![Vec::new(); d.rpaus];
        for (index, node) in g.nodes.iter().enumerate() {
            if node.op != Opcode::Bcast || g.spilled {
                by_rank[usize::from(node.rpau)].push(index as NodeIndex);
            }
            if node.op == Opcode::Bcast && g.spilled {
                let receivers = node.results.iter();
                for r in receivers.map(|&v| usize::from(g.values[v as usize].rpau)) {
                    if !by_rank[r].contains(&(index as NodeIndex)) {
                        by_rank[r].push(index as NodeIndex);
                    }
                }
            }
        }
        let mut rank = vec![0; g.nodes.len()];
        let mut stations: HashMap<NodeIndex, Vec<(usize, u32)>> = HashMap::new();
        for (r, list) in by_rank.iter_mut().enumerate() {
            // Products follow the operations for which they wait.
            list.sort_by_key(|&n| (g.nodes[n as usize].order, g.nodes[n as usize].is_keyed()));
            for (position, &n) in list.iter().enumerate() {
                rank[n as usize] = position as u32;
                if g.nodes[n as usize].op == Opcode::Bcast {
                    stations.entry(n).or_default().push((r, position as u32));
                }
            }
        }
        let mut pending: Vec<u32> = g.nodes.iter().map(waits).collect();
        let mut followers: HashMap<NodeIndex, Vec<NodeIndex>> = HashMap::new();
        for &(first, second) in &g.after {
            pending[second as usize] += 1;
            followers.entry(first).or_default().push(second);
        }
        let mut s = Self {
            d,
            g,
            policy,
            board: Board::new(d, g.log_n),
            slots,
            emitter: Emitter::new(d, &g.key_plans),
            now: 0,
            priority: priorities(d, g, policy),
            pending,
            ready: vec![Vec::new(); d.rpaus],
            slot_of,
            users: g.values.iter().map(|v| v.users.len() as u32).collect(),
            keep,
            events: BinaryHeap::new(),
            rank,
            by_rank,
            frontier: vec![0; d.rpaus],
            stations,
            followers,
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
}
