// SPDX-License-Identifier: Apache-2.0
//! Choices by an encrypted bit, and operations on encrypted integers that consist of choices: minimum and maximum,
//! shifts by encrypted amounts, tables.

use super::add::{any, less};
use super::form::INPUTS;
use super::{Bit, Gates};
use crate::circuit::error::CircuitError;
use crate::circuit::integer::{Ends, Shift, moved};

/// Returns the integer a if the encrypted bit is 1, else b, with two bootstraps for each bit of the integers.
///
/// # Errors
/// [`CircuitError::Noise`], [`CircuitError::Halt`].
pub fn select(g: &mut Gates, bit: &Bit, a: &[Bit], b: &[Bit]) -> Result<Vec<Bit>, CircuitError> {
    let each = a.iter().zip(b);
    each.map(|(a, b)| g.mux(bit, a, b)).collect()
}

/// Returns the smaller and the larger of two encrypted integers. `signed` reads both as two's complement. Each bit of
/// the smaller one is the sum of both integers' bits less the bit of the larger one. This costs no bootstrap unless the
/// noise of the sum is too large.
///
/// # Errors
/// [`CircuitError::Noise`], [`CircuitError::Halt`].
pub fn ordered(
    g: &mut Gates,
    a: &[Bit],
    b: &[Bit],
    signed: bool,
) -> Result<(Vec<Bit>, Vec<Bit>), CircuitError> {
    // Both orders give the same result. Trailing zeros of b, or trailing ones of a, cost no bootstrap in the
    // comparison: 1 < x reads the upper bits of x alone, and x < 1 reads all bits.
    let known = |bits: &[Bit]| bits.first().and_then(Bit::known);
    let (a, b) = if known(b) == Some(true) || known(a) == Some(false) {
        (b, a)
    } else {
        (a, b)
    };
    let less = less(g, a, b, signed)?;
    let (mut least, mut most) = (Vec::with_capacity(a.len()), Vec::with_capacity(a.len()));
    for (a, b) in a.iter().zip(b) {
        let larger = g.mux(&less, b, a)?;
        least.push(match g.other([a, b], &larger) {
            Some(smaller) => smaller,
            None => g.mux(&less, a, b)?,
        });
        most.push(larger);
    }
    Ok((least, most))
}

/// Shifts an encrypted integer by a known number of bits, which takes no bootstrap. An amount of the width or more
/// moves all bits out, and a rotation takes the amount modulo the width.
///
/// # Panics
/// If a rotated integer has no bits.
pub fn shifted(of: &[Bit], shift: Shift, by: u64) -> Vec<Bit> {
    let bits = of.len() as u64;
    let by = match shift {
        Shift::RotateLeft => by % bits,
        Shift::Left | Shift::Right | Shift::RightSigned => by.min(bits),
    };
    let zero = Bit::constant(false);
    let ends = Ends {
        zero: &zero,
        top: of.last().unwrap_or(&zero),
    };
    moved(of, shift, by as usize, ends)
}

/// Shifts an encrypted integer by an encrypted, unsigned number of bits. An amount of the width or more moves all bits
/// out. A rotation takes the amount modulo the width, which must be a power of two.
///
/// # Errors
/// [`CircuitError::Refused`] for rotations of other widths, unless the amount is known; [`CircuitError::Noise`],
/// [`CircuitError::Halt`].
///
/// # Panics
/// May panic if `of` has no bits.
pub fn shifted_by(
    g: &mut Gates,
    of: &[Bit],
    shift: Shift,
    by: &[Bit],
) -> Result<Vec<Bit>, CircuitError> {
    let known: Option<u64> = (by.iter().enumerate())
        .map(|(i, bit)| Some(u64::from(bit.known()?) << i))
        .sum();
    if let Some(by) = known {
        return Ok(shifted(of, shift, by));
    }
    if shift == Shift::RotateLeft && !of.len().is_power_of_two() {
        return Err(CircuitError::Refused(format!(
            "an integer of {} bits cannot be rotated by an encrypted number: the width must be a power of two",
            of.len()
        )));
    }
    let stages = (of.len() - 1).checked_ilog2().map_or(0, |x| x + 1);
    let (useful, above) = by.split_at((stages as usize).min(by.len()));
    let mut at = of.to_vec();
    for (i, bit) in useful.iter().enumerate() {
        let there = shifted(&at, shift, 1 << i);
        at = select(g, bit, &there, &at)?;
    }
    if shift == Shift::RotateLeft {
        return Ok(at);
    }
    // A 1 in any higher bit of the amount moves all bits out.
    let far = any(g, above.to_vec())?;
    let empty = shifted(&at, shift, at.len() as u64);
    select(g, &far, &empty, &at)
}

/// Returns the entry at an encrypted index of a table of `bits`-bit integers, or 0 for an index beyond the table's end.
/// Each bit of the result is a tree of choices.
///
/// # Errors
/// [`CircuitError::Noise`], [`CircuitError::Halt`].
pub fn entry(
    g: &mut Gates,
    index: &[Bit],
    bits: u32,
    table: &[u64],
) -> Result<Vec<Bit>, CircuitError> {
    let each = (0..bits).map(|at| {
        let rows = (0..1usize << index.len())
            .map(|i| table.get(i).is_some_and(|entry| entry >> at & 1 == 1))
            .collect::<Vec<bool>>();
        tree(g, index, &rows)
    });
    each.collect()
}

/// Returns the bit `rows[index]` of a known list for an encrypted index, by a tree of choices between two bits.
fn tree(g: &mut Gates, index: &[Bit], rows: &[bool]) -> Result<Bit, CircuitError> {
    match index {
        [rest @ .., top] if index.len() > INPUTS => {
            let (below, above) = rows.split_at(rows.len() / 2);
            let (zero, one) = (tree(g, rest, below)?, tree(g, rest, above)?);
            g.mux(top, &one, &zero)
        }
        _ => {
            let rows = rows.iter().enumerate();
            let table = rows.fold(0, |table, (i, &row)| table | u16::from(row) << i);
            g.table(index, table)
        }
    }
}
