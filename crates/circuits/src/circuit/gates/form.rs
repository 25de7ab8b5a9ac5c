// SPDX-License-Identifier: Apache-2.0
//! Functions of bits that one bootstrap computes: the sign of a constant plus small multiples of the bits, in eighths of the
//! torus.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::Bit;
use crate::circuit::sum::Sum;

/// Inputs of a gate, at most.
pub const INPUTS: usize = 4;

/// `constant` plus each factor times its bit, whose sign is the function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Form {
    inputs: usize,
    factors: [i64; INPUTS],
    constant: i64,
}

impl Form {
    /// The value in eighths of the torus for the inputs that the bits of `row` are.
    fn value(&self, row: usize) -> i64 {
        let factors = self.factors[..self.inputs].iter().enumerate();
        let terms = factors.map(|(i, f)| if row >> i & 1 == 1 { *f } else { -f });
        self.constant + terms.sum::<i64>()
    }

    /// Its truth table; `None` where a value is where the sign changes.
    fn table(&self) -> Option<u16> {
        (0..1 << self.inputs).try_fold(0, |table, row| match self.value(row).rem_euclid(8) {
            0 | 4 => None,
            value => Some(table | u16::from(value < 4) << row),
        })
    }

    /// The sum of the factors' squares.
    pub fn norm(&self) -> u64 {
        let factors = self.factors[..self.inputs].iter();
        factors.map(|f| f.unsigned_abs().pow(2)).sum()
    }

    /// How far in eighths values are from where the sign changes.
    pub fn eighths(&self) -> u32 {
        if self.value(0) % 2 == 0 { 2 } else { 1 }
    }

    /// The square of noise over distance, up to a factor.
    fn weight(&self) -> u64 {
        4 * self.norm() / u64::from(self.eighths()).pow(2)
    }

    /// The sum of these bits whose sign it reads.
    pub fn sum(&self, bits: &[Bit]) -> Sum {
        let zero = Sum::constant(self.constant);
        let terms = self.factors.iter().zip(bits);
        terms.fold(zero, |sum, (&factor, bit)| sum.plus(factor, bit.sum()))
    }
}

/// For each number of inputs and truth table the quietest form.
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

/// The form of the function of so many inputs whose value for input bits `row` is bit `row` of the table; `None` for one that
/// takes more than one bootstrap.
pub fn form(inputs: usize, table: u16) -> Option<&'static Form> {
    FORMS.get(&(inputs, table))
}

#[cfg(test)]
mod tests {
    use super::{FORMS, form};

    #[test]
    fn every_gate_of_two_bits_and_full_adders() {
        // All that depend on both: AND and the like, with norm 2 an eighth away; XOR and XNOR, with 8 two eighths away.
        let of_two: Vec<u16> = (0..16)
            .filter(|t| {
                let of_first = (t & 5) != (t >> 1 & 5);
                let of_second = (t & 3) != (t >> 2 & 3);
                of_first && of_second
            })
            .collect();
        assert_eq!(of_two.len(), 10);
        for table in of_two {
            let form = form(2, table).unwrap();
            let wanted = if matches!(table, 0x6 | 0x9) {
                (8, 2)
            } else {
                (2, 1)
            };
            assert_eq!((form.norm(), form.eighths()), wanted, "{table:x}");
        }
        let (majority, parity) = (form(3, 0xe8).unwrap(), form(3, 0x96).unwrap());
        assert_eq!((majority.norm(), majority.eighths()), (3, 1));
        assert_eq!((parity.norm(), parity.eighths()), (12, 2));
        // A conjunction of three has no form.
        assert_eq!(form(3, 0x80), None);
    }

    #[test]
    fn forms_are_what_their_table_says() {
        for (&(inputs, table), form) in FORMS.iter() {
            for row in 0..1 << inputs {
                let value = form.value(row).rem_euclid(8);
                assert_eq!((1..4).contains(&value), table >> row & 1 == 1);
                let away = value.min(8 - value).min((value - 4).abs());
                assert!(away >= i64::from(form.eighths()));
            }
        }
    }
}
