// SPDX-License-Identifier: Apache-2.0
//! Quotient and remainder: long division, a bit of the dividend brought down at a time.

use super::add::{difference, equal, negated_if};
use super::choose::select;
use super::{Bit, Gates};
use crate::circuit::error::CircuitError;

/// (a / b, a % b) as unsigned integers; by 0 all bits of the quotient are 1 and the remainder is a.
///
/// # Errors
/// [`CircuitError::Noise`].
pub fn divided(g: &mut Gates, a: &[Bit], b: &[Bit]) -> Result<(Vec<Bit>, Vec<Bit>), CircuitError> {
    // Whether any bit of the divisor from here on is 1: then what is left below is smaller.
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

/// (a / b, a % b) as two's complement, the quotient towards 0 and the remainder with the sign of a; by 0 the quotient is -1
/// and the remainder a.
///
/// # Errors
/// [`CircuitError::Noise`].
pub fn divided_signed(
    g: &mut Gates,
    a: &[Bit],
    b: &[Bit],
) -> Result<(Vec<Bit>, Vec<Bit>), CircuitError> {
    let (negative, by_negative) = (&a[a.len() - 1], &b[b.len() - 1]);
    let magnitudes = (negated_if(g, negative, a)?, negated_if(g, by_negative, b)?);
    let (quotient, remainder) = divided(g, &magnitudes.0, &magnitudes.1)?;
    let zero = equal(g, b, &vec![Bit::constant(false); b.len()])?;
    // By 0 the quotient is all ones already, whatever the signs.
    let differ = g.of([negative, by_negative, &zero], |[a, b, zero]| {
        (a ^ b) & !zero
    })?;
    Ok((
        negated_if(g, &differ, &quotient)?,
        negated_if(g, negative, &remainder)?,
    ))
}
