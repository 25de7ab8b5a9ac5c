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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::small::Lookups;
    use crate::circuit::sum::Wire;

    /// Returns a circuit that looks up u / 4, u % 4 and u = 7 for one operand u. A further lookup reads u % 4 times
    /// `factor`.
    fn graph(factor: i64, limit: u64) -> Graph {
        let mut l = Lookups::new(limit, &Watch::default());
        let u = l.input(15);
        let high = l.lookup(&[(1, &u)], |u| u / 4).unwrap();
        let low = l.lookup(&[(1, &u)], |u| u % 4).unwrap();
        let seven = l.lookup(&[(1, &u)], |u| i64::from(u == 7)).unwrap();
        let odd = l.lookup(&[(factor, &low)], |x| x & 1).unwrap();
        l.finish(
            [&high, &low, &seven, &odd]
                .map(|x| x.sum().clone())
                .to_vec(),
        )
        .unwrap()
    }

    #[test]
    fn lookups_of_one_operand_share_a_rotation_where_noise_allows_it() {
        // The steps of u % 4 in halves: twelve times 2, three times -6, and 3 + 0 at the front: 4 (12 + 4 * 9).
        let all = graph(1, 192);
        assert_eq!((all.cost().bootstraps, all.cost().tables), (2, 4));
        assert_eq!(all.norm(&all.lookups[3].operand), 192);
        assert_eq!(all.rotations(), [vec![0, 1, 2], vec![3]]);
        // Without u % 4 the other two lookups still share.
        for (factor, limit) in [(1, 191), (3, 9 * 192 - 1)] {
            let two = graph(factor, limit);
            assert_eq!(two.rotations(), [vec![0, 2], vec![1], vec![3]]);
        }
        assert_eq!(graph(3, 9 * 192).cost().bootstraps, 2);
        assert_eq!(graph(1, 3).cost().bootstraps, 4);
        for u in 0..16 {
            let expected = [u / 4, u % 4, i64::from(u == 7), u & 1];
            for graph in [graph(1, 192), graph(1, 191), graph(1, 3)] {
                assert_eq!(graph.evaluate(&[u as u64]).unwrap(), expected);
            }
        }
    }

    /// Tests that u - 4 (u / 4) - u % 4 is 0 and that its noise cancels, as entries of one blind rotation are not
    /// independent.
    #[test]
    fn sums_of_entries_that_share_are_entries_of_sums() {
        let graph = graph(1, 192);
        let wire = |at: u32| Sum::wire(Wire(graph.inputs + at));
        let u = wire(0).plus(3, &wire(0)).plus(1, &wire(1));
        // The table of u itself: 15 steps of a message, and 15 + 0 at the front.
        assert_eq!(graph.norm(&u), 4 * (15 + 15 * 15));
        assert_eq!(graph.norm(&wire(1).plus(-1, &wire(1))), 0);
        assert_eq!(graph.norm(&Sum::wire(Wire(0)).plus(1, &u)), 961);
    }
}
