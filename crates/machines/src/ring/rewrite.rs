// SPDX-License-Identifier: Apache-2.0
//! Rewrites procedures of ring machine operations without changing a bit of their results.

use std::collections::HashSet;

use ringmill_math::RingKind;

use super::graph::{Graph, Immediate, Node, NodeIndex, Source, ValueIndex};
use super::legalise::Unfuse;
use super::micro::Opcode;

/// Transforms the limb of a key-switch digit that its RPAU owns once more, for its product with the
/// key. Without this rewrite, the limb stays in a slot in evaluation form while its coefficients
/// are broadcast over the ring network. With it the broadcast also returns a copy to the owner,
/// which reduces, splits and transforms the copy in step with all other RPAUs. The original's slot
/// then becomes free. NTT(INTT(x)) = x exactly, so no bit changes. If the ring network reduces
/// (`reduces`), the copy needs no reduction.
pub fn retransform(graph: &mut Graph, reduces: bool) {
    let keyed = |graph: &Graph, v: ValueIndex| -> Vec<NodeIndex> {
        let users = graph.values[v as usize].users.iter().copied();
        users
            .filter(|&u| graph.nodes[u as usize].is_keyed())
            .collect()
    };
    let (mut limbs, mut seen) = (Vec::new(), HashSet::new());
    for node in &graph.nodes {
        let whole = matches!(node.op, Opcode::Intt | Opcode::Join) && node.ring == RingKind::Full;
        let parts = if whole {
            parts(graph, node)
        } else {
            Vec::new()
        };
        if !parts.is_empty() && seen.insert(parts.clone()) {
            limbs.push(parts);
        }
    }
    for parts in limbs {
        // The instruction words that end the inverse transform, in the order of the places that they make: both halves
        // of each.
        let ends: Vec<&Node> = graph
            .nodes
            .iter()
            .filter(|n| matches!(n.op, Opcode::Intt | Opcode::Join) && n.ring == RingKind::Full)
            .filter(|n| self::parts(graph, n) == parts)
            .collect();
        let halves = ends.first().map_or(0, |end| end.results.len());
        let coefficients = (0..halves).flat_map(|half| ends.iter().map(move |n| n.results[half]));
        let layer = ends.first().map_or(0, |end| end.layer);
        let broadcasts: Vec<usize> = coefficients
            .filter_map(|v| {
                let users = graph.values[v as usize].users.iter();
                users.map(|&u| u as usize).find(|&u| {
                    let user = &graph.nodes[u];
                    user.op == Opcode::Bcast && (!reduces || user.layer == layer)
                })
            })
            .collect();
        let wanted = parts.iter().any(|&(_, v)| !keyed(graph, v).is_empty());
        if wanted && broadcasts.len() == parts.len() {
            again(graph, &broadcasts, &parts, reduces);
        }
    }
    graph.finish();
}

/// Returns the values of a limb's parts in evaluation form, in order, if the operation ends the limb's inverse
/// transform. Such an operation is the transform itself, or the join of the transformed parts. Returns an empty list
/// for other operations.
fn parts(graph: &Graph, node: &Node) -> Vec<(RingKind, ValueIndex)> {
    if node.op == Opcode::Intt {
        return vec![(node.ring, first(node))];
    }
    let mut all = Vec::new();
    for v in node.values() {
        let def = graph.values[v as usize].def;
        let behind = def.map(|n| &graph.nodes[n as usize]);
        let behind = behind.filter(|n| matches!(n.op, Opcode::Intt | Opcode::Join));
        match behind.map(|n| parts(graph, n)) {
            Some(found) if !found.is_empty() => all.extend(found),
            Some(_) | None => return Vec::new(),
        }
    }
    all
}

/// Returns the first operand of an operation that is a value, or value 0 if it has none.
fn first(node: &Node) -> ValueIndex {
    node.values().next().unwrap_or(0)
}

/// Makes the broadcasts of a key-switch digit's limb also return a copy to the RPAU that sends the limb. Products
/// with keys on that RPAU then read the copy, after another transform, in place of the limb's own evaluation form.
fn again(graph: &mut Graph, broadcasts: &[usize], parts: &[(RingKind, ValueIndex)], reduces: bool) {
    let mut reduced = Vec::new();
    let like = Node {
        op: Opcode::Red,
        ring: RingKind::Full,
        sources: Vec::new(),
        results: Vec::new(),
        immediate: Immediate::None,
        ..graph.nodes[broadcasts[0]].clone()
    };
    for &b in broadcasts {
        let own = graph.nodes[b].results.iter().copied();
        let own = { own }.find(|&v| graph.values[v as usize].rpau == like.rpau);
        let copy = own.unwrap_or_else(|| {
            let copy = graph.value(like.rpau);
            graph.nodes[b].results.push(copy);
            copy
        });
        if reduces {
            reduced.push(Source::Value(copy));
            continue;
        }
        reduced.push(Source::Value(graph.node(Node {
            sources: vec![Source::Value(copy)],
            ..like.clone()
        })));
    }
    let reduced = super::halve::split(graph, &like, reduced);
    for (&(ring, old), source) in parts.iter().zip(reduced) {
        let new = graph.node(Node {
            op: Opcode::Ntt,
            ring,
            sources: vec![source],
            ..like.clone()
        });
        let users = graph.values[old as usize].users.clone();
        for u in users {
            let user = &mut graph.nodes[u as usize];
            if user.is_keyed() {
                user.sources
                    .iter_mut()
                    .filter(|s| **s == Source::Value(old))
                    .for_each(|s| *s = Source::Value(new));
            }
        }
    }
}

/// Fuses a `SUB` and the `MULI` that follows it into one operation, and also a reduction and the addition of a
/// constant that follows it. Both need a first operation whose result nothing else reads.
pub fn fuse(graph: &mut Graph) {
    for index in 0..graph.nodes.len() {
        let (from, to) = match graph.nodes[index].op {
            Opcode::Muli => (Opcode::Sub, Opcode::Subm),
            Opcode::Addi => (Opcode::Red, Opcode::Red),
            _ => continue,
        };
        let value = first(&graph.nodes[index]);
        let Value {
            def: Some(def),
            single: true,
        } = single_use(graph, value)
        else {
            continue;
        };
        let producer = &graph.nodes[def as usize];
        if producer.op == from && producer.immediate == Immediate::None {
            let sources = producer.sources.clone();
            let node = &mut graph.nodes[index];
            node.op = to;
            node.sources = sources;
        }
    }
    graph.finish();
}

/// Lets broadcasts add constants, so that no operation of its own adds them. The receivers add the
/// constants that would be added to their copies, and the source adds the one that would be added
/// before the broadcast.
pub fn add_on_the_way(graph: &mut Graph) {
    let mut taken = vec![false; graph.nodes.len()];
    for b in 0..graph.nodes.len() {
        if graph.nodes[b].op != Opcode::Bcast {
            continue;
        }
        let source = graph.nodes[b].rpau;
        // An RPAU has one constant in a row, so an RPAU that also sends to itself adds none.
        let mut row = vec![(source, 0)];
        for at in 0..graph.nodes[b].results.len() {
            let copy = graph.nodes[b].results[at];
            let value = &graph.values[copy as usize];
            let rpau = value.rpau;
            if rpau == source {
                continue;
            }
            let addition = match value.users.as_slice() {
                &[user] if value.results == 0 => addition(graph, user),
                _ => None,
            };
            row.push((rpau, addition.map_or(0, |(w, _)| w)));
            if let (Some((_, sum)), Some(&user)) = (addition, value.users.first()) {
                graph.nodes[b].results[at] = sum;
                taken[user as usize] = true;
            }
        }
        if let Some((before, w)) = added_before(graph, b) {
            let operand = graph.nodes[before as usize].sources.clone();
            row[0].1 = w;
            graph.nodes[b].sources = operand;
            taken[before as usize] = true;
        }
        if row.iter().any(|&(_, w)| w != 0) {
            graph.nodes[b].immediate = Immediate::Row(graph.addends.len() as u32);
            graph.addends.push(row);
        }
    }
    let mut taken = taken.into_iter();
    graph.nodes.retain(|_| !taken.next().unwrap_or(false));
    graph.finish();
}

/// Returns the constant that an operation adds to its operand, and its result, or `None` if the operation is no
/// addition of a constant.
fn addition(graph: &Graph, n: NodeIndex) -> Option<(u64, ValueIndex)> {
    let node = &graph.nodes[n as usize];
    match (node.op, node.immediate) {
        (Opcode::Addi, Immediate::Scalar(w)) => Some((w, first_result(node))),
        _ => None,
    }
}

/// Returns the addition of a constant whose result only the broadcast `b` reads, with the constant. Returns `None` if
/// there is no such addition, if the broadcast has a receiver on its own RPAU, or if the addition computes in another
/// layer of primes than the receivers. Each layer has one prime for each RPAU.
fn added_before(graph: &Graph, b: usize) -> Option<(NodeIndex, u64)> {
    let node = &graph.nodes[b];
    let value = &graph.values[first(node) as usize];
    let def = value
        .def
        .filter(|_| value.users.len() == 1 && value.results == 0)?;
    let to_itself = |&v: &ValueIndex| graph.values[v as usize].rpau == node.rpau;
    if graph.nodes[def as usize].layer != node.layer || node.results.iter().any(to_itself) {
        return None;
    }
    addition(graph, def).map(|(w, _)| (def, w))
}

/// Returns the first result of an operation; every operation has one.
fn first_result(node: &Node) -> ValueIndex {
    node.results.first().copied().unwrap_or(0)
}

/// Splits accumulations on each RPAU into a multiplication and an addition. `which` says whether all of them are
/// split, or how many of those with a limb of key memory are.
pub fn unfuse(graph: &mut Graph, rpaus: usize, which: Unfuse) {
    let stored = |s: &Source| matches!(s, Source::Key(_));
    let accumulates =
        |n: &Node| n.op == Opcode::Mac && (which == Unfuse::Every || n.sources.iter().any(stored));
    let mut chosen = Vec::new();
    for r in 0..rpaus {
        let here = |n: &Node| usize::from(n.rpau) == r && accumulates(n);
        let mut list: Vec<usize> = (0..graph.nodes.len())
            .filter(|&n| here(&graph.nodes[n]))
            .collect();
        list.sort_by_key(|&n| graph.nodes[n].order);
        match which {
            Unfuse::None => {}
            Unfuse::Every => chosen.extend(list),
            Unfuse::OneIn(every) => chosen.extend(list.into_iter().step_by(every.max(1))),
            Unfuse::Last(count) => chosen.extend(list.into_iter().rev().take(count)),
        }
    }
    for index in chosen {
        let product = graph.value(graph.nodes[index].rpau);
        let node = &mut graph.nodes[index];
        node.op = Opcode::Mul;
        let addend = node.sources.pop();
        let results = std::mem::replace(&mut node.results, vec![product]);
        let sum = Node {
            op: Opcode::Add,
            sources: addend.into_iter().chain([Source::Value(product)]).collect(),
            results,
            // It stands behind the product in its RPAU's order.
            order: node.order + 1,
            ..node.clone()
        };
        graph.nodes.push(sum);
    }
    graph.finish();
}

/// Gives every product with a key the position, in the procedure's order, of the last of the operations that compute
/// its operands. The transforms, splits and reductions that feed the product move to that position, too. A sum of
/// products is one instruction at the mid level, but each term can run when its factors are there. A digit that only
/// one automorphism reads moves to the automorphism's position.
pub fn order(graph: &mut Graph) {
    // Rewrites append nodes behind their users, so one more pass is needed than usual.
    for _ in 0..2 {
        for index in 0..graph.nodes.len() {
            if !graph.nodes[index].is_keyed() {
                continue;
            }
            let defs: Vec<NodeIndex> = graph.nodes[index]
                .values()
                .filter_map(|v| graph.values[v as usize].def)
                .collect();
            if let Some(last) = defs.iter().map(|&n| graph.nodes[n as usize].order).max() {
                graph.nodes[index].order = last;
                defs.into_iter().for_each(|n| postpone(graph, n, last));
            }
        }
    }
    // A digit that only one automorphism reads (in a rotation whose decomposition nothing shares) is due when the
    // automorphism is.
    for index in 0..graph.nodes.len() {
        let node = &graph.nodes[index];
        if !matches!(node.op, Opcode::Auto | Opcode::Autoh) {
            continue;
        }
        let order = node.order;
        let alone = node.values().map(|v| single_use(graph, v));
        let defs: Vec<NodeIndex> = alone.filter(|v| v.single).filter_map(|v| v.def).collect();
        defs.into_iter().for_each(|n| postpone(graph, n, order));
    }
}

/// Moves a transform, and the split and the reduction that feed it, down to position `order` of the procedure.
fn postpone(graph: &mut Graph, n: NodeIndex, order: u32) {
    let node = &mut graph.nodes[n as usize];
    if node.order >= order || !matches!(node.op, Opcode::Ntt | Opcode::Split | Opcode::Red) {
        return;
    }
    node.order = order;
    let defs: Vec<NodeIndex> = graph.nodes[n as usize]
        .values()
        .filter_map(|v| graph.values[v as usize].def)
        .collect();
    defs.into_iter().for_each(|d| postpone(graph, d, order));
}

struct Value {
    def: Option<NodeIndex>,
    single: bool,
}

fn single_use(graph: &Graph, v: ValueIndex) -> Value {
    let value = &graph.values[v as usize];
    Value {
        def: value.def,
        single: value.users.len() == 1 && value.results == 0,
    }
}
