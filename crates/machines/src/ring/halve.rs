// SPDX-License-Identifier: Apache-2.0
//! Splits limbs of rings above the native degree into parts of that degree, and joins them again (Medha paper,
//! section 3.2).
//!
//! A limb in coefficient form consists of pieces, lowest coefficients first. One `SPLIT` takes two pieces with the
//! same position in the low and the high half of the coefficients. It makes the pieces with that position in both
//! halves of the ring. A part of the ring with as many coefficients as a piece is one piece.

use ringmill_math::RingKind;

use super::graph::{Graph, Node, Source};
use super::micro::Opcode;

/// Splits a limb in coefficient form, given as its `pieces` with the lowest coefficients first, and
/// returns the limb's parts in order. The operations that are added to the graph copy the RPAU, the
/// layer of primes (one prime for each RPAU) and the order of `like`.
pub fn split(graph: &mut Graph, like: &Node, pieces: Vec<Source>) -> Vec<Source> {
    split_part(graph, like, pieces, 1)
}

/// Joins the parts of a limb in evaluation form to the limb's pieces in coefficient form, each as
/// large as a memory slot: the inverse of [`split`].
pub fn join(graph: &mut Graph, like: &Node, parts: Vec<Source>) -> Vec<Source> {
    join_part(graph, like, parts, 1)
}

fn split_part(graph: &mut Graph, like: &Node, pieces: Vec<Source>, number: usize) -> Vec<Source> {
    let half = pieces.len() / 2;
    if half == 0 {
        return pieces;
    }
    let (low, high) = pieces.split_at(half);
    let (mut plus, mut minus) = (Vec::new(), Vec::new());
    for (&low, &high) in low.iter().zip(high) {
        let [p, m] = pair(graph, like, Opcode::Split, number, [low, high]);
        plus.push(p);
        minus.push(m);
    }
    let mut parts = split_part(graph, like, plus, 2 * number);
    parts.extend(split_part(graph, like, minus, 2 * number + 1));
    parts
}

fn join_part(graph: &mut Graph, like: &Node, parts: Vec<Source>, number: usize) -> Vec<Source> {
    let half = parts.len() / 2;
    if half == 0 {
        return parts;
    }
    let (plus, minus) = parts.split_at(half);
    let plus = join_part(graph, like, plus.to_vec(), 2 * number);
    let minus = join_part(graph, like, minus.to_vec(), 2 * number + 1);
    let (mut low, mut high) = (Vec::new(), Vec::new());
    for (p, m) in plus.into_iter().zip(minus) {
        let [l, h] = pair(graph, like, Opcode::Join, number, [p, m]);
        low.push(l);
        high.push(h);
    }
    low.extend(high);
    low
}

/// Adds one `SPLIT` or `JOIN` between part `number` of the polynomial ring and the two halves of
/// that part. Part 1 is the whole ring, and part n has the halves 2n and 2n + 1. The instruction
/// word names the first half as its ring, or the full ring if the ring itself is split.
fn pair(
    graph: &mut Graph,
    like: &Node,
    op: Opcode,
    number: usize,
    sources: [Source; 2],
) -> [Source; 2] {
    let ring = match u8::try_from(2 * number) {
        Ok(2) | Err(_) => RingKind::Full,
        Ok(first) => RingKind::of_number(first).unwrap_or(RingKind::Full),
    };
    let first = graph.node(Node {
        op,
        ring,
        sources: sources.to_vec(),
        ..like.clone()
    });
    let second = graph.value(like.rpau);
    if let Some(node) = graph.nodes.last_mut() {
        node.results.push(second);
    }
    [Source::Value(first), Source::Value(second)]
}

/// Returns from which of the 2^`depth` parts of a limb the part `to` comes under the automorphism
/// of a Galois element. The limb has the polynomial's values at psi^e for odd e, with psi a
/// primitive 2N-th root of unity. Part i has those with e = 2 rev(i) + 1 modulo 2^(depth + 1),
/// where rev reverses the `depth` bits of i.
pub fn source(to: usize, depth: u8, galois: u64) -> usize {
    let mask = (2usize << depth) - 1;
    let exponent = (2 * reversed(to, depth) + 1).wrapping_mul(galois as usize) & mask;
    reversed(exponent >> 1, depth)
}

/// Returns the lowest `bits` bits of i in reversed order.
fn reversed(i: usize, bits: u8) -> usize {
    (0..bits).fold(0, |reversed, b| reversed << 1 | i >> b & 1)
}
