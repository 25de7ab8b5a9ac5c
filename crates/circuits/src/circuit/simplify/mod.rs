// SPDX-License-Identifier: Apache-2.0
//! Simplifies programs: removes operations that change nothing or have a constant result, and replaces expensive
//! operations by cheaper ones.
//!
//! Each instruction is made anew by the rules of its operation, on simplified operands. Equal instructions are made
//! once, and an instruction with a known value becomes a constant.
//!
//! | question | file |
//! | --- | --- |
//! | the range of a result's values | [`range`] |
//! | sums, differences, products | [`mod@sum`] |
//! | quotients and remainders | [`divide`] |
//! | bitwise operations, minimum and maximum | [`bitwise`] |
//! | comparisons and choices | [`mod@select`] |
//! | shifts, conversions, tables | [`moved`] |

mod bitwise;
mod divide;
mod moved;
mod range;
mod select;
mod sum;

use std::collections::HashMap;

use range::Range;
use ringmill_limits::{Halt, Watch};

use super::integer::mask;
use super::program::{Binary, Comparison, Instr, Op, Program, Shift, Type, Value};

/// Returns a simplified program with the same outputs for the same inputs, which takes no more bootstraps. The inputs
/// stay the same.
///
/// # Errors
/// [`Halt`].
pub fn simplify(program: &Program, watch: &Watch) -> Result<Program, Halt> {
    let mut s = Simplifier::default();
    let mut new: Vec<Value> = Vec::with_capacity(program.instrs().len());
    for instr in program.instrs() {
        watch.check()?;
        let op = instr.op.renamed(|v| new[v.0 as usize]);
        new.push(s.make(op, instr.kind));
    }
    let outputs = program.outputs().iter();
    let outputs = outputs.map(|(name, v)| (name.clone(), new[v.0 as usize]));
    Ok(Program::of(s.instrs, outputs.collect()))
}

/// The instructions of the simplified program so far, with the range of each instruction's value.
#[derive(Default)]
struct Simplifier {
    instrs: Vec<Instr>,
    /// The range of each instruction's value, by the number of the instruction.
    ranges: Vec<Range>,
    seen: HashMap<Instr, Value>,
}

impl Simplifier {
    /// Returns a value of the simplified program that equals the result of an operation. It is a simpler value if a
    /// rule applies, else the result of a new instruction.
    fn make(&mut self, op: Op, kind: Type) -> Value {
        if matches!(op, Op::Input { .. }) {
            // Two inputs of one name are different inputs.
            return self.add_instr(Instr { op, kind });
        }
        let operands = op.operands();
        let instr = Instr { op, kind };
        if operands.iter().all(|&v| self.known(v).is_some()) {
            let bits = instr.computed(|v| (self.kind(v), self.bits(v)));
            return self.constant_bits(kind, bits);
        }
        let range = self.range_of(&instr);
        if range.0 == range.1 {
            return self.constant(kind, range.0);
        }
        let simpler = match &instr.op {
            Op::Input { .. } | Op::Constant(_) => None,
            Op::Binary(op, a, b) => return self.binary(*op, *a, *b, kind),
            Op::Compare(op, a, b) => self.comparison(*op, *a, *b),
            Op::Not(a) => self.inverse(*a),
            Op::ShiftBy(shift, a, by) => self.moved(*shift, *a, *by, kind),
            Op::Shift(shift, a, by) => self.moved_by(*shift, *a, *by, kind),
            Op::Select(bit, a, b) => self.choice([*bit, *a, *b], kind),
            Op::Sum(terms) => self.total(terms, kind),
            Op::Table(index, entries) => self.entry(*index, entries, kind),
            Op::Convert(a) => self.converted(*a, kind),
        };
        simpler.unwrap_or_else(|| self.push(instr.op, kind))
    }

    /// Returns a value for an operation of two integers. If the operands may be exchanged, the order is fixed first: a
    /// known operand comes second, and of two unknown ones the later comes second.
    fn binary(&mut self, op: Binary, a: Value, b: Value, kind: Type) -> Value {
        let later = (self.known(a).is_some(), a) > (self.known(b).is_some(), b);
        let exchanged = op.commutes() && later;
        let (a, b) = if exchanged { (b, a) } else { (a, b) };
        let logic = (kind.bits() == 1).then(|| self.of_one_bit(op, a, b, kind));
        if let Some(logic) = logic.flatten() {
            return logic;
        }
        let simpler = match op {
            Binary::Add => self.sum(a, b, kind),
            Binary::Sub => self.difference(a, b, kind),
            Binary::Mul => self.product(a, b, kind),
            Binary::Div => self.quotient(a, b, kind),
            Binary::Rem => self.remainder(a, b, kind),
            Binary::And => self.conjunction(a, b, kind),
            Binary::Or => self.disjunction(a, b, kind),
            Binary::Xor => self.exclusive(a, b, kind),
            Binary::Min => self.extreme([Binary::Min, Binary::Max], a, b),
            Binary::Max => self.extreme([Binary::Max, Binary::Min], a, b),
        };
        let chained = simpler.or_else(|| self.chained(op, a, b, kind));
        chained.unwrap_or_else(|| self.push(Op::Binary(op, a, b), kind))
    }

    /// Rewrites (x op c) op d as x op (c op d), for known c and d. Returns `None` if the operands have another form.
    fn chained(&mut self, op: Binary, a: Value, b: Value, kind: Type) -> Option<Value> {
        if !op.commutes() {
            return None;
        }
        let (x, c) = self.parts(op, a)?;
        self.known(b)?;
        self.known(c)?;
        let both = self.make(Op::Binary(op, c, b), kind);
        Some(self.make(Op::Binary(op, x, both), kind))
    }

    /// Rewrites an arithmetic operation as a logical one, such as a sum as exclusive or. The operands must be integers of
    /// one bit. Returns `None` for an operation that is logical already.
    fn of_one_bit(&mut self, op: Binary, a: Value, b: Value, kind: Type) -> Option<Value> {
        let logic = match op {
            Binary::And | Binary::Or | Binary::Xor => return None,
            Binary::Add | Binary::Sub => Binary::Xor,
            Binary::Mul => Binary::And,
            // A signed bit is 0 or -1, and -1 is the smaller.
            Binary::Min if kind.signed() => Binary::Or,
            Binary::Max if kind.signed() => Binary::And,
            Binary::Min => Binary::And,
            Binary::Max => Binary::Or,
            // Division by 0 gives the quotient 1 and the remainder a.
            Binary::Div | Binary::Rem => {
                let not = self.make(Op::Not(b), kind);
                let logic = if op == Binary::Div {
                    Binary::Or
                } else {
                    Binary::And
                };
                return Some(self.make(Op::Binary(logic, a, not), kind));
            }
        };
        Some(self.make(Op::Binary(logic, a, b), kind))
    }

    fn push(&mut self, op: Op, kind: Type) -> Value {
        let instr = Instr { op, kind };
        match self.seen.get(&instr) {
            Some(&value) => value,
            None => self.add_instr(instr),
        }
    }

    fn add_instr(&mut self, instr: Instr) -> Value {
        let value = Value(self.instrs.len() as u32);
        self.ranges.push(self.range_of(&instr));
        self.instrs.push(instr.clone());
        self.seen.insert(instr, value);
        value
    }

    /// Returns an instruction for a constant, reduced modulo 2^bits.
    fn constant(&mut self, kind: Type, value: i128) -> Value {
        self.constant_bits(kind, value as u64)
    }

    fn constant_bits(&mut self, kind: Type, bits: u64) -> Value {
        self.push(Op::Constant(bits & mask(kind.bits())), kind)
    }

    fn ones(&mut self, kind: Type) -> Value {
        self.constant_bits(kind, u64::MAX)
    }

    fn range_of(&self, instr: &Instr) -> Range {
        range::of(instr, |v| (self.kind(v), self.range(v)))
    }

    fn get(&self, v: Value) -> &Op {
        &self.instrs[v.0 as usize].op
    }

    fn kind(&self, v: Value) -> Type {
        self.instrs[v.0 as usize].kind
    }

    fn range(&self, v: Value) -> Range {
        self.ranges[v.0 as usize]
    }

    /// Returns the integer that the value has if it is a constant, else `None`.
    fn known(&self, v: Value) -> Option<i128> {
        match self.get(v) {
            Op::Constant(bits) => Some(self.kind(v).read(*bits)),
            _ => None,
        }
    }

    /// Returns the bits of a value of the program if it is a constant, else 0.
    fn bits(&self, v: Value) -> u64 {
        match self.get(v) {
            Op::Constant(bits) => *bits,
            _ => 0,
        }
    }

    /// Returns the operands of the instruction that gives the value, or `None` if its operation is
    /// not `op`.
    fn parts(&self, op: Binary, v: Value) -> Option<(Value, Value)> {
        match self.get(v) {
            Op::Binary(found, a, b) if *found == op => Some((*a, *b)),
            _ => None,
        }
    }

    /// Returns x if the value is the result of an instruction that computes 0 - x, else `None`.
    fn negated(&self, v: Value) -> Option<Value> {
        let (zero, x) = self.parts(Binary::Sub, v)?;
        (self.known(zero) == Some(0)).then_some(x)
    }

    /// Returns whether each bit of one value is the inverse of the other's.
    fn opposite(&self, a: Value, b: Value) -> bool {
        *self.get(a) == Op::Not(b) || *self.get(b) == Op::Not(a)
    }

    fn two(&mut self, op: Binary, a: Value, b: Value, kind: Type) -> Value {
        self.make(Op::Binary(op, a, b), kind)
    }

    fn with(&mut self, op: Binary, a: Value, constant: i128, kind: Type) -> Value {
        let b = self.constant(kind, constant);
        self.two(op, a, b, kind)
    }

    fn negative(&mut self, a: Value, kind: Type) -> Value {
        let zero = self.constant(kind, 0);
        self.two(Binary::Sub, zero, a, kind)
    }

    fn shifted(&mut self, shift: Shift, a: Value, by: u32) -> Value {
        let kind = self.kind(a);
        self.make(Op::ShiftBy(shift, a, by), kind)
    }

    /// Returns a value that equals `yes` if the comparison `op` of a and b holds, else `no`.
    fn selected(
        &mut self,
        (op, a, b): (Comparison, Value, Value),
        [yes, no]: [Value; 2],
        kind: Type,
    ) -> Value {
        let bit = self.make(Op::Compare(op, a, b), Type::BIT);
        self.make(Op::Select(bit, yes, no), kind)
    }
}
