// SPDX-License-Identifier: Apache-2.0
//! Sums, differences and comparisons, the lowest bit first: a carry is a majority of three, a bit of the sum their parity.

use super::{Bit, Gates};
use crate::circuit::error::CircuitError;

/// Two bits of a carry-save sum.
pub(super) struct Added {
    pub sum: Bit,
    pub carry: Bit,
}

/// a + b + c.
pub(super) fn full(g: &mut Gates, [a, b, c]: [&Bit; 3]) -> Result<Added, CircuitError> {
    Ok(Added {
        sum: g.of([a, b, c], |[a, b, c]| a ^ b ^ c)?,
        carry: g.of([a, b, c], |[a, b, c]| (a & b) | (c & (a | b)))?,
    })
}

/// a + b, modulo 2^bits: two bootstraps a bit.
///
/// # Errors
/// As all here: [`CircuitError::Noise`].
pub fn plus(g: &mut Gates, a: &[Bit], b: &[Bit]) -> Result<Vec<Bit>, CircuitError> {
    let mut carry = Bit::constant(false);
    let mut bits = Vec::with_capacity(a.len());
    for (a, b) in a.iter().zip(b) {
        let added = full(g, [a, b, &carry])?;
        bits.push(added.sum);
        carry = added.carry;
    }
    Ok(bits)
}

/// a - b, modulo 2^bits, and whether b is the larger.
pub fn difference(g: &mut Gates, a: &[Bit], b: &[Bit]) -> Result<(Vec<Bit>, Bit), CircuitError> {
    let mut borrow = Bit::constant(false);
    let mut bits = Vec::with_capacity(a.len());
    for (a, b) in a.iter().zip(b) {
        bits.push(g.of([a, b, &borrow], |[a, b, c]| a ^ b ^ c)?);
        borrow = below(g, a, b, &borrow)?;
    }
    Ok((bits, borrow))
}

/// Whether a - b - borrow is negative.
fn below(g: &mut Gates, a: &Bit, b: &Bit, borrow: &Bit) -> Result<Bit, CircuitError> {
    g.of([a, b, borrow], |[a, b, c]| (!a & b) | (c & (!a | b)))
}

/// Whether a is less than b, as two's complement where `signed`: a bootstrap a bit.
pub fn less(g: &mut Gates, a: &[Bit], b: &[Bit], signed: bool) -> Result<Bit, CircuitError> {
    let mut borrow = Bit::constant(false);
    let top = a.len() - 1;
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        borrow = if signed && i == top {
            // Top bits the other way turn the order of two's complement into that of unsigned numbers.
            below(g, &a.inverted(), &b.inverted(), &borrow)?
        } else {
            below(g, a, b, &borrow)?
        };
    }
    Ok(borrow)
}

/// Whether they are equal: two bootstraps a bit, one of them in a tree.
pub fn equal(g: &mut Gates, a: &[Bit], b: &[Bit]) -> Result<Bit, CircuitError> {
    let mut same = Vec::with_capacity(a.len());
    for (a, b) in a.iter().zip(b) {
        same.push(g.of([a, b], |[a, b]| a == b)?);
    }
    all(g, same)
}

/// Whether all bits are 1: a tree, so that few are in a row.
pub fn all(g: &mut Gates, mut bits: Vec<Bit>) -> Result<Bit, CircuitError> {
    while bits.len() > 1 {
        let pairs = bits.chunks(2).map(|pair| match pair {
            [a, b] => g.and(a, b),
            _ => Ok(pair[0].clone()),
        });
        bits = pairs.collect::<Result<_, _>>()?;
    }
    Ok(bits.pop().unwrap_or_else(|| Bit::constant(true)))
}

/// Whether any bit is 1.
pub fn any(g: &mut Gates, bits: Vec<Bit>) -> Result<Bit, CircuitError> {
    let inverted = bits.iter().map(Bit::inverted).collect();
    Ok(all(g, inverted)?.inverted())
}

/// -a where the bit is 1: bits above the lowest 1 the other way.
pub fn negated_if(g: &mut Gates, bit: &Bit, a: &[Bit]) -> Result<Vec<Bit>, CircuitError> {
    let mut lower = Bit::constant(false);
    let mut bits = Vec::with_capacity(a.len());
    for a in a {
        bits.push(g.of([a, bit, &lower], |[a, bit, lower]| a ^ (bit & lower))?);
        lower = g.or(&lower, a)?;
    }
    Ok(bits)
}
