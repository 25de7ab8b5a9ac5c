// SPDX-License-Identifier: Apache-2.0
//! Immediates of the instructions for the steps of bootstrapping. They occur only in procedures that the compiler links
//! into a program.
#![deny(clippy::arithmetic_side_effects)]

use super::op::{MacroNoise, MacroOp};
use crate::numbers::{Galois, Level};

impl MacroOp {
    /// Returns whether the instruction occurs only in procedures that the compiler links into a program.
    pub fn is_linked(self) -> bool {
        self.columns().noise == MacroNoise::Linked
    }
}

/// The automorphisms that an instruction applies, and the choice of the Galois keys that switch the results back to the
/// program's secret.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Elements {
    /// The Galois elements of the automorphisms. Each is odd, above 1 and below 2N.
    pub of: Vec<Galois>,
    /// Whether the instruction uses the Galois keys that bootstrapping has for low levels, instead of the program's
    /// own.
    pub low: bool,
}

/// The automorphisms whose results an instruction adds up, and the level down to which it divides the sum.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Turns {
    pub elements: Elements,
    pub to: Level,
}

/// The immediate of `COMBINE`: integers by which operands are multiplied before they are added.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Combination {
    /// The integer factor of each operand, in order. The last integer is a constant that is added.
    pub integers: Vec<i64>,
    /// The level down to which the instruction divides the sum.
    pub to: Level,
}

/// The first factor of a product of `SUMPROD`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Left {
    Operand(u16),
    /// The factor is the next of the instruction's combinations. A combination is a sum of operands, each times an
    /// integer, plus a constant integer.
    Combination,
}

/// The immediate of `SUMPROD`: a sum of products of operands or of combinations of operands.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Products {
    /// The number of operands that every combination adds, counted from the first operand.
    pub combined: u16,
    /// The two factors of each product. The second factor is the number of an operand.
    pub factors: Vec<(Left, u16)>,
    /// Whether one more combination is added to the sum of products. A combination is a sum of operands, each times an
    /// integer.
    pub tail: bool,
    /// The integers of each combination, in order; the combination that is added to the sum comes last. A combination
    /// has one integer for each operand that it adds, then a constant.
    pub integers: Vec<i64>,
    /// The level down to which the instruction divides the sum.
    pub to: Level,
}

impl Products {
    /// Returns the number of combinations in the instruction.
    pub fn combinations(&self) -> usize {
        let left = self.factors.iter().map(|(left, _)| left);
        let joined = left.filter(|&&left| left == Left::Combination).count();
        joined.saturating_add(usize::from(self.tail))
    }

    /// Returns the number of integers that all combinations of the instruction take together.
    pub fn wanted(&self) -> usize {
        let each = usize::from(self.combined).saturating_add(1);
        self.combinations().saturating_mul(each)
    }

    /// Returns the least number of operands that the instruction must have for all operand numbers in it to be valid.
    pub fn operands(&self) -> usize {
        let named = self.factors.iter().map(|&(left, right)| match left {
            Left::Operand(left) => left.max(right),
            Left::Combination => right,
        });
        let named = named.map(|number| usize::from(number).saturating_add(1));
        named.max().unwrap_or(0).max(self.combined.into())
    }
}
