//! The plain evaluator: what a macro program computes, on complex vectors in the clear. Expected results come from here.

use num_complex::Complex64;
use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroProgram, MacroValue};
use thiserror::Error;

use crate::inline::{InlineError, written_out};

/// Why a program could not be evaluated in the clear.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum EvaluateError {
    #[error("the program has {expected} inputs and {got} were given")]
    InputCount { expected: usize, got: usize },
    #[error("input {name:?} has {got} values and the program's vectors have {expected} slots")]
    InputLength {
        name: String,
        expected: usize,
        got: usize,
    },
    #[error(transparent)]
    WrittenOut(#[from] InlineError),
    #[error("instruction {number} is ill-formed; verify the program first")]
    IllFormed { number: usize },
}

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
    let program = &*written_out(program)?;
    let slots = program.slots as usize;
    if inputs.len() != program.inputs.len() {
        return Err(EvaluateError::InputCount {
            expected: program.inputs.len(),
            got: inputs.len(),
        });
    }
    for (input, values) in program.inputs.iter().zip(inputs) {
        if values.len() != slots {
            let name = input.name.clone();
            return Err(EvaluateError::InputLength {
                name,
                expected: slots,
                got: values.len(),
            });
        }
    }
    let mut last_use = vec![0usize; program.types.len()];
    for (number, instr) in program.instrs.iter().enumerate() {
        for v in &instr.src {
            *last_use
                .get_mut(v.0 as usize)
                .ok_or(EvaluateError::IllFormed { number })? = number;
        }
    }
    let mut values: Vec<Option<Vec<Complex64>>> = vec![None; program.types.len()];
    let mut outputs = vec![Vec::new(); program.outputs.len()];
    for (number, instr) in program.instrs.iter().enumerate() {
        let ill_formed = || EvaluateError::IllFormed { number };
        let operands: Vec<&[Complex64]> = instr
            .src
            .iter()
            .map(|v| {
                values
                    .get(v.0 as usize)
                    .and_then(|x| x.as_deref())
                    .ok_or_else(ill_formed)
            })
            .collect::<Result<_, _>>()?;
        if let (MacroOp::Output, &MacroImm::Output(index), &[a]) =
            (instr.op, &instr.imm, operands.as_slice())
        {
            *outputs.get_mut(index as usize).ok_or_else(ill_formed)? = a.to_vec();
        } else {
            let results = step(program, instr, &operands, inputs).ok_or_else(ill_formed)?;
            if results.len() != instr.dst.len() {
                return Err(ill_formed());
            }
            for (v, mut result) in instr.dst.iter().zip(results) {
                observe(*v, &mut result);
                *values.get_mut(v.0 as usize).ok_or_else(ill_formed)? = Some(result);
            }
        }
        for v in &instr.src {
            if last_use[v.0 as usize] == number {
                values[v.0 as usize] = None;
            }
        }
    }
    Ok(outputs)
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
        (MacroOp::Relin | MacroOp::Rescale | MacroOp::Modswitch, _) => each(&|x| x),
        (MacroOp::Rotate | MacroOp::Hrotate, MacroImm::Steps(steps)) => {
            let [a] = operands else { return None };
            let rotated = |&step: &i32| {
                let mut result = a.to_vec();
                result.rotate_left(step.rem_euclid(a.len().max(1) as i32) as usize);
                result
            };
            Some(steps.iter().map(rotated).collect())
        }
        (
            MacroOp::Input
            | MacroOp::Encode
            | MacroOp::Addc
            | MacroOp::Mulc
            | MacroOp::Rotate
            | MacroOp::Hrotate
            | MacroOp::Output
            | MacroOp::Call
            | MacroOp::Repeat,
            _,
        ) => None,
    }
}
