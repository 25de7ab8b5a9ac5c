// SPDX-License-Identifier: Apache-2.0
//! Sums, differences and comparisons of encrypted bits by gates, from the lowest bit up. A carry is the majority of
//! three bits, a bit of the sum is their parity.

use super::{Bit, Gates};
use crate::circuit::error::CircuitError;

/// The sum bit and the carry bit of a full adder.
pub(super) struct Added {
    pub sum: Bit,
    pub carry: Bit,
}

/// Computes a + b + c of three encrypted bits as a sum bit and a carry bit.
pub(super) fn full(g: &mut Gates, [a, b, c]: [&Bit; 3]) -> Result<Added, CircuitError> {
    Ok(Added {
        sum: g.of([a, b, c], |[a, b, c]| a ^ b ^ c)?,
        carry: g.of([a, b, c], |[a, b, c]| (a & b) | (c & (a | b)))?,
    })
}

/// Computes a + b modulo 2^bits of two encrypted integers, with about two bootstraps for each bit.
///
/// # Errors
/// [`CircuitError::Noise`] if the noise of the parameters is too large; [`CircuitError::Halt`].
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

/// Computes a - b modulo 2^bits of two encrypted integers, and an encrypted bit that tells whether a < b as unsigned
/// integers.
///
/// # Errors
/// [`CircuitError::Noise`], [`CircuitError::Halt`].
pub fn difference(g: &mut Gates, a: &[Bit], b: &[Bit]) -> Result<(Vec<Bit>, Bit), CircuitError> {
    let mut borrow = Bit::constant(false);
    let mut bits = Vec::with_capacity(a.len());
    for (a, b) in a.iter().zip(b) {
        bits.push(g.of([a, b, &borrow], |[a, b, c]| a ^ b ^ c)?);
        borrow = below(g, a, b, &borrow)?;
    }
    Ok((bits, borrow))
}

/// Returns an encrypted bit: whether a - b - borrow is negative, for three encrypted bits.
fn below(g: &mut Gates, a: &Bit, b: &Bit, borrow: &Bit) -> Result<Bit, CircuitError> {
    g.of([a, b, borrow], |[a, b, c]| (!a & b) | (c & (!a | b)))
}

/// Returns an encrypted bit: whether a < b, with one bootstrap for each bit of the integers. `signed` reads both as
/// two's complement.
///
/// # Errors
/// [`CircuitError::Noise`], [`CircuitError::Halt`].
///
/// # Panics
/// May panic if `a` has no bits.
pub fn less(g: &mut Gates, a: &[Bit], b: &[Bit], signed: bool) -> Result<Bit, CircuitError> {
    let mut borrow = Bit::constant(false);
    let top = a.len() - 1;
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        borrow = if signed && i == top {
            // Two's complement compares like unsigned integers once both top bits are inverted.
            below(g, &a.inverted(), &b.inverted(), &borrow)?
        } else {
            below(g, a, b, &borrow)?
        };
    }
    Ok(borrow)
}

/// Returns an encrypted bit: whether a = b, with one bootstrap for the comparison of each pair of bits, and one for
/// each gate of a tree that joins the results.
///
/// # Errors
/// [`CircuitError::Noise`], [`CircuitError::Halt`].
pub fn equal(g: &mut Gates, a: &[Bit], b: &[Bit]) -> Result<Bit, CircuitError> {
    let mut same = Vec::with_capacity(a.len());
    for (a, b) in a.iter().zip(b) {
        same.push(g.of([a, b], |[a, b]| a == b)?);
    }
    all(g, same)
}

/// Returns an encrypted bit: whether all bits of the list are 1, and a known 1 for an empty list. The gates form a
/// tree, which keeps the depth low.
///
/// # Errors
/// [`CircuitError::Noise`], [`CircuitError::Halt`].
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

/// Returns an encrypted bit: whether any bit of the list is 1, and a known 0 for an empty list. The gates form a tree.
///
/// # Errors
/// [`CircuitError::Noise`], [`CircuitError::Halt`].
pub fn any(g: &mut Gates, bits: Vec<Bit>) -> Result<Bit, CircuitError> {
    let inverted = bits.iter().map(Bit::inverted).collect();
    Ok(all(g, inverted)?.inverted())
}

/// Returns -a if the encrypted bit is 1, else a, in two's complement. Negation keeps the bits up to the lowest 1 and
/// inverts those above it.
///
/// # Errors
/// [`CircuitError::Noise`], [`CircuitError::Halt`].
pub fn negated_if(g: &mut Gates, bit: &Bit, a: &[Bit]) -> Result<Vec<Bit>, CircuitError> {
    let mut lower = Bit::constant(false);
    let mut bits = Vec::with_capacity(a.len());
    for a in a {
        bits.push(g.of([a, bit, &lower], |[a, bit, lower]| a ^ (bit & lower))?);
        lower = g.or(&lower, a)?;
    }
    Ok(bits)
}
