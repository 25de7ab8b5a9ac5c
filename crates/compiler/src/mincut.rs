// SPDX-License-Identifier: Apache-2.0
//! Finds a smallest set of nodes that separates sources from sinks in a directed graph (Menger), by Dinic's blocking
//! flows on the graph with each node split in two. Every search keeps its own stack, so long chains cannot overflow the
//! stack of the process.

use std::collections::VecDeque;

/// A flow network as lists of edges that leave each node. The reverse of edge `e` is `e ^ 1`.
struct Network {
    first: Vec<u32>,
    next: Vec<u32>,
    to: Vec<u32>,
    room: Vec<u32>,
}

const NONE: u32 = u32::MAX;
const UNBOUNDED: u32 = u32::MAX / 2;

impl Network {
    fn new(nodes: usize) -> Self {
        Self {
            first: vec![NONE; nodes],
            next: Vec::new(),
            to: Vec::new(),
            room: Vec::new(),
        }
    }

    fn edge(&mut self, from: usize, to: usize, room: u32) {
        for (a, b, room) in [(from, to, room), (to, from, 0)] {
            self.next.push(self.first[a]);
            self.first[a] = self.to.len() as u32;
            self.to.push(b as u32);
            self.room.push(room);
        }
    }

    /// Returns for each node its distance from `source` along edges that have capacity left, or [`NONE`] if no such
    /// path leads to the node.
    fn distances(&self, source: usize) -> Vec<u32> {
        let mut distance = vec![NONE; self.first.len()];
        let mut queue = VecDeque::from([source]);
        distance[source] = 0;
        while let Some(node) = queue.pop_front() {
            let mut e = self.first[node];
            while e != NONE {
                let to = self.to[e as usize] as usize;
                if self.room[e as usize] > 0 && distance[to] == NONE {
                    distance[to] = distance[node] + 1;
                    queue.push_back(to);
                }
                e = self.next[e as usize];
            }
        }
        distance
    }

    /// Adds paths of unit flow from `source` to `sink` until none is left. Along a path each node is farther from the
    /// source than the node before (one phase of Dinic's algorithm).
    fn block(&mut self, source: usize, sink: usize, distance: &[u32]) {
        let mut arc = self.first.clone();
        let mut path: Vec<usize> = Vec::new();
        let mut node = source;
        loop {
            if node == sink {
                for &e in &path {
                    self.room[e] -= 1;
                    self.room[e ^ 1] += 1;
                }
                path.clear();
                node = source;
                continue;
            }
            let e = arc[node];
            if e == NONE {
                // A dead end: leave it for good, by the edge on which the search came.
                let Some(back) = path.pop() else { return };
                node = self.to[back ^ 1] as usize;
                arc[node] = self.next[back];
                continue;
            }
            let to = self.to[e as usize] as usize;
            if self.room[e as usize] > 0 && distance[to] == distance[node] + 1 {
                path.push(e as usize);
                node = to;
            } else {
                arc[node] = self.next[e as usize];
            }
        }
    }
}

/// Returns a smallest set of nodes that every path from a source to a sink (both included) meets. Of several smallest
/// sets it is the one nearest the sources. `edges` are pairs of the node that an edge leaves and the node that it
/// enters. `sources` and `sinks` hold one flag for each node.
pub fn min_vertex_cut(edges: &[(u32, u32)], sources: &[bool], sinks: &[bool]) -> Vec<bool> {
    let nodes = sources.len();
    let (source, sink) = (2 * nodes, 2 * nodes + 1);
    let (enter, leave) = (|v: usize| 2 * v, |v: usize| 2 * v + 1);
    let mut network = Network::new(2 * nodes + 2);
    for v in 0..nodes {
        network.edge(enter(v), leave(v), 1);
        if sources[v] {
            network.edge(source, enter(v), UNBOUNDED);
        }
        if sinks[v] {
            network.edge(leave(v), sink, UNBOUNDED);
        }
    }
    for &(a, b) in edges {
        network.edge(leave(a as usize), enter(b as usize), UNBOUNDED);
    }
    loop {
        let distance = network.distances(source);
        if distance[sink] == NONE {
            return (0..nodes)
                .map(|v| distance[enter(v)] != NONE && distance[leave(v)] == NONE)
                .collect();
        }
        network.block(source, sink, &distance);
    }
}
