// SPDX-License-Identifier: Apache-2.0
//! Simplification rules of programs for sums, differences and products.

use super::Simplifier;
use crate::circuit::integer::mask;
use crate::circuit::program::{Binary, Op, Shift, Type, Value};

/// The largest number of bits of an integer for which its product with a constant takes no more
/// bootstraps than a negation.
const FEW: u32 = 4;

/// Returns log2 of the number `bits` if it is a power of two, else `None`.
pub(super) fn log2(bits: u64) -> Option<u32> {
    bits.is_power_of_two().then(|| bits.trailing_zeros())
}

impl Simplifier {
    pub(super) fn sum(&mut self, a: Value, b: Value, kind: Type) -> Option<Value> {
        if self.known(b) == Some(0) {
            return Some(a);
        }
        if self.opposite(a, b) {
            return Some(self.ones(kind));
        }
        for (a, b) in [(a, b), (b, a)] {
            if let Some(y) = self.negated(b) {
                return Some(self.two(Binary::Sub, a, y, kind));
            }
            if let Some((x, y)) = self.parts(Binary::Sub, a)
                && y == b
            {
                return Some(x);
            }
        }
        None
    }

    pub(super) fn difference(&mut self, a: Value, b: Value, kind: Type) -> Option<Value> {
        if a == b {
            return Some(self.constant(kind, 0));
        }
        if let Some(c) = self.known(b) {
            return Some(self.with(Binary::Add, a, -c, kind));
        }
        // -1 - b is the inverse of b.
        if self.known(a).is_some() && self.bits(a) == mask(kind.bits()) {
            return Some(self.make(Op::Not(b), kind));
        }
        if let Some(y) = self.negated(b) {
            return Some(self.two(Binary::Add, a, y, kind));
        }
        if let Some((x, y)) = self.parts(Binary::Sub, b) {
            if self.known(a) == Some(0) {
                return Some(self.two(Binary::Sub, y, x, kind));
            }
            if x == a {
                return Some(y);
            }
        }
        if let Some((x, y)) = self.parts(Binary::Add, a) {
            if x == b {
                return Some(y);
            }
            if y == b {
                return Some(x);
            }
        }
        if let Some((x, y)) = self.parts(Binary::Add, b) {
            if x == a {
                return Some(self.negative(y, kind));
            }
            if y == a {
                return Some(self.negative(x, kind));
            }
        }
        let (x, y) = self.parts(Binary::Sub, a)?;
        (x == b).then(|| self.negative(y, kind))
    }

    pub(super) fn product(&mut self, a: Value, b: Value, kind: Type) -> Option<Value> {
        let c = self.known(b)?;
        let least = self.bits(b);
        let opposite = least.wrapping_neg() & mask(kind.bits());
        if c == 0 {
            return Some(b);
        }
        if let Some(by) = log2(least) {
            return Some(self.shifted(Shift::Left, a, by));
        }
        let by = log2(opposite)?;
        if kind.bits() < by + FEW {
            return None;
        }
        let multiple = self.shifted(Shift::Left, a, by);
        Some(self.negative(multiple, kind))
    }

    /// Simplifies a sum of many terms of one type: adds up the constant terms, and drops zeros.
    /// Returns `None` if there is nothing to simplify.
    pub(super) fn total(&mut self, terms: &[Value], kind: Type) -> Option<Value> {
        let (known, mut rest): (Vec<Value>, Vec<Value>) =
            terms.iter().partition(|&&v| self.known(v).is_some());
        let sum = known
            .iter()
            .fold(0u64, |sum, &v| sum.wrapping_add(self.bits(v)));
        let sum = sum & mask(kind.bits());
        if known.len() > 1 || (known.len() == 1 && sum == 0) {
            if sum != 0 {
                rest.push(self.constant_bits(kind, sum));
            }
            return Some(self.make(Op::Sum(rest), kind));
        }
        match *terms {
            [] => Some(self.constant(kind, 0)),
            [a] => Some(a),
            [a, b] => Some(self.two(Binary::Add, a, b, kind)),
            [_, _, _, ..] => None,
        }
    }
}
