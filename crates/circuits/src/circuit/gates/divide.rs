// SPDX-License-Identifier: Apache-2.0
//! Quotient and remainder of encrypted bits by long division, one bit of the dividend at a time.

use super::add::{difference, equal, negated_if};
use super::choose::select;
use super::{Bit, Gates};
use crate::circuit::error::CircuitError;

/// Computes the quotient a / b and the remainder a % b of unsigned encrypted integers. Division by 0 gives a quotient
/// of ones and the remainder a.
///
/// # Panics
/// If `b` has fewer bits than `a`.
///
/// # Errors
/// [`CircuitError::Noise`], [`CircuitError::Halt`].
pub fn divided(g: &mut Gates, a: &[Bit], b: &[Bit]) -> Result<(Vec<Bit>, Vec<Bit>), CircuitError> {
    // For each bit of the divisor, whether that bit or a higher one is 1. If so, the divisor exceeds the shorter rest.
    let mut above = vec![Bit::constant(false)];
    for bit in b.iter().rev() {
        let last = above[above.len() - 1].clone();
        above.push(g.or(&last, bit)?);
    }
    above.reverse();
    let mut rest: Vec<Bit> = Vec::with_capacity(a.len());
    let mut quotient = Vec::with_capacity(a.len());
    for bit in a.iter().rev() {
        rest.insert(0, bit.clone());
        let width = rest.len();
        let (left, borrow) = difference(g, &rest, &b[..width])?;
        let fits = g.of([&borrow, &above[width]], |[borrow, above]| !borrow & !above)?;
        rest = select(g, &fits, &left, &rest)?;
        quotient.push(fits);
    }
    quotient.reverse();
    Ok((quotient, rest))
}

/// Computes the quotient a / b and the remainder a % b of encrypted integers in two's complement. The quotient rounds
/// towards 0, and the remainder has the sign of a. Division by 0 gives the quotient -1 and the remainder a.
///
/// # Panics
/// If `a` has no bits, or `b` has fewer bits than `a`.
///
/// # Errors
/// [`CircuitError::Noise`], [`CircuitError::Halt`].
pub fn divided_signed(
    g: &mut Gates,
    a: &[Bit],
    b: &[Bit],
) -> Result<(Vec<Bit>, Vec<Bit>), CircuitError> {
    let (negative, by_negative) = (&a[a.len() - 1], &b[b.len() - 1]);
    let magnitudes = (negated_if(g, negative, a)?, negated_if(g, by_negative, b)?);
    let (quotient, remainder) = divided(g, &magnitudes.0, &magnitudes.1)?;
    let zero = equal(g, b, &vec![Bit::constant(false); b.len()])?;
    // Division by 0 gives a quotient of ones whatever the signs, so it must not be negated.
    let differ = g.of([negative, by_negative, &zero], |[a, b, zero]| {
        (a ^ b) & !zero
    })?;
    Ok((
        negated_if(g, &differ, &quotient)?,
        negated_if(g, negative, &remainder)?,
    ))
}
