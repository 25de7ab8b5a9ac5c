// SPDX-License-Identifier: Apache-2.0
//! Products and sums of encrypted integers by gates on bits. Column j holds the bits that count 2^j. A full adder
//! replaces three bits of a column by one bit and a carry into the next column, until each column has one bit.

use std::collections::VecDeque;

use super::add::{full, plus};
use super::{Bit, Gates};
use crate::circuit::error::CircuitError;

/// Computes a * b modulo 2^bits of encrypted integers. Each pair of bits takes one bootstrap for the product and
/// about two to add the product to the sum.
///
/// # Errors
/// [`CircuitError::Noise`], [`CircuitError::Halt`].
pub fn times(g: &mut Gates, a: &[Bit], b: &[Bit]) -> Result<Vec<Bit>, CircuitError> {
    let mut columns = vec![VecDeque::new(); a.len()];
    for (i, a) in a.iter().enumerate() {
        for (j, b) in b.iter().enumerate().take(columns.len() - i) {
            columns[i + j].push_back(g.and(a, b)?);
        }
    }
    carried(g, columns)
}

/// Computes the sum of encrypted integers modulo 2^bits, where bits is the width of the first.
///
/// # Errors
/// [`CircuitError::Inputs`] if there are no terms; [`CircuitError::Noise`], [`CircuitError::Halt`].
pub fn sum(g: &mut Gates, terms: &[&[Bit]]) -> Result<Vec<Bit>, CircuitError> {
    match terms {
        [] => Err(CircuitError::Inputs {
            expected: 1,
            got: 0,
        }),
        [a] => Ok(a.to_vec()),
        [a, b] => plus(g, a, b),
        [first, ..] => {
            let mut columns = vec![VecDeque::new(); first.len()];
            for term in terms {
                for (column, bit) in columns.iter_mut().zip(*term) {
                    column.push_back(bit.clone());
                }
            }
            carried(g, columns)
        }
    }
}

/// Returns the bits of the sum of all columns, in which a bit of column j counts 2^j.
fn carried(g: &mut Gates, mut columns: Vec<VecDeque<Bit>>) -> Result<Vec<Bit>, CircuitError> {
    let mut bits = Vec::with_capacity(columns.len());
    for j in 0..columns.len() {
        let mut column = std::mem::take(&mut columns[j]);
        // Known bits come first, so that they are added to each other without a bootstrap.
        let (known, unknown): (Vec<Bit>, Vec<Bit>) =
            column.drain(..).partition(|bit| bit.known().is_some());
        let ones = known.into_iter().filter(|bit| bit.known() == Some(true));
        let mut column: VecDeque<Bit> = ones.chain(unknown).collect();
        let bit = loop {
            let (a, b, c) = (column.pop_front(), column.pop_front(), column.pop_front());
            let zero = || Bit::constant(false);
            let (Some(a), Some(b)) = (&a, b) else {
                break a.unwrap_or_else(zero);
            };
            let added = full(g, [a, &b, &c.unwrap_or_else(zero)])?;
            if let Some(next) = columns.get_mut(j + 1) {
                next.push_back(added.carry);
            }
            column.push_back(added.sum);
        };
        bits.push(bit);
    }
    Ok(bits)
}
