// SPDX-License-Identifier: Apache-2.0
//! Finds the functions of bits that one bootstrap computes. Such a function is the sign of a constant plus small
//! multiples of the bits, in eighths of the torus.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::Bit;
use crate::circuit::sum::Sum;

/// The largest number of input bits of a function that one bootstrap may compute.
pub const INPUTS: usize = 4;

/// A gate as a linear sum: a constant plus a factor times each input bit. The gate's value is the sign of the sum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Form {
    inputs: usize,
    factors: [i64; INPUTS],
    constant: i64,
}

impl Form {
    /// Returns the value of the gate's linear sum, in eighths of the torus, if the gate's inputs are the bits of `row`.
    pub fn value(&self, row: usize) -> i64 {
        let factors = self.factors[..self.inputs].iter().enumerate();
        let terms = factors.map(|(i, f)| if row >> i & 1 == 1 { *f } else { -f });
        self.constant + terms.sum::<i64>()
    }

    /// Returns the truth table of the gate. Returns `None` if some inputs give a sum at a point where the sign changes.
    fn table(&self) -> Option<u16> {
        (0..1 << self.inputs).try_fold(0, |table, row| match self.value(row).rem_euclid(8) {
            0 | 4 => None,
            value => Some(table | u16::from(value < 4) << row),
        })
    }

    /// Returns the sum of the squared factors of the gate's input bits. It is the noise variance of the gate's linear
    /// sum as a multiple of one bit's variance.
    pub fn norm(&self) -> u64 {
        let factors = self.factors[..self.inputs].iter();
        factors.map(|f| f.unsigned_abs().pow(2)).sum()
    }

    /// Returns the least distance, in eighths of the torus, from the possible values of the gate's sum to a point where
    /// the sign changes.
    pub fn eighths(&self) -> u32 {
        if self.value(0) % 2 == 0 { 2 } else { 1 }
    }

    /// Returns a measure of how often the gate fails: (noise / distance)^2 of its sum, up to a constant factor. Of two
    /// gates, that with the smaller value fails less often.
    fn weight(&self) -> u64 {
        4 * self.norm() / u64::from(self.eighths()).pow(2)
    }

    /// Returns the gate's linear sum for the input bits `bits`. The sign of this sum is the gate's value.
    pub fn sum(&self, bits: &[Bit]) -> Sum {
        let zero = Sum::constant(self.constant);
        let terms = self.factors.iter().zip(bits);
        terms.fold(zero, |sum, (&factor, bit)| sum.plus(factor, bit.sum()))
    }
}

/// The gates that one bootstrap computes, by their number of inputs and truth table. Of the linear sums with one truth
/// table the map has the first that fails least often ([`Form::weight`]).
static FORMS: LazyLock<HashMap<(usize, u16), Form>> = LazyLock::new(|| {
    let mut forms: HashMap<(usize, u16), Form> = HashMap::new();
    for inputs in 1..=INPUTS {
        for choice in 0..1usize << (2 * inputs) {
            let mut factors = [0; INPUTS];
            for (i, factor) in factors[..inputs].iter_mut().enumerate() {
                *factor = [1, -1, 2, -2][choice >> (2 * i) & 3];
            }
            for constant in -3..=4 {
                let form = Form {
                    inputs,
                    factors,
                    constant,
                };
                let Some(table) = form.table() else { continue };
                let found = forms.entry((inputs, table)).or_insert(form);
                if form.weight() < found.weight() {
                    *found = form;
                }
            }
        }
    }
    forms
});

/// Returns the linear sum that computes a Boolean function of `inputs` bits. Bit `row` of the table is the function's
/// value for the input bits of `row`. Returns `None` if the function takes more than one bootstrap.
pub fn form(inputs: usize, table: u16) -> Option<&'static Form> {
    FORMS.get(&(inputs, table))
}
