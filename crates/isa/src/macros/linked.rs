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

/// The automorphisms that an instruction applies, and the choice of the Galois keys for their key
/// switches.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Elements {
    /// The Galois elements of the automorphisms. Each is odd, above 1 and below 2N.
    pub of: Vec<Galois>,
    /// Whether the instruction uses the Galois keys that a bootstrap has for low levels, instead of
    /// those of the program.
    pub low: bool,
}

/// The immediate of an instruction that adds up automorphisms of its operands: the automorphisms,
/// and the level down to which it divides the sum.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Turns {
    pub elements: Elements,
    pub to: Level,
}

/// The immediate of `MATVEC`: the steps by which an instruction multiplies a matrix, given by its diagonals, by the
/// slots of a ciphertext.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Matrix {
    /// The Galois elements of the automorphisms of the ciphertext. The ciphertext itself is a factor, too.
    pub babies: Vec<Galois>,
    /// The Galois elements of the automorphisms of the sums of products. One more sum is added as it is.
    pub giants: Vec<Galois>,
    /// The level down to which the instruction divides the sum.
    pub to: Level,
}

impl Matrix {
    /// Returns the number of constants: one for each pair of a sum and a factor.
    pub fn constants(&self) -> usize {
        let [factors, sums] = [&self.babies, &self.giants].map(|of| of.len().saturating_add(1));
        factors.saturating_mul(sums)
    }
}

/// The immediate of `COMBINE`: the integer factors of a sum of operands.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Combination {
    /// The integer factor of each operand, in the order of the operands, then an integer that is
    /// added to the sum.
    pub integers: Vec<i64>,
    /// The level down to which the instruction divides the sum.
    pub to: Level,
}

/// The first factor of one product in the instruction `SUMPROD`: an operand, by its number, or a
/// combination of operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Left {
    Operand(u16),
    /// The next of the instruction's combinations. A combination is a sum of operands, each times
    /// an integer, plus a constant integer.
    Combination,
}

/// The immediate of `SUMPROD`: a sum of products of operands or of combinations of operands.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Products {
    /// The number of operands that every combination adds: the first ones of the instruction. A
    /// combination is a sum of operands, each times an integer, plus a constant integer.
    pub combined: u16,
    /// The two factors of each product. The second factor is an operand, by its number.
    pub factors: Vec<(Left, u16)>,
    /// Whether one more combination is added to the sum of products. A combination is a sum of
    /// operands, each times an integer, plus a constant integer.
    pub tail: bool,
    /// The integers of all combinations: first of those in products, in order, then of the one that
    /// is added to the sum. Each has one integer for each operand that it adds, then a constant.
    pub integers: Vec<i64>,
    /// The level down to which the instruction divides the sum.
    pub to: Level,
}

impl Products {
    /// Returns how many combinations (sums of operands, each times an integer) the instruction
    /// `SUMPROD` has.
    pub fn combinations(&self) -> usize {
        let left = self.factors.iter().map(|(left, _)| left);
        let joined = left.filter(|&&left| left == Left::Combination).count();
        joined.saturating_add(usize::from(self.tail))
    }

    /// Returns how many integers the instruction `SUMPROD` must have for all of its combinations.
    pub fn wanted(&self) -> usize {
        let each = usize::from(self.combined).saturating_add(1);
        self.combinations().saturating_mul(each)
    }

    /// Returns the least number of operands with which every operand number in the instruction
    /// `SUMPROD` is valid.
    pub fn operands(&self) -> usize {
        let named = self.factors.iter().map(|&(left, right)| match left {
            Left::Operand(left) => left.max(right),
            Left::Combination => right,
        });
        let named = named.map(|number| usize::from(number).saturating_add(1));
        named.max().unwrap_or(0).max(self.combined.into())
    }
}
