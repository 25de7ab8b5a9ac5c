// SPDX-License-Identifier: Apache-2.0
//! Evaluates programs of integers without encryption and without wrapping. Tests take their expected results from here.

use ringmill_isa::Galois;
use ringmill_isa::macros::{
    Constant, MacroInstr, MacroOp, MacroProgram, MacroValue, Refused, Visitor,
};

use crate::numbers::whole;
pub use crate::reference::EvaluateError;
use crate::reference::{Meaning, rotated, run, turned_by};

/// The value of a slot, or `None` if it has more than 127 bits or depends on a quotient with a remainder.
type Whole = Option<i128>;

/// Evaluates a traced program without encryption. `inputs` are the vectors of the program's inputs in order, each of
/// `slots` values. Returns one vector for each output, in the order of the program's outputs.
///
/// # Errors
/// [`EvaluateError`] if inputs do not fit the program, or if the program breaks the macro level's rules, is too long or
/// has an operation without a meaning here. [`EvaluateError::TooLarge`] for an output that outgrows 127 bits or depends
/// on a quotient of a number that the divisor does not divide.
pub fn evaluate(
    program: &MacroProgram,
    inputs: &[Vec<i128>],
) -> Result<Vec<Vec<i128>>, EvaluateError> {
    meant(program, inputs, None)
}

/// Evaluates a program as [`evaluate`] does, but modulo `t` after each instruction, with the residues nearest to 0.
/// This is the arithmetic of programs that bootstrap. A quotient is that of the residue nearest to 0. It agrees with
/// the encrypted program's quotient in the digits that the division leaves, which alone are known.
///
/// # Errors
/// Fails like [`evaluate`].
pub fn evaluate_modulo(
    program: &MacroProgram,
    inputs: &[Vec<i128>],
    t: u64,
) -> Result<Vec<Vec<i128>>, EvaluateError> {
    meant(program, inputs, Some(t.into()))
}

fn meant(
    program: &MacroProgram,
    inputs: &[Vec<i128>],
    modulo: Option<i128>,
) -> Result<Vec<Vec<i128>>, EvaluateError> {
    let inputs = inputs.iter().map(|v| v.iter().map(|&x| Some(x)).collect());
    let inputs: Vec<Vec<Whole>> = inputs.collect();
    let outputs = run(program, &inputs, &mut Integers { modulo })?;
    let named = outputs.into_iter().zip(&program.outputs);
    let known = |(slots, name): (Vec<Whole>, &String)| {
        let slots: Option<Vec<i128>> = slots.into_iter().collect();
        slots.ok_or_else(|| EvaluateError::TooLarge { name: name.clone() })
    };
    named.map(known).collect()
}

/// The arithmetic of slots: on integers, or on the residues nearest to 0 modulo the plaintext modulus `modulo`.
struct Integers {
    modulo: Option<i128>,
}

impl Meaning<Whole> for Integers {
    fn step(
        &mut self,
        program: &MacroProgram,
        instr: &MacroInstr,
        operands: &[&[Whole]],
        inputs: &[Vec<Whole>],
    ) -> Result<Vec<Vec<Whole>>, Refused> {
        let mut step = Step {
            program,
            operands,
            inputs,
        };
        step.visit(instr)
    }

    fn made(&mut self, _: MacroValue, slots: &mut [Whole]) {
        let Some(t) = self.modulo else {
            return;
        };
        for slot in slots.iter_mut() {
            let residue = slot.map(|x| x.rem_euclid(t));
            *slot = residue.map(|x| if x > t / 2 { x - t } else { x });
        }
    }
}

/// The visitor that evaluates one instruction from the slots of its operands.
struct Step<'a> {
    program: &'a MacroProgram,
    operands: &'a [&'a [Whole]],
    inputs: &'a [Vec<Whole>],
}

/// The slots of each result of one instruction.
type Made = Result<Vec<Vec<Whole>>, Refused>;

impl Step<'_> {
    fn pairs(&self, instr: &MacroInstr, f: fn(i128, i128) -> Whole) -> Made {
        match self.operands {
            [a, b] => {
                let slots = a.iter().zip(b.iter()).map(|(&x, &y)| f(x?, y?));
                Ok(vec![slots.collect()])
            }
            _ => Err(Refused::shape(Self::PASS, instr)),
        }
    }

    fn each(&self, instr: &MacroInstr, f: impl Fn(i128) -> Whole) -> Made {
        let a = self.operand(instr)?;
        Ok(vec![a.iter().map(|&x| f(x?)).collect()])
    }

    fn operand(&self, instr: &MacroInstr) -> Result<&[Whole], Refused> {
        match self.operands {
            &[a] => Ok(a),
            _ => Err(Refused::shape(Self::PASS, instr)),
        }
    }
}

/// Returns a constant as an integer. A real constant must be a whole number.
fn integer(instr: &MacroInstr, constant: Constant) -> Result<i128, Refused> {
    let shape = || Refused::shape(Step::PASS, instr);
    match constant {
        Constant::Integer(value) => Ok(value),
        Constant::Real { value, .. } => Ok(whole(value).ok_or_else(shape)?.into()),
    }
}

impl Visitor for Step<'_> {
    const PASS: &'static str = "evaluation in the clear, of integers,";
    type Out = Vec<Vec<Whole>>;
    type Error = Refused;

    fn input(&mut self, instr: &MacroInstr, input: u32) -> Made {
        let slots = self.inputs.get(input as usize);
        let slots = slots.ok_or_else(|| Refused::shape(Self::PASS, instr))?;
        Ok(vec![slots.clone()])
    }

    fn encode(&mut self, instr: &MacroInstr, data: u32) -> Made {
        let shape = || Refused::shape(Self::PASS, instr);
        let data = self.program.data.get(data as usize).ok_or_else(shape)?;
        let values: Option<Vec<i64>> = data.iter().map(|&(re, _)| whole(re)).collect();
        let values = values.filter(|v| v.len() == self.program.slots as usize);
        let values = values.ok_or_else(shape)?.into_iter();
        Ok(vec![values.map(|x| Some(x.into())).collect()])
    }

    fn add(&mut self, instr: &MacroInstr) -> Made {
        self.pairs(instr, i128::checked_add)
    }

    fn sub(&mut self, instr: &MacroInstr) -> Made {
        self.pairs(instr, i128::checked_sub)
    }

    fn mul(&mut self, instr: &MacroInstr) -> Made {
        self.pairs(instr, i128::checked_mul)
    }

    fn square(&mut self, instr: &MacroInstr) -> Made {
        self.each(instr, |x| x.checked_mul(x))
    }

    fn neg(&mut self, instr: &MacroInstr) -> Made {
        self.each(instr, i128::checked_neg)
    }

    /// Returns the operand's slots, since whole numbers are their own conjugates.
    fn conj(&mut self, instr: &MacroInstr) -> Made {
        self.each(instr, Some)
    }

    fn iszero(&mut self, instr: &MacroInstr) -> Made {
        self.each(instr, |x| Some((x == 0).into()))
    }

    fn addc(&mut self, instr: &MacroInstr, constant: Constant) -> Made {
        let c = integer(instr, constant)?;
        self.each(instr, |x| x.checked_add(c))
    }

    fn mulc(&mut self, instr: &MacroInstr, constant: Constant) -> Made {
        let c = integer(instr, constant)?;
        self.each(instr, |x| x.checked_mul(c))
    }

    fn quotient(&mut self, instr: &MacroInstr, constant: Constant) -> Made {
        let Constant::Integer(c) = constant else {
            return Err(Refused::shape(Self::PASS, instr));
        };
        self.each(instr, |x| {
            x.checked_rem(c)
                .filter(|&rest| rest == 0)
                .and(x.checked_div(c))
        })
    }

    fn rotate(&mut self, instr: &MacroInstr, steps: &[i32]) -> Made {
        Ok(rotated(self.operand(instr)?, steps))
    }

    fn hrotate(&mut self, instr: &MacroInstr, steps: &[i32]) -> Made {
        self.rotate(instr, steps)
    }

    /// Rotates the operand's slots by the automorphism's number of slots. Refuses an automorphism that conjugates.
    /// Refuses any in a program that bootstraps, whose parameters rotate by another generator of the slots.
    fn morph(&mut self, instr: &MacroInstr, by: Galois) -> Made {
        let shape = || Refused::shape(Self::PASS, instr);
        let mut instrs = self.program.instrs.iter();
        if instrs.any(|i| i.op == MacroOp::Bootstrap) {
            return Err(shape());
        }
        match turned_by(by, self.program.slots) {
            Some((steps, false)) => Ok(rotated(self.operand(instr)?, &[steps])),
            Some((_, true)) | None => Err(shape()),
        }
    }
}
