//! The plain evaluator: what a macro program computes, on complex vectors in the clear. Expected results come from here.

use num_complex::Complex64;
use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroProgram, MacroValue};

pub use crate::reference::EvaluateError;
pub(crate) use crate::reference::check_inputs;
use crate::reference::{Meaning, rotated, run, turned_by};

/// Evaluates a traced or managed program. `inputs` are the vectors of the program's inputs in order, each of `slots`
/// values; the result is one vector an output, in the order of the program's outputs. Relinearisation, rescaling and
/// dropping primes do nothing here, as they do nothing to a message.
///
/// # Errors
/// [`EvaluateError`] when inputs do not fit the program or the program breaks the macro level's rules.
pub fn evaluate(
    program: &MacroProgram,
    inputs: &[Vec<Complex64>],
) -> Result<Vec<Vec<Complex64>>, EvaluateError> {
    evaluate_observed(program, inputs, &mut |_, _| {})
}

/// As [`evaluate`]; `observe` sees every value as it is made, numbered as in the program written out, and may change it.
///
/// # Errors
/// As [`evaluate`].
pub fn evaluate_observed(
    program: &MacroProgram,
    inputs: &[Vec<Complex64>],
    observe: &mut dyn FnMut(MacroValue, &mut [Complex64]),
) -> Result<Vec<Vec<Complex64>>, EvaluateError> {
    run(program, inputs, &mut Complex { observe })
}

/// Slots are complex numbers.
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
    ) -> Option<Vec<Vec<Complex64>>> {
        step(program, instr, operands, inputs)
    }

    fn made(&mut self, value: MacroValue, slots: &mut [Complex64]) {
        (self.observe)(value, slots);
    }
}

/// The results of one instruction; `None` if its shape is wrong.
fn step(
    program: &MacroProgram,
    instr: &MacroInstr,
    operands: &[&[Complex64]],
    inputs: &[Vec<Complex64>],
) -> Option<Vec<Vec<Complex64>>> {
    let zip = |f: fn(Complex64, Complex64) -> Complex64| match operands {
        [a, b] => Some(vec![a.iter().zip(*b).map(|(&x, &y)| f(x, y)).collect()]),
        _ => None,
    };
    let each = |f: &dyn Fn(Complex64) -> Complex64| match operands {
        [a] => Some(vec![a.iter().map(|&x| f(x)).collect::<Vec<_>>()]),
        _ => None,
    };
    match (instr.op, &instr.imm) {
        (MacroOp::Input, MacroImm::Input(i)) => Some(vec![inputs.get(*i as usize)?.clone()]),
        (MacroOp::Encode, MacroImm::Data(d)) => {
            let data = program
                .data
                .get(*d as usize)
                .filter(|v| v.len() == program.slots as usize)?;
            Some(vec![
                data.iter()
                    .map(|&(re, im)| Complex64::new(re, im))
                    .collect(),
            ])
        }
        (MacroOp::Add, _) => zip(|x, y| x + y),
        (MacroOp::Sub, _) => zip(|x, y| x - y),
        (MacroOp::Mul, _) => zip(|x, y| x * y),
        (MacroOp::Square, _) => each(&|x| x * x),
        (MacroOp::Neg, _) => each(&|x| -x),
        (MacroOp::Conj, _) => each(&|x| x.conj()),
        (MacroOp::Addc, &MacroImm::Constant { value, .. }) => each(&|x| x + value),
        (MacroOp::Mulc, &MacroImm::Constant { value, .. }) => each(&|x| x * value),
        (MacroOp::Addc, &MacroImm::Integer(value)) => each(&|x| x + value as f64),
        (MacroOp::Mulc, &MacroImm::Integer(value)) => each(&|x| x * value as f64),
        (
            MacroOp::Relin
            | MacroOp::Rescale
            | MacroOp::Modswitch
            | MacroOp::Refactor
            | MacroOp::Load
            | MacroOp::Ksw,
            _,
        ) => each(&|x| x),
        (MacroOp::Morph, &MacroImm::Galois(element)) => {
            let (steps, conjugated) = turned_by(element, program.slots)?;
            let turned = rotated(operands.first()?, &[steps]);
            let conjugate = |slots: Vec<Complex64>| slots.iter().map(Complex64::conj).collect();
            Some(match conjugated {
                true => turned.into_iter().map(conjugate).collect(),
                false => turned,
            })
        }
        (MacroOp::Rotate | MacroOp::Hrotate, MacroImm::Steps(steps)) => match operands {
            [a] => Some(rotated(a, steps)),
            _ => None,
        },
        (
            MacroOp::Input
            | MacroOp::Encode
            | MacroOp::Addc
            | MacroOp::Mulc
            | MacroOp::Morph
            | MacroOp::Rotate
            | MacroOp::Hrotate
            | MacroOp::Iszero
            | MacroOp::Quotient
            | MacroOp::Bootstrap
            | MacroOp::Output
            | MacroOp::Call
            | MacroOp::Repeat,
            _,
        ) => None,
    }
}
