// SPDX-License-Identifier: Apache-2.0
//! Simplification rules of programs for and, or, exclusive or, not, minimum and maximum. Minimum and maximum obey the
//! same laws of absorption as and and or.

use super::Simplifier;
use crate::circuit::integer::mask;
use crate::circuit::program::{Binary, Op, Type, Value};

impl Simplifier {
    pub(super) fn conjunction(&mut self, a: Value, b: Value, kind: Type) -> Option<Value> {
        if self.opposite(a, b) {
            return Some(self.constant(kind, 0));
        }
        let absorbed = self.absorbed([Binary::And, Binary::Or], a, b);
        if absorbed.is_some() {
            return absorbed;
        }
        self.known(b)?;
        let bits = self.bits(b);
        // A mask of low bits changes nothing if all values of a lie below it.
        let (low, high) = self.range(a);
        let holds = bits & bits.wrapping_add(1) == 0 && low >= 0 && high <= bits.into();
        (holds || bits == mask(kind.bits())).then_some(a)
    }

    pub(super) fn disjunction(&mut self, a: Value, b: Value, kind: Type) -> Option<Value> {
        if self.opposite(a, b) {
            return Some(self.ones(kind));
        }
        let absorbed = self.absorbed([Binary::Or, Binary::And], a, b);
        if absorbed.is_some() {
            return absorbed;
        }
        self.known(b)?;
        match self.bits(b) {
            0 => Some(a),
            bits if bits == mask(kind.bits()) => Some(b),
            _ => None,
        }
    }

    pub(super) fn exclusive(&mut self, a: Value, b: Value, kind: Type) -> Option<Value> {
        if a == b {
            return Some(self.constant(kind, 0));
        }
        if self.opposite(a, b) {
            return Some(self.ones(kind));
        }
        for (a, b) in [(a, b), (b, a)] {
            match self.parts(Binary::Xor, a) {
                Some((x, y)) if y == b => return Some(x),
                Some((x, y)) if x == b => return Some(y),
                Some(_) | None => {}
            }
        }
        self.known(b)?;
        match self.bits(b) {
            0 => Some(a),
            bits if bits == mask(kind.bits()) => Some(self.make(Op::Not(a), kind)),
            _ => None,
        }
    }

    pub(super) fn inverse(&mut self, a: Value) -> Option<Value> {
        match self.get(a) {
            Op::Not(x) => Some(*x),
            _ => None,
        }
    }

    /// Simplifies the minimum or the maximum of two values. `op` is the operation. `dual` is the other one: the maximum
    /// for a minimum, and the minimum for a maximum.
    pub(super) fn extreme(&mut self, [op, dual]: [Binary; 2], a: Value, b: Value) -> Option<Value> {
        let ((a_low, a_high), (b_low, b_high)) = (self.range(a), self.range(b));
        let [lower, upper] = if a_high <= b_low {
            [a, b]
        } else if b_high <= a_low {
            [b, a]
        } else {
            return self.absorbed([op, dual], a, b);
        };
        Some(if op == Binary::Min { lower } else { upper })
    }

    /// Simplifies x op x, (x op y) op y and (x dual y) op y for an operation `op` and its dual `dual`. The two are and
    /// and or, or minimum and maximum.
    fn absorbed(&self, [op, dual]: [Binary; 2], a: Value, b: Value) -> Option<Value> {
        if a == b {
            return Some(a);
        }
        let takes = |op: Binary, of: Value, v: Value| {
            let parts = self.parts(op, of);
            parts.is_some_and(|(x, y)| x == v || y == v)
        };
        for (a, b) in [(a, b), (b, a)] {
            if takes(op, a, b) {
                return Some(a);
            }
            if takes(dual, a, b) {
                return Some(b);
            }
        }
        None
    }
}
