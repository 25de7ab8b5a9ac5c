// SPDX-License-Identifier: Apache-2.0
//! Products and sums of encrypted integers. Column j holds the small values that count 4^j. Its values are added and
//! carried until each column has one digit.

use super::{DIGIT, Int};
use crate::circuit::error::CircuitError;
use crate::circuit::graph::ENTRIES;
use crate::circuit::small::{Lookups, Small};

impl Int {
    /// Computes the product of this encrypted integer and another modulo 2^bits. Each pair of digits in base 4 takes
    /// one bootstrap for their product, from 0 to 9, and about one for its carry.
    ///
    /// # Errors
    /// [`CircuitError::Noise`], [`CircuitError::Halt`].
    pub fn times(&self, l: &mut Lookups, other: &Self) -> Result<Self, CircuitError> {
        let (a, b) = (self.digits(l)?, other.digits(l)?);
        let mut columns = vec![Vec::new(); a.len()];
        for (i, a) in a.iter().enumerate() {
            for (j, b) in b.iter().enumerate().take(columns.len() - i) {
                let product = match (a.known(), b.known()) {
                    (Some(x), _) => l.total(&[(x, b)])?,
                    (_, Some(x)) => l.total(&[(x, a)])?,
                    (None, None) => l.lookup(&[(4, a), (1, b)], |x| (x >> 2) * (x & 3))?,
                };
                columns[i + j].push(product);
            }
        }
        Self::carried(l, self.bits, columns)
    }

    /// Computes the sum of encrypted integers modulo 2^bits, where bits is the width of the first.
    ///
    /// # Errors
    /// [`CircuitError::Inputs`] if there are no terms; [`CircuitError::Noise`], [`CircuitError::Halt`].
    pub fn sum(l: &mut Lookups, terms: &[Self]) -> Result<Self, CircuitError> {
        match terms {
            [] => Err(CircuitError::Inputs {
                expected: 1,
                got: 0,
            }),
            [x] => Ok(x.clone()),
            [x, y] => x.plus(l, y),
            [first, ..] => {
                let mut columns = vec![Vec::new(); first.bits.div_ceil(DIGIT) as usize];
                for term in terms {
                    for (column, digit) in columns.iter_mut().zip(term.digits(l)?) {
                        column.push(digit);
                    }
                }
                Self::carried(l, first.bits, columns)
            }
        }
    }

    /// Returns the sum of all columns as an integer, in which a value of column j counts 4^j.
    fn carried(
        l: &mut Lookups,
        bits: u32,
        mut columns: Vec<Vec<Small>>,
    ) -> Result<Self, CircuitError> {
        let mut digits = Vec::with_capacity(columns.len());
        for j in 0..columns.len() {
            let top = j + 1 == columns.len();
            let width = (bits - DIGIT * j as u32).min(DIGIT);
            let (base, most) = (1i64 << width, (1i64 << width) - 1);
            let mut column = std::mem::take(&mut columns[j]);
            let known: i64 = column.iter().filter_map(Small::known).sum();
            column.retain(|x| x.known().is_none());
            if known != 0 {
                column.insert(0, Small::constant(known % base));
                if let Some(next) = columns.get_mut(j + 1) {
                    next.push(Small::constant(known / base));
                }
            }
            let mut waiting: std::collections::VecDeque<Small> = column.into();
            let digit = loop {
                // The sum takes as many values as stay below 16 together, oldest first.
                let mut sum = Small::constant(0);
                let mut left = std::collections::VecDeque::new();
                for x in waiting {
                    if sum.high() + x.high() < ENTRIES as i64 {
                        sum = l.total(&[(1, &sum), (1, &x)])?;
                    } else {
                        left.push_back(x);
                    }
                }
                waiting = left;
                if sum.high() > most {
                    sum = if top {
                        l.lookup(&[(1, &sum)], |x| x % base)?
                    } else {
                        let carry = l.lookup(&[(1, &sum)], |x| x / base)?;
                        columns[j + 1].push(carry.clone());
                        l.total(&[(1, &sum), (-base, &carry)])?
                            .known_within(0, most)
                    };
                }
                if waiting.is_empty() {
                    break sum;
                }
                waiting.push_back(sum);
            };
            digits.push(digit);
        }
        Ok(Self::of_digits(bits, digits))
    }
}
