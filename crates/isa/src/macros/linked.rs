// SPDX-License-Identifier: Apache-2.0
//! Immediates of the instructions that stand only in procedures that the compiler links in: the steps of bootstrapping.
#![deny(clippy::arithmetic_side_effects)]

use super::op::{MacroNoise, MacroOp};
use crate::numbers::{Galois, Level};

impl MacroOp {
    /// Returns whether the instruction stands only in procedures that the compiler links in.
    pub fn is_linked(self) -> bool {
        self.columns().noise == MacroNoise::Linked
    }
}

/// Automorphisms, and the Galois keys that switch their results back.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Elements {
    /// The Galois elements, each odd, above 1 and below 2N.
    pub of: Vec<Galois>,
    /// Whether the keys are those of bootstrapping for low levels, instead of the program's own.
    pub low: bool,
}

/// A sum of automorphisms, and the level down to which the sum is divided.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Turns {
    pub elements: Elements,
    pub to: Level,
}

/// A sum of operands times integers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Combination {
    /// The integer of each operand; the last integer is a constant.
    pub integers: Vec<i64>,
    /// The level down to which the sum is divided.
    pub to: Level,
}

/// The first factor of a product in a sum of products.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Left {
    Operand(u16),
    /// The next of the instruction's combinations: a sum of operands times integers, plus an integer.
    Combination,
}

/// A sum of products.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Products {
    /// The number of operands, from the first on, that combinations sum.
    pub combined: u16,
    /// The factors of each product; the second factor is an operand.
    pub factors: Vec<(Left, u16)>,
    /// Whether a combination is added to the sum.
    pub tail: bool,
    /// The integers of each combination in order, the added one last: one for each operand that is combined, and a
    /// constant.
    pub integers: Vec<i64>,
    /// The level down to which the sum is divided.
    pub to: Level,
}

impl Products {
    /// Returns the number of combinations.
    pub fn combinations(&self) -> usize {
        let left = self.factors.iter().map(|(left, _)| left);
        let joined = left.filter(|&&left| left == Left::Combination).count();
        joined.saturating_add(usize::from(self.tail))
    }

    /// Returns the number of integers that the combinations need.
    pub fn wanted(&self) -> usize {
        let each = usize::from(self.combined).saturating_add(1);
        self.combinations().saturating_mul(each)
    }

    /// Returns the number of operands that all named operands need.
    pub fn operands(&self) -> usize {
        let named = self.factors.iter().map(|&(left, right)| match left {
            Left::Operand(left) => left.max(right),
            Left::Combination => right,
        });
        let named = named.map(|number| usize::from(number).saturating_add(1));
        named.max().unwrap_or(0).max(self.combined.into())
    }
}
