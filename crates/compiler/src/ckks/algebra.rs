// SPDX-License-Identifier: Apache-2.0
//! Polynomials over a program's values: the analysis knows that x + y - x lies in y's range, and x (x + 1) - x in that
//! of x^2.
//!
//! Interval analysis takes each operand of a sum or product to be anywhere within its span, independently of the other
//! operand. Beside it, this analysis keeps each value as a [`Polynomial`] of the program's inputs and of values that
//! are no short polynomial of others.

use ringmill_isa::macros::op::MacroMessage;
use ringmill_isa::macros::{Constant, Linear, MacroInstr, MacroProgram, Refused, Terms, Visitor};
use ringmill_schemes::ckks::{Ball, Polynomial};

/// Returns result number `k` of an instruction as a polynomial of other values of the program. `operands` are the
/// polynomials of its operands, and `real` says which values are real. Returns `None` if the polynomial has too many
/// products of terms, or if the result is no polynomial of others.
///
/// # Errors
/// Fails for an operation that this analysis does not know.
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
