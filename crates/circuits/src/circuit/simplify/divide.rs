// SPDX-License-Identifier: Apache-2.0
//! Simplification rules of programs for quotients and remainders. Division by a power of two becomes shifts and masks.

use super::Simplifier;
use super::sum::log2;
use crate::circuit::program::{Binary, Comparison, Op, Shift, Type, Value};

impl Simplifier {
    pub(super) fn quotient(&mut self, a: Value, b: Value, kind: Type) -> Option<Value> {
        if self.known(a) == Some(0) || a == b {
            // Division by 0 gives ones in all bits.
            let zero = self.constant(kind, 0);
            let ones = self.ones(kind);
            let else_is = self.constant(kind, i128::from(a == b));
            let of_zero = (Comparison::Equal, b, zero);
            return Some(self.selected(of_zero, [ones, else_is], kind));
        }
        if let Some(found) = self.unsigned(Binary::Div, a, b, kind) {
            return Some(found);
        }
        let c = self.known(b)?;
        let (low, high) = self.range(a);
        if c == 0 {
            return Some(self.ones(kind));
        }
        if c == 1 {
            return Some(a);
        }
        if low >= 0 && c > 0 {
            if let Some(by) = log2(self.bits(b)) {
                return Some(self.shifted(Shift::Right, a, by));
            }
            if high < 2 * c {
                // The quotient is 1 or 0.
                let bit = self.make(Op::Compare(Comparison::LessOrEqual, b, a), Type::BIT);
                return Some(self.make(Op::Convert(bit), kind));
            }
            // A quotient of a quotient is one quotient by the product of both divisors.
            let (x, d) = self.parts(Binary::Div, a)?;
            let product = c * self.known(d)?;
            let fits = product > 0 && product <= kind.ends().1;
            return fits.then(|| self.with(Binary::Div, x, product, kind));
        }
        if c == kind.ends().0 {
            let bit = self.make(Op::Compare(Comparison::Equal, a, b), Type::BIT);
            return Some(self.make(Op::Convert(bit), kind));
        }
        if c == -1 {
            return Some(self.negative(a, kind));
        }
        if c < 0 {
            let by = log2(c.unsigned_abs() as u64)?;
            return Some(self.quotient_by_negative(a, by, kind));
        }
        let by = log2(self.bits(b))?;
        let biased = self.biased(a, by, kind);
        Some(self.shifted(Shift::RightSigned, biased, by))
    }

    pub(super) fn remainder(&mut self, a: Value, b: Value, kind: Type) -> Option<Value> {
        if self.known(a) == Some(0) || a == b {
            return Some(self.constant(kind, 0));
        }
        if let Some(found) = self.unsigned(Binary::Rem, a, b, kind) {
            return Some(found);
        }
        let c = self.known(b)?;
        let (low, high) = self.range(a);
        if c == 0 {
            return Some(a);
        }
        if c == 1 || c == -1 {
            return Some(self.constant(kind, 0));
        }
        if low >= 0 && c > 0 {
            if high < c {
                return Some(a);
            }
            if log2(self.bits(b)).is_some() {
                return Some(self.with(Binary::And, a, c - 1, kind));
            }
            return None;
        }
        // The sign of the divisor does not change a remainder.
        let Some(by) = log2(c.unsigned_abs() as u64) else {
            return (c < 0).then(|| self.with(Binary::Rem, a, -c, kind));
        };
        // The remainder is the low bits, with ones above them if a is negative and no multiple of 2^by.
        let below = (1 << by) - 1;
        let low = self.with(Binary::And, a, below, kind);
        let above = self.with(Binary::Or, low, !below, kind);
        let zero = self.constant(kind, 0);
        let negative = self.make(Op::Compare(Comparison::Less, a, zero), Type::BIT);
        let left = self.make(Op::Compare(Comparison::NotEqual, low, zero), Type::BIT);
        let both = self.two(Binary::And, negative, left, Type::BIT);
        Some(self.make(Op::Select(both, above, low), kind))
    }

    /// Rewrites a signed quotient or remainder as an unsigned one if neither operand can be negative. Otherwise returns
    /// `None`.
    fn unsigned(&mut self, op: Binary, a: Value, b: Value, kind: Type) -> Option<Value> {
        if !kind.signed() || self.range(a).0 < 0 || self.range(b).0 < 0 {
            return None;
        }
        let plain = Type::new(kind.bits(), false).ok()?;
        let [a, b] = [a, b].map(|v| self.make(Op::Convert(v), plain));
        let found = self.two(op, a, b, plain);
        Some(self.make(Op::Convert(found), kind))
    }

    /// Returns instructions for a / -2^by, rounded towards 0. They take -1 - a, add 1 if a is negative and else 2^by,
    /// and shift right. If a is negative the quotient is not, so the shift must not extend a sign that comes from
    /// overflow.
    fn quotient_by_negative(&mut self, a: Value, by: u32, kind: Type) -> Value {
        let zero = self.constant(kind, 0);
        let negative = self.make(Op::Compare(Comparison::Less, a, zero), Type::BIT);
        let (one, step) = (self.constant(kind, 1), self.constant(kind, 1 << by));
        let more = self.make(Op::Select(negative, one, step), kind);
        let opposite = self.make(Op::Not(a), kind);
        let sum = self.two(Binary::Add, opposite, more, kind);
        let low = self.shifted(Shift::Right, sum, by);
        let above = self.with(Binary::Or, low, !0 << (kind.bits() - by), kind);
        let top = self.make(Op::Compare(Comparison::Less, sum, zero), Type::BIT);
        let positive = self.make(Op::Not(negative), Type::BIT);
        let sign = self.two(Binary::And, top, positive, Type::BIT);
        self.make(Op::Select(sign, above, low), kind)
    }

    /// Returns instructions for a + 2^by - 1 if a is negative, else a. A right shift of the result gives a / 2^by,
    /// rounded towards 0.
    fn biased(&mut self, a: Value, by: u32, kind: Type) -> Value {
        let sign = self.shifted(Shift::RightSigned, a, kind.bits() - 1);
        let bias = self.with(Binary::And, sign, (1 << by) - 1, kind);
        self.two(Binary::Add, a, bias, kind)
    }
}
