// SPDX-License-Identifier: Apache-2.0
//! Evaluates a CKKS program without encryption, on complex vectors. Tests and samples take their expected results from
//! here.

use num_complex::Complex64;
use ringmill_isa::Galois;
use ringmill_isa::macros::{
    Constant, Linear, MacroInstr, MacroProgram, MacroValue, Refused, Terms, Visitor,
};

pub use crate::reference::EvaluateError;
use crate::reference::{Meaning, rotated, run, turned_by};

/// Evaluates a program without encryption, as traced or with levels and scales. `inputs` are the
/// vectors of the program's inputs in order, each of `slots` values. The result is one vector for
/// each output, in order. Relinearisation, rescaling and dropping primes do nothing here, as they
/// do nothing to a message.
///
/// # Errors
/// [`EvaluateError`] if inputs do not fit the program, if the program breaks the macro level's rules or is too long, or
/// if it has an operation without a meaning here.
pub fn evaluate(
    program: &MacroProgram,
    inputs: &[Vec<Complex64>],
) -> Result<Vec<Vec<Complex64>>, EvaluateError> {
    evaluate_observed(program, inputs, &mut |_, _| {})
}

/// Evaluates a program like [`evaluate`]. `observe` is called with every new value, numbered as in the program without
/// calls and repeats, and may change the value's slots.
///
/// # Errors
/// Fails like [`evaluate`].
pub fn evaluate_observed(
    program: &MacroProgram,
    inputs: &[Vec<Complex64>],
    observe: &mut dyn FnMut(MacroValue, &mut [Complex64]),
) -> Result<Vec<Vec<Complex64>>, EvaluateError> {
    run(program, inputs, &mut Complex { observe })
}

/// The meaning of instructions on slots that are complex numbers. `observe` sees each new value.
struct Complex<'a> {
    observe: &'a mut dyn FnMut(MacroValue, &mut [Complex64]),
}

impl Meaning<Complex64> for Complex<'_> {
    fn step(
        &mut self,
        program: &MacroProgram,
        instr: &MacroInstr,
        operands: &[&[Complex64]],
        inputs: &[Vec<Complex64>],
    ) -> Result<Vec<Vec<Complex64>>, Refused> {
        let mut step = Step {
            program,
            operands,
            inputs,
        };
        step.visit(instr)
    }

    fn made(&mut self, value: MacroValue, slots: &mut [Complex64]) {
        (self.observe)(value, slots);
    }
}

/// One instruction of a program, with the slots of its operands.
struct Step<'a> {
    program: &'a MacroProgram,
    operands: &'a [&'a [Complex64]],
    inputs: &'a [Vec<Complex64>],
}

/// The results of one instruction: one vector of slots for each.
type Made = Result<Vec<Vec<Complex64>>, Refused>;

impl Step<'_> {
    fn pairs(&self, instr: &MacroInstr, f: fn(Complex64, Complex64) -> Complex64) -> Made {
        match self.operands {
            [a, b] => Ok(vec![a.iter().zip(*b).map(|(&x, &y)| f(x, y)).collect()]),
            _ => Err(Refused::shape(Self::PASS, instr)),
        }
    }

    fn each(&self, instr: &MacroInstr, f: impl Fn(Complex64) -> Complex64) -> Made {
        let a = self.operand(instr)?;
        Ok(vec![a.iter().map(|&x| f(x)).collect()])
    }

    fn operand(&self, instr: &MacroInstr) -> Result<&[Complex64], Refused> {
        match self.operands {
            &[a] => Ok(a),
            _ => Err(Refused::shape(Self::PASS, instr)),
        }
    }
}

/// Returns a constant of a program as a real number.
fn real(constant: Constant) -> f64 {
    match constant {
        Constant::Real { value, .. } => value,
        Constant::Integer(value) => value as f64,
    }
}

impl Visitor for Step<'_> {
    const PASS: &'static str = "evaluation in the clear, of complex numbers,";
    type Out = Vec<Vec<Complex64>>;
    type Error = Refused;

    fn input(&mut self, instr: &MacroInstr, input: u32) -> Made {
        let slots = self.inputs.get(input as usize);
        let slots = slots.ok_or_else(|| Refused::shape(Self::PASS, instr))?;
        Ok(vec![slots.clone()])
    }

    fn encode(&mut self, instr: &MacroInstr, data: u32) -> Made {
        let data = self.program.data.get(data as usize);
        let data = data.filter(|v| v.len() == self.program.slots as usize);
        let data = data.ok_or_else(|| Refused::shape(Self::PASS, instr))?;
        let slots = data.iter().map(|&(re, im)| Complex64::new(re, im));
        Ok(vec![slots.collect()])
    }

    fn add(&mut self, instr: &MacroInstr) -> Made {
        self.pairs(instr, |x, y| x + y)
    }

    fn sub(&mut self, instr: &MacroInstr) -> Made {
        self.pairs(instr, |x, y| x - y)
    }

    fn mul(&mut self, instr: &MacroInstr) -> Made {
        self.pairs(instr, |x, y| x * y)
    }

    fn square(&mut self, instr: &MacroInstr) -> Made {
        self.each(instr, |x| x * x)
    }

    fn linear(&mut self, instr: &MacroInstr, map: Linear) -> Made {
        self.each(instr, |x| match map.terms() {
            Terms::Slot(by) => by * x,
            Terms::Conjugate(by) => by * x.conj(),
            Terms::Both { slot, conjugate } => slot * x + conjugate * x.conj(),
        })
    }

    fn addc(&mut self, instr: &MacroInstr, constant: Constant) -> Made {
        let c = real(constant);
        self.each(instr, |x| x + c)
    }

    fn mulc(&mut self, instr: &MacroInstr, constant: Constant) -> Made {
        let c = real(constant);
        self.each(instr, |x| x * c)
    }

    fn rotate(&mut self, instr: &MacroInstr, steps: &[i32]) -> Made {
        Ok(rotated(self.operand(instr)?, steps))
    }

    fn hrotate(&mut self, instr: &MacroInstr, steps: &[i32]) -> Made {
        self.rotate(instr, steps)
    }

    fn morph(&mut self, instr: &MacroInstr, by: Galois) -> Made {
        let turned = turned_by(by, self.program.slots);
        let (steps, conjugated) = turned.ok_or_else(|| Refused::shape(Self::PASS, instr))?;
        let turned = rotated(self.operand(instr)?, &[steps]);
        let conjugate = |slots: Vec<Complex64>| slots.iter().map(Complex64::conj).collect();
        Ok(match conjugated {
            true => turned.into_iter().map(conjugate).collect(),
            false => turned,
        })
    }
}
