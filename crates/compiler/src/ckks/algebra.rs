// SPDX-License-Identifier: Apache-2.0
//! What values are as polynomials of others, so that x + y - x is known to lie where y does, and x (x + 1) - x where x^2
//! does.
//!
//! Interval analysis takes a sum's and a product's operands to be anywhere within their spans, whatever the others are.
//! Beside it, a value is kept as a polynomial ([`Polynomial`]) of inputs and of what is no polynomial of a few terms.

use ringmill_isa::macros::op::MacroMessage;
use ringmill_isa::macros::{Constant, Linear, MacroInstr, MacroProgram, Refused, Terms, Visitor};
use ringmill_schemes::ckks::{Ball, Polynomial};

/// An instruction's result number `k`; `operands` are what is known of its operands and `real` says which values are. `None`
/// for what has too many products, and for what is no polynomial of others.
///
/// # Errors
/// An operation of which nothing is known here.
pub fn result(
    program: &MacroProgram,
    instr: &MacroInstr,
    k: usize,
    operands: &[Option<&Polynomial>],
    real: &dyn Fn(u32) -> bool,
) -> Result<Option<Polynomial>, Refused> {
    let mut result = OfResult {
        program,
        k,
        operands,
        real,
    };
    match instr.op.columns().message {
        MacroMessage::Kept => Ok(result.operand(0).cloned()),
        _ => result.visit(instr),
    }
}

struct OfResult<'a> {
    program: &'a MacroProgram,
    k: usize,
    operands: &'a [Option<&'a Polynomial>],
    real: &'a dyn Fn(u32) -> bool,
}

type Found = Result<Option<Polynomial>, Refused>;

impl<'a> OfResult<'a> {
    fn operand(&self, number: usize) -> Option<&'a Polynomial> {
        self.operands.get(number).copied().flatten()
    }

    fn of_one(&self, f: impl Fn(&Polynomial) -> Option<Polynomial>) -> Found {
        Ok(self.operand(0).and_then(f))
    }

    fn of_two(&self, f: impl Fn(&Polynomial, &Polynomial) -> Option<Polynomial>) -> Found {
        let operands = self.operand(0).zip(self.operand(1));
        Ok(operands.and_then(|(a, b)| f(a, b)))
    }
}

impl Visitor for OfResult<'_> {
    const PASS: &'static str = "the analysis of values as polynomials";
    type Out = Option<Polynomial>;
    type Error = Refused;

    fn input(&mut self, _: &MacroInstr, _: u32) -> Found {
        Ok(None)
    }

    fn encode(&mut self, _: &MacroInstr, data: u32) -> Found {
        let numbers = self.program.data.get(data as usize);
        Ok(numbers.map(|numbers| Polynomial::constant(Ball::constants(numbers))))
    }

    fn add(&mut self, _: &MacroInstr) -> Found {
        self.of_two(|a, b| a.plus(b))
    }

    fn sub(&mut self, _: &MacroInstr) -> Found {
        self.of_two(|a, b| a.plus(&b.negated()))
    }

    fn linear(&mut self, _: &MacroInstr, map: Linear) -> Found {
        let turned = |a: &Polynomial, by: f64| a.conjugated(self.real).scaled(by);
        self.of_one(|a| match map.terms() {
            Terms::Slot(by) => Some(a.scaled(by)),
            Terms::Conjugate(by) => Some(turned(a, by)),
            Terms::Both { slot, conjugate } => a.scaled(slot).plus(&turned(a, conjugate)),
        })
    }

    fn mul(&mut self, _: &MacroInstr) -> Found {
        self.of_two(|a, b| a.times(b))
    }

    fn square(&mut self, _: &MacroInstr) -> Found {
        self.of_one(|a| a.times(a))
    }

    fn addc(&mut self, _: &MacroInstr, constant: Constant) -> Found {
        match constant {
            Constant::Real { value, .. } => {
                self.of_one(|a| a.plus(&Polynomial::constant(Ball::exact(value))))
            }
            Constant::Integer(_) => Ok(None),
        }
    }

    fn mulc(&mut self, _: &MacroInstr, constant: Constant) -> Found {
        match constant {
            Constant::Real { value, .. } => self.of_one(|a| Some(a.scaled(value))),
            Constant::Integer(_) => Ok(None),
        }
    }

    fn rotate(&mut self, _: &MacroInstr, steps: &[i32]) -> Found {
        let Some(&step) = steps.get(self.k) else {
            return Ok(None);
        };
        let slots = self.program.slots as usize;
        self.of_one(|a| Some(a.rotated(i64::from(step), slots)))
    }

    fn hrotate(&mut self, instr: &MacroInstr, steps: &[i32]) -> Found {
        self.rotate(instr, steps)
    }
}
