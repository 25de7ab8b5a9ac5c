// SPDX-License-Identifier: Apache-2.0
//! Chooses which lookups of a circuit share a blind rotation. Lookups of one operand can share a rotation, at the price
//! of more noise.

use std::collections::HashMap;

use ringmill_limits::{Halt, Watch};

use super::graph::{Basis, Graph};
use super::sum::Sum;

/// Lets lookups of the same operand share a blind rotation, and tries larger groups of lookups first. Every sum that
/// reads a shared lookup must stay within `limit` times the noise of a wire. A lookup for which this does not hold gets
/// a rotation of its own. Circuits of bits stay unchanged: all their lookups read the sign, so no two of them have one
/// operand.
///
/// # Errors
/// [`Halt`].
pub fn share(mut graph: Graph, limit: u64, watch: &Watch) -> Result<Graph, Halt> {
    if graph.basis == Basis::Bits {
        return Ok(graph);
    }
    let readers = readers(&graph);
    for mut group in groups(&graph) {
        while group.len() > 1 {
            watch.check()?;
            mark(&mut graph, &group, true);
            let loud = |&at: &usize| {
                let sums = readers[at].iter().map(|reader| reader.of(&graph));
                sums.into_iter().any(|sum| graph.norm(sum) > limit)
            };
            let (alone, rest): (Vec<usize>, Vec<usize>) = group.iter().partition(|at| loud(at));
            if alone.is_empty() {
                break;
            }
            mark(&mut graph, &group, false);
            group = rest;
        }
    }
    Ok(graph)
}

fn mark(graph: &mut Graph, group: &[usize], shared: bool) {
    for &at in group {
        graph.lookups[at].shared = shared;
    }
}

/// Returns the groups of at least two lookups with one operand. The largest group comes first, and groups of one size
/// stay in order.
fn groups(graph: &Graph) -> Vec<Vec<usize>> {
    let mut numbers: HashMap<&Sum, usize> = HashMap::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (at, lookup) in graph.lookups.iter().enumerate() {
        let number = *numbers.entry(&lookup.operand).or_insert(groups.len());
        match groups.get_mut(number) {
            Some(group) => group.push(at),
            None => groups.push(vec![at]),
        }
    }
    groups.retain(|group| group.len() > 1);
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    groups
}

/// A sum that reads a lookup: the operand of another lookup, or an output of the circuit.
#[derive(Clone, Copy)]
enum Reader {
    Lookup(usize),
    Output(usize),
}

impl Reader {
    fn of(self, graph: &Graph) -> &Sum {
        match self {
            Self::Lookup(at) => &graph.lookups[at].operand,
            Self::Output(at) => &graph.outputs[at],
        }
    }
}

/// Returns for each lookup of a circuit the sums of wires that read its result.
fn readers(graph: &Graph) -> Vec<Vec<Reader>> {
    let mut readers = vec![Vec::new(); graph.lookups.len()];
    let mut note = |sum: &Sum, reader: Reader| {
        for &(wire, _) in sum.terms() {
            if let Some(at) = graph.source(wire) {
                readers[at].push(reader);
            }
        }
    };
    for (at, lookup) in graph.lookups.iter().enumerate() {
        note(&lookup.operand, Reader::Lookup(at));
    }
    for (at, output) in graph.outputs.iter().enumerate() {
        note(output, Reader::Output(at));
    }
    readers
}
