// SPDX-License-Identifier: Apache-2.0
//! Lets RPAUs (residue polynomial arithmetic units) without a prime of the program compute a part of another RPAU's
//! key-switch sums.
//!
//! The special prime has no digit of its own. So its RPAU transforms one digit more than any other,
//! and the mod-down waits for its sums. An RPAU that is also built for that prime (`stand_in`)
//! takes some of the digits: their transforms and their products, and so a partial sum. The partial
//! sum goes over the ring network to be added. Sums of residues are exact in any order, so no bit
//! changes.

use std::collections::BTreeMap;

use super::description::Description;
use super::graph::{Graph, Immediate, Node, NodeIndex, Source, ValueIndex};
use super::micro::Opcode;

/// Lets every RPAU of the description's field `stand_in` for which the program has no prime compute a part of another
/// RPAU's key-switch sums. `count` is the number of the program's primes.
pub fn share(d: &Description, graph: &mut Graph, count: usize) {
    let mut helpers: BTreeMap<u8, Vec<u8>> = BTreeMap::new();
    for s in d
        .stand_in
        .iter()
        .filter(|s| s.rpau >= count && s.prime < count)
    {
        helpers.entry(s.prime as u8).or_default().push(s.rpau as u8);
    }
    for (owner, helpers) in helpers {
        // Only layer 0, in which each RPAU has one prime, is shared.
        if count <= d.rpaus {
            share_one(graph, owner, &helpers);
        }
    }
}

fn share_one(graph: &mut Graph, owner: u8, helpers: &[u8]) {
    let sums: Vec<Vec<NodeIndex>> = sums(graph, owner);
    let digits = digits(graph, &sums);
    // Digits go to the owner and its helpers in turn.
    let hands: Vec<u8> = std::iter::once(owner)
        .chain(helpers.iter().copied())
        .collect();
    let hand = |at: usize| hands.get(at % hands.len()).copied().unwrap_or(owner);
    // The map has a fixed order: earlier values are numbered first, and the scheduler goes by numbers.
    let home: BTreeMap<ValueIndex, u8> = digits
        .iter()
        .enumerate()
        .map(|(at, &v)| (v, hand(at)))
        .collect();
    if home.values().all(|&r| r == owner) {
        return;
    }
    for (&digit, &r) in &home {
        relocate(graph, digit, r);
    }
    for sum in &sums {
        part(graph, owner, sum, &home);
    }
    for (param, home) in graph.key_homes.iter_mut().enumerate() {
        let Some(&Some(base)) = graph.keys.get(param) else {
            continue;
        };
        let reads = |n: &&Node| n.sources.contains(&Source::Key(base));
        let elsewhere = |n: &Node| helpers.contains(&n.rpau).then_some(n.rpau);
        if *home == owner {
            let reader = graph.nodes.iter().filter(reads).find_map(elsewhere);
            *home = reader.unwrap_or(owner);
        }
    }
    for &helper in helpers {
        graph.primes[usize::from(helper)] = owner;
    }
    graph.finish();
}

/// Returns the sums of two or more products with keys on the RPAU `owner`, each as its operations from the first
/// product on. Only the next operation reads an intermediate sum.
fn sums(graph: &Graph, owner: u8) -> Vec<Vec<NodeIndex>> {
    let opens = |n: &Node| n.rpau == owner && n.layer == 0 && n.op == Opcode::Mul && n.is_keyed();
    let firsts = (0..graph.nodes.len()).filter(|&n| opens(&graph.nodes[n]));
    let chain = |first: usize| {
        let mut chain = vec![first as NodeIndex];
        loop {
            let last = chain.last().map_or(first, |&n| n as usize);
            let Some(&sum) = graph.nodes[last].results.first() else {
                return chain;
            };
            let value = &graph.values[sum as usize];
            let next = match value.users.as_slice() {
                &[user] if value.results == 0 => user,
                _ => return chain,
            };
            let node = &graph.nodes[next as usize];
            let adds = node.op == Opcode::Mac && node.is_keyed();
            if !adds || node.sources.get(2) != Some(&Source::Value(sum)) {
                return chain;
            }
            chain.push(next);
        }
    };
    firsts.map(chain).filter(|chain| chain.len() > 1).collect()
}

/// Returns the key-switch digits that the sums multiply, in order. They are transforms of a broadcast's copies that
/// only the sums read.
fn digits(graph: &Graph, sums: &[Vec<NodeIndex>]) -> Vec<ValueIndex> {
    let terms = || sums.iter().flatten().map(|&n| &graph.nodes[n as usize]);
    let mut digits: Vec<ValueIndex> = terms().filter_map(factor).collect();
    digits.sort_unstable();
    digits.dedup();
    let inside = |v: &ValueIndex| {
        let users = &graph.values[*v as usize].users;
        let summed = |n: &NodeIndex| sums.iter().any(|s| s.contains(n));
        users.iter().all(summed) && graph.values[*v as usize].results == 0
    };
    digits.retain(|v| inside(v) && arrives(graph, *v).is_some());
    let order = |v: &ValueIndex| {
        graph.values[*v as usize]
            .def
            .map(|n| graph.nodes[n as usize].order)
    };
    digits.sort_by_key(|v| (order(v), *v));
    digits
}

/// Returns the operand of a product with a key that is not the key.
fn factor(node: &Node) -> Option<ValueIndex> {
    match node.sources.first() {
        Some(&Source::Value(v)) => Some(v),
        _ => None,
    }
}

/// Returns the operations that compute a digit from a broadcast's copy: a transform, and perhaps a reduction before it.
/// Each is the only reader of its operand. Returns `None` for a value that is not computed in this way.
fn arrives(graph: &Graph, digit: ValueIndex) -> Option<Vec<NodeIndex>> {
    let mut made = Vec::new();
    let mut v = digit;
    loop {
        let def = graph.values[v as usize].def?;
        let node = &graph.nodes[def as usize];
        match node.op {
            Opcode::Bcast => return Some(made),
            Opcode::Ntt | Opcode::Red => {}
            _ => return None,
        }
        made.push(def);
        v = factor(node)?;
        let value = &graph.values[v as usize];
        if value.users.len() > 1 || value.results > 0 {
            return None;
        }
    }
}

/// Moves the operations that compute a key-switch digit, and the broadcast's copy that they read, to RPAU `r`.
fn relocate(graph: &mut Graph, digit: ValueIndex, r: u8) {
    graph.values[digit as usize].rpau = r;
    for n in arrives(graph, digit).unwrap_or_default() {
        graph.nodes[n as usize].rpau = r;
        if let Some(v) = factor(&graph.nodes[n as usize]) {
            graph.values[v as usize].rpau = r;
            send_apart(graph, v);
        }
    }
}

/// Gives a value a broadcast of its own, in place of one broadcast to several RPAUs. An RPAU that takes a part of a
/// sum can then receive the digit when it is ready, into any slot.
fn send_apart(graph: &mut Graph, v: ValueIndex) {
    let Some(def) = graph.values[v as usize].def else {
        return;
    };
    let node = &mut graph.nodes[def as usize];
    if node.op == Opcode::Bcast && node.results.len() > 1 {
        node.results.retain(|&result| result != v);
        let apart = Node {
            results: vec![v],
            ..node.clone()
        };
        graph.nodes.push(apart);
    }
}

/// Splits a key-switch sum into one partial sum for each RPAU that has some of its digits. The RPAU `owner` adds up
/// the partial sums.
fn part(graph: &mut Graph, owner: u8, sum: &[NodeIndex], home: &BTreeMap<ValueIndex, u8>) {
    let Some(&total) = sum
        .last()
        .and_then(|&n| graph.nodes[n as usize].results.first())
    else {
        return;
    };
    let order = sum
        .iter()
        .map(|&n| graph.nodes[n as usize].order)
        .max()
        .unwrap_or(0);
    // The running sum of each RPAU.
    let mut parts: BTreeMap<u8, ValueIndex> = BTreeMap::new();
    for &n in sum {
        let digit = factor(&graph.nodes[n as usize]);
        let r = digit.and_then(|v| home.get(&v)).copied().unwrap_or(owner);
        let result = graph.value(r);
        let node = &mut graph.nodes[n as usize];
        node.rpau = r;
        node.results = vec![result];
        node.sources.truncate(2);
        node.op = Opcode::Mul;
        if let Some(before) = parts.insert(r, result) {
            node.op = Opcode::Mac;
            node.sources.push(Source::Value(before));
        }
    }
    let mut own = parts.remove(&owner);
    let like = |op, rpau, sources| Node {
        op,
        ring: ringmill_math::RingKind::Full,
        layer: 0,
        rpau,
        sources,
        results: Vec::new(),
        immediate: Immediate::None,
        order,
    };
    for (r, theirs) in parts {
        let copy = graph.value(owner);
        graph.nodes.push(Node {
            results: vec![copy],
            ..like(Opcode::Bcast, r, vec![Source::Value(theirs)])
        });
        own = Some(match own {
            None => copy,
            Some(own) => {
                let sources = vec![Source::Value(own), Source::Value(copy)];
                graph.node(like(Opcode::Add, owner, sources))
            }
        });
    }
    // The last part makes the result of the sum.
    for node in &mut graph.nodes {
        let last = node.results.iter_mut().filter(|v| Some(**v) == own);
        last.for_each(|v| *v = total);
    }
}
