// SPDX-License-Identifier: Apache-2.0
//! Labels: the factors between what a ciphertext encodes at its level's scale and what the program means by it.
//!
//! A value with the label c at scale S_l has the ciphertext of v / c at scale S_l, which is the ciphertext of v at
//! scale S_l / c. So a product with a constant only multiplies the label. A label is a product of integer powers of the
//! program's constants, or of two, and is never multiplied out, so two labels are equal exactly if their factors are.

use std::collections::HashMap;

/// The most factors that one label may have, counted with their exponents. If a label would have more, one of the
/// products with constants in it is computed instead. So a label's value has a relative error of at most 2^-46.
const MOST_FACTORS: u64 = 64;

/// A label, the factor between a value and the number that its ciphertext encodes, by its index in [`Labels`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Label(u32);

impl Label {
    /// The label 1, of a value that its ciphertext encodes unchanged at the level's scale.
    pub const ONE: Self = Self(0);
}

/// A label as a product of powers: pairs of a factor, by the bits of its double, and its exponent, in the order of the
/// bits.
type Powers = Vec<(u64, i64)>;

/// All labels of a program, each a product of powers of the program's constants or of two. Each product has one index.
#[derive(Debug)]
pub(super) struct Labels {
    all: Vec<Powers>,
    numbers: HashMap<Powers, Label>,
}

impl Labels {
    pub fn new() -> Self {
        Self {
            all: vec![Powers::new()],
            numbers: HashMap::from([(Powers::new(), Label::ONE)]),
        }
    }

    fn intern(&mut self, powers: Powers) -> Label {
        let next = Label(self.all.len() as u32);
        let all = &mut self.all;
        *self.numbers.entry(powers).or_insert_with_key(|powers| {
            all.push(powers.clone());
            next
        })
    }

    fn powers(&self, label: Label) -> &[(u64, i64)] {
        self.all.get(label.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns the label for a value that is a positive constant times the number that its ciphertext encodes.
    pub fn constant(&mut self, value: f64) -> Label {
        if value == 1.0 {
            return Label::ONE;
        }
        self.intern(vec![(value.to_bits(), 1)])
    }

    /// Returns the label (factor by which the scale is divided) `a b^exponent`, or `None` if the product has too many
    /// factors or too large exponents.
    pub fn times(&mut self, a: Label, b: Label, exponent: i64) -> Option<Label> {
        let mut powers: HashMap<u64, i64> = self.powers(a).iter().copied().collect();
        for &(factor, power) in self.powers(b) {
            let slot = powers.entry(factor).or_insert(0);
            *slot = slot.checked_add(power.checked_mul(exponent)?)?;
        }
        let mut powers: Powers = powers
            .into_iter()
            .filter(|(_, power)| *power != 0)
            .collect();
        let factors = powers.iter().map(|(_, power)| power.unsigned_abs());
        if factors.fold(0, u64::saturating_add) > MOST_FACTORS {
            return None;
        }
        powers.sort_unstable();
        Some(self.intern(powers))
    }

    /// Returns log2 of a label, the factor between a value and the number that its ciphertext encodes.
    pub fn log2(&self, label: Label) -> f64 {
        let powers = self.powers(label).iter();
        powers
            .map(|&(factor, power)| f64::from_bits(factor).log2() * power as f64)
            .sum()
    }

    /// Returns the value of a label, the factor between a value and the number that its ciphertext
    /// encodes, with a relative error of at most 2^-46.
    pub fn value(&self, label: Label) -> f64 {
        let powers = self.powers(label).iter();
        powers
            .map(|&(factor, power)| {
                let power = i32::try_from(power).unwrap_or(i32::MAX);
                f64::from_bits(factor).powi(power)
            })
            .product()
    }
}
