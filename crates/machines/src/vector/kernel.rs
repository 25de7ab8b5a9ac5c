// SPDX-License-Identifier: Apache-2.0
//! Groups the sums of a procedure into kernels of the vector machine.
//!
//! A **kernel** is the work of the multiply-accumulate unit on one chunk before it takes the next chunk. It has sums
//! that share operands, and sums that are only terms of others and so never leave the registers. A base extension is
//! one kernel, or several if it writes many limbs: the scaled residues stay in registers, and each target is one pass
//! through the accumulator (BASALISC paper, section 6.3).

use std::collections::HashMap;

use super::graph::{Graph, Node, Sum, Term, Value};

/// The number of registers that a kernel (sums that are computed together, chunk by chunk) leaves
/// free for operands that it reads once.
const SPARE: usize = 2;
/// The most sums that one kernel computes together, chunk by chunk, because they share operands.
const MOST: usize = 64;
/// The most limbs that a kernel (sums that are computed together, chunk by chunk) of a base
/// extension writes. At the parameters of the BASALISC paper an extension to 42 targets is three
/// kernels of 14.
pub const PIECE: usize = 16;

/// A group of sums that are computed together, chunk by chunk.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Kernel {
    /// The sums of the kernel, which are computed together, chunk by chunk. They are in the order
    /// of their computation.
    pub sums: Vec<Value>,
    /// The sums among `sums` that are written to the buffer.
    pub written: Vec<Value>,
    /// The values that the kernel (sums that are computed together, chunk by chunk) reads from the
    /// buffer.
    pub reads: Vec<Value>,
}

/// The kernels of a procedure, each a group of sums that are computed together, and the values that lie in the
/// ciphertext buffer.
#[derive(Clone, Debug, Default)]
pub struct Kernels {
    pub kernels: Vec<Kernel>,
    /// For each value, whether it lies in the ciphertext buffer. All values that are no sums do, also parameters and
    /// masks, and so do sums that are results or that transforms, automorphisms or other kernels read.
    pub buffered: Vec<bool>,
}

/// Groups a graph's sums into kernels (sums that are computed together, chunk by chunk). At least two of `registers`
/// registers stay free of sums that only the kernel itself reads. With `share`, sums are also grouped if they share
/// operands, and a kernel of a base extension writes at most `share` limbs.
pub fn kernels(graph: &Graph, registers: usize, share: Option<usize>) -> Kernels {
    let count = graph.nodes.len();
    let mut buffered = vec![false; count];
    let mut mark = |value: Value| {
        if let Some(place) = buffered.get_mut(value) {
            *place = true;
        }
    };
    graph.results.iter().copied().for_each(&mut mark);
    // The sums that another value or a result reads. A sum that became part of others is not among them.
    let mut used = vec![false; count];
    let note = |used: &mut Vec<bool>, value: Value| {
        if let Some(place) = used.get_mut(value) {
            *place = true;
        }
    };
    graph
        .results
        .iter()
        .for_each(|&value| note(&mut used, value));
    for &value in graph.order.iter().rev() {
        let node = graph.nodes.get(value);
        let live = used.get(value) == Some(&true);
        let Some(node) = node.filter(|_| live) else {
            continue;
        };
        for read in node.reads() {
            note(&mut used, read);
            if !matches!(node, Node::Sum(_)) {
                mark(read);
            }
        }
    }
    for (value, node) in graph.nodes.iter().enumerate() {
        if !matches!(node, Node::Sum(_)) {
            mark(value);
        }
    }
    loop {
        let stage = stages(graph, &buffered);
        let mut more = false;
        // Values that sums of other stages read must be in the buffer, or their kernel could wait for itself.
        for &value in graph.order.iter().filter(|&&v| used.get(v) == Some(&true)) {
            let Some(Node::Sum(sum)) = graph.nodes.get(value) else {
                continue;
            };
            for read in sum.reads() {
                let apart = stage.get(read) != stage.get(value);
                if let Some(place) = buffered.get_mut(read).filter(|place| apart && !**place) {
                    *place = true;
                    more = true;
                }
            }
        }
        if more {
            continue;
        }
        let groups = groups(graph, &used, &buffered, &stage, registers, share.is_some());
        for group in &groups {
            let inside = group.iter().filter(|&&v| buffered.get(v) == Some(&false));
            let inside: Vec<Value> = inside.copied().collect();
            if inside.len() + SPARE > registers {
                for value in inside {
                    if let Some(place) = buffered.get_mut(value) {
                        *place = true;
                    }
                }
                more = true;
            }
        }
        if !more {
            let most = share.unwrap_or(usize::MAX);
            let kernels = groups.into_iter();
            let kernels = kernels.flat_map(|sums| pieces(graph, &buffered, &sums, most));
            return Kernels {
                kernels: kernels.collect(),
                buffered,
            };
        }
    }
}

/// Cuts a group of sums into kernels that write at most `most` limbs each, so that other units can work on the
/// first limbs before the last are computed. Each kernel computes again the values that stay in registers. A group
/// stays whole if no value stays in registers, or if one of its sums reads another that it writes to the buffer.
fn pieces(graph: &Graph, buffered: &[bool], sums: &[Value], most: usize) -> Vec<Kernel> {
    let (written, inside): (Vec<Value>, Vec<Value>) = sums
        .iter()
        .partition(|&&value| buffered.get(value) == Some(&true));
    // Values that this group of sums writes and reads again stay in one kernel.
    let reads = |value: &Value| graph.nodes.get(*value).map(Node::reads).unwrap_or_default();
    let chained = sums
        .iter()
        .flat_map(reads)
        .any(|read| written.contains(&read));
    if written.len() <= most || inside.is_empty() || chained {
        return vec![whole(graph, buffered, sums.to_vec())];
    }
    let count = written.len().div_ceil(most);
    let pieces = written.chunks(written.len().div_ceil(count));
    pieces
        .map(|piece| {
            let own = |value: &&Value| inside.contains(value) || piece.contains(value);
            whole(graph, buffered, sums.iter().filter(own).copied().collect())
        })
        .collect()
}

fn whole(graph: &Graph, buffered: &[bool], sums: Vec<Value>) -> Kernel {
    let is_buffered = |value: &Value| buffered.get(*value) == Some(&true);
    let mut reads = Vec::new();
    for &value in &sums {
        for read in graph.nodes.get(value).map(Node::reads).unwrap_or_default() {
            if !sums.contains(&read) && !reads.contains(&read) {
                reads.push(read);
            }
        }
    }
    Kernel {
        written: sums.iter().copied().filter(is_buffered).collect(),
        sums,
        reads,
    }
}

/// Disjoint sets of the graph's values, which can be joined (union-find).
struct Sets(Vec<usize>);

impl Sets {
    fn find(&mut self, mut at: usize) -> usize {
        while let Some(&parent) = self.0.get(at).filter(|&&parent| parent != at) {
            let above = self.0.get(parent).copied().unwrap_or(parent);
            if let Some(place) = self.0.get_mut(at) {
                *place = above;
            }
            at = above;
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        if let Some(place) = self.0.get_mut(a.max(b)) {
            *place = a.min(b);
        }
    }
}

/// Returns the stage of each value: the largest number of buffered values before it on a path in the graph.
fn stages(graph: &Graph, buffered: &[bool]) -> Vec<usize> {
    let mut stage = vec![0usize; graph.nodes.len()];
    for &value in &graph.order {
        let Some(node) = graph.nodes.get(value) else {
            continue;
        };
        let sum = matches!(node, Node::Sum(_));
        let of = node.reads().into_iter().map(|read| {
            let inside = sum && buffered.get(read) == Some(&false);
            stage.get(read).copied().unwrap_or(0) + usize::from(!inside)
        });
        let of = of.max().unwrap_or(0);
        if let Some(place) = stage.get_mut(value) {
            *place = of;
        }
    }
    stage
}

/// Groups sums of the same stage into kernels, so that no kernel depends on itself. A sum's stage is the largest number
/// of buffered values before it on a path in the graph.
fn groups(
    graph: &Graph,
    used: &[bool],
    buffered: &[bool],
    stage: &[usize],
    registers: usize,
    share: bool,
) -> Vec<Vec<Value>> {
    let is = |of: &[bool], value: Value| of.get(value) == Some(&true);
    let mut sets = Sets((0..graph.nodes.len()).collect());
    let sums: Vec<(Value, &Sum)> = graph
        .order
        .iter()
        .filter(|&&value| is(used, value))
        .filter_map(|&value| match graph.nodes.get(value) {
            Some(Node::Sum(sum)) => Some((value, sum)),
            _ => None,
        })
        .collect();
    for &(value, _) in &sums {
        for read in graph.nodes.get(value).map(Node::reads).unwrap_or_default() {
            if !is(buffered, read) {
                sets.join(value, read);
            }
        }
    }
    if share {
        join_for_operands(graph, &sums, stage, &mut sets, registers);
    }
    let mut found: Vec<Vec<Value>> = Vec::new();
    let mut at: HashMap<usize, usize> = HashMap::new();
    for &(value, _) in &sums {
        let root = sets.find(value);
        let group = *at.entry(root).or_insert(found.len());
        match found.get_mut(group) {
            Some(group) => group.push(value),
            None => found.push(vec![value]),
        }
    }
    found
}

/// Joins groups of sums of the same stage that multiply the same operand, which is then read once, if the shared
/// operands fit the registers and the group has at most [`MOST`] sums. A shared limb of a key joins no sums. Sums that
/// share a digit of a ciphertext are joined instead, so that each digit is read once.
fn join_for_operands(
    graph: &Graph,
    sums: &[(Value, &Sum)],
    stage: &[usize],
    sets: &mut Sets,
    registers: usize,
) {
    // For each set, the number of its sums, and the number of reads of each operand of its products.
    let mut sizes: HashMap<usize, usize> = HashMap::new();
    let mut reads: HashMap<usize, HashMap<Value, usize>> = HashMap::new();
    let products = |sum: &Sum| -> Vec<Value> {
        let terms = sum.terms.iter().filter_map(|term| match *term {
            Term::Product(a, b) => Some([a, b]),
            Term::Scaled { .. } => None,
        });
        terms.flatten().collect()
    };
    for &(value, sum) in sums {
        let root = sets.find(value);
        *sizes.entry(root).or_default() += 1;
        let reads = reads.entry(root).or_default();
        for read in products(sum) {
            *reads.entry(read).or_default() += 1;
        }
    }
    let mut first: HashMap<(Value, usize), Value> = HashMap::new();
    for &(value, sum) in sums {
        let at = stage.get(value).copied().unwrap_or(0);
        let operands = products(sum).into_iter();
        for operand in operands.filter(|operand| !graph.keys.contains(operand)) {
            let Some(&other) = first.get(&(operand, at)) else {
                first.insert((operand, at), value);
                continue;
            };
            let (a, b) = (sets.find(other), sets.find(value));
            if a == b {
                continue;
            }
            let together = sizes.get(&a).unwrap_or(&0) + sizes.get(&b).unwrap_or(&0);
            let mut all = reads.get(&a).cloned().unwrap_or_default();
            for (&read, &count) in reads.get(&b).into_iter().flatten() {
                *all.entry(read).or_default() += count;
            }
            let shared = all.values().filter(|&&count| count > 1).count();
            // Each operand may be there twice, as it is and times R.
            if together > MOST || 2 * shared + SPARE > registers {
                first.insert((operand, at), value);
                continue;
            }
            sets.join(a, b);
            let root = sets.find(a);
            sizes.insert(root, together);
            reads.insert(root, all);
        }
    }
}
