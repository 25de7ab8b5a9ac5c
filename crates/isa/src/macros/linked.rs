// SPDX-License-Identifier: Apache-2.0
//! What the instructions carry that stand in linked procedures alone: the steps of bootstrapping.
#![deny(clippy::arithmetic_side_effects)]

use super::op::{MacroNoise, MacroOp};
use crate::numbers::{Galois, Level};

impl MacroOp {
    /// Whether the instruction stands in procedures alone that the compiler links in.
    pub fn is_linked(self) -> bool {
        self.columns().noise == MacroNoise::Linked
    }
}

/// Automorphisms, and whose keys switch them back.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Elements {
    /// Each odd, above 1 and below 2N.
    pub of: Vec<Galois>,
    /// Whether the keys are those that bootstrapping has for low levels, and not the program's own.
    pub low: bool,
}

/// Automorphisms in sum, and the level that their sum is divided down to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Turns {
    pub elements: Elements,
    pub to: Level,
}

/// Operands times integers in sum.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Combination {
    /// Of each operand; the last one is a constant.
    pub integers: Vec<i64>,
    /// The level that the sum is divided down to.
    pub to: Level,
}

/// The first factor of a product in a sum.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Left {
    Operand(u16),
    /// Operands times integers in sum, and an integer: the next of the instruction's combinations.
    Combination,
}

/// Products in sum.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Products {
    /// How many of the operands, from the first on, combinations are of.
    pub combined: u16,
    /// The factors of each product; the second is an operand.
    pub factors: Vec<(Left, u16)>,
    /// Whether a combination is added.
    pub tail: bool,
    /// Of each combination in order, the tail's last: one an operand that is combined, and a constant.
    pub integers: Vec<i64>,
    /// The level that the sum is divided down to.
    pub to: Level,
}

impl Products {
    /// Combinations that there are.
    pub fn combinations(&self) -> usize {
        let left = self.factors.iter().map(|(left, _)| left);
        let joined = left.filter(|&&left| left == Left::Combination).count();
        joined.saturating_add(usize::from(self.tail))
    }

    /// Integers that there should be.
    pub fn wanted(&self) -> usize {
        let each = usize::from(self.combined).saturating_add(1);
        self.combinations().saturating_mul(each)
    }

    /// Operands that there must be for all that are named.
    pub fn operands(&self) -> usize {
        let named = self.factors.iter().map(|&(left, right)| match left {
            Left::Operand(left) => left.max(right),
            Left::Combination => right,
        });
        let named = named.map(|number| usize::from(number).saturating_add(1));
        named.max().unwrap_or(0).max(self.combined.into())
    }
}
