// SPDX-License-Identifier: Apache-2.0
//! Simplification rules of programs for comparisons and choices.

use super::Simplifier;
use crate::circuit::program::{Binary, Comparison, Op, Type, Value};

impl Simplifier {
    pub(super) fn comparison(&mut self, op: Comparison, a: Value, b: Value) -> Option<Value> {
        let constant = |s: &mut Self, value: bool| Some(s.constant(Type::BIT, value.into()));
        match op {
            Comparison::Equal | Comparison::LessOrEqual if a == b => return constant(self, true),
            Comparison::NotEqual | Comparison::Less if a == b => return constant(self, false),
            Comparison::Less | Comparison::LessOrEqual => return None,
            Comparison::Equal | Comparison::NotEqual => {}
        }
        if self.opposite(a, b) {
            return constant(self, op == Comparison::NotEqual);
        }
        // A known operand comes second, and of unknown ones the later.
        if (self.known(a).is_some(), a) > (self.known(b).is_some(), b) {
            return Some(self.make(Op::Compare(op, b, a), Type::BIT));
        }
        let kind = self.kind(a);
        let c = self.known(b)?;
        if kind == Type::BIT {
            let same = (op == Comparison::Equal) == (c == 1);
            return Some(if same {
                a
            } else {
                self.make(Op::Not(a), Type::BIT)
            });
        }
        let (x, y) = match *self.get(a) {
            // x + d = c becomes x = c - d, and likewise for other operations.
            Op::Binary(Binary::Add, x, d) if self.known(d).is_some() => {
                (x, self.two(Binary::Sub, b, d, kind))
            }
            Op::Binary(Binary::Xor, x, d) if self.known(d).is_some() => {
                (x, self.two(Binary::Xor, b, d, kind))
            }
            Op::Binary(Binary::Sub, d, x) if self.known(d).is_some() => {
                (x, self.two(Binary::Sub, d, b, kind))
            }
            Op::Binary(Binary::Sub | Binary::Xor, x, y) if c == 0 => (x, y),
            Op::Not(x) => (x, self.make(Op::Not(b), kind)),
            _ => return None,
        };
        Some(self.make(Op::Compare(op, x, y), Type::BIT))
    }

    pub(super) fn choice(&mut self, [bit, a, b]: [Value; 3], kind: Type) -> Option<Value> {
        if let Some(bit) = self.known(bit) {
            return Some(if bit == 1 { a } else { b });
        }
        if a == b {
            return Some(a);
        }
        if let Op::Not(opposite) = *self.get(bit) {
            return Some(self.make(Op::Select(opposite, b, a), kind));
        }
        // A choice by the same bit inside a branch is already decided.
        let (mut yes, mut no) = (a, b);
        if let Op::Select(inner, x, _) = *self.get(a)
            && inner == bit
        {
            yes = x;
        }
        if let Op::Select(inner, _, y) = *self.get(b)
            && inner == bit
        {
            no = y;
        }
        if (yes, no) != (a, b) {
            return Some(self.make(Op::Select(bit, yes, no), kind));
        }
        match (self.known(a), self.known(b)) {
            (Some(1), Some(0)) if kind == Type::BIT => Some(bit),
            (Some(0), Some(1)) if kind == Type::BIT => Some(self.make(Op::Not(bit), kind)),
            _ => None,
        }
    }
}
