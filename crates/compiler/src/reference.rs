// SPDX-License-Identifier: Apache-2.0
//! Evaluates programs without encryption: the part that every scheme's evaluator shares, whatever type a slot has.

use ringmill_isa::Galois;
use ringmill_isa::macros::op::MacroMessage;
use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroProgram, MacroValue, Refused};
use thiserror::Error;

use crate::inline::{InlineError, written_out};

/// The reason why a program could not be evaluated without encryption.
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
    #[error("output {name:?} has values of more than 127 bits; evaluate smaller inputs")]
    TooLarge { name: String },
    #[error("value {slot} of output {name} is {value}, beyond 64 bits; evaluate smaller inputs")]
    Beyond {
        slot: usize,
        name: String,
        value: i128,
    },
    #[error("instruction {number} is ill-formed; verify the program first")]
    IllFormed { number: usize },
    #[error("{0}; evaluate a program of this scheme, as it was traced or as it is managed")]
    Refused(Refused),
}

/// A scheme's meaning of instructions, as functions on slots of type `V`.
pub(crate) trait Meaning<V> {
    /// Computes the results of one instruction. The instruction is no output, and not one that only passes its
    /// operand's message on.
    ///
    /// # Errors
    /// Fails for an operation that has no meaning here, or for operands or an immediate that do not fit the operation.
    fn step(
        &mut self,
        program: &MacroProgram,
        instr: &MacroInstr,
        operands: &[&[V]],
        inputs: &[Vec<V>],
    ) -> Result<Vec<Vec<V>>, Refused>;

    /// Receives every new value, numbered as in the program without calls and repeats, and may change its slots.
    fn made(&mut self, _: MacroValue, _: &mut [V]) {}
}

/// Evaluates a program, as traced or with levels. `inputs` are the vectors of the program's inputs
/// in order, each of `slots` values. The result is one vector for each output, in the order of the
/// program's outputs.
///
/// # Errors
/// [`EvaluateError`] if inputs do not fit the program, if the program breaks the macro level's rules or is too long, or
/// if it has an operation without a meaning here.
pub(crate) fn run<V: Clone>(
    program: &MacroProgram,
    inputs: &[Vec<V>],
    meaning: &mut impl Meaning<V>,
) -> Result<Vec<Vec<V>>, EvaluateError> {
    let program = &*written_out(program)?;
    check_inputs(program, inputs)?;
    let mut last_use = vec![0usize; program.types.len()];
    for (number, instr) in program.instrs.iter().enumerate() {
        for v in &instr.src {
            *last_use
                .get_mut(v.0 as usize)
                .ok_or(EvaluateError::IllFormed { number })? = number;
        }
    }
    let mut values: Vec<Option<Vec<V>>> = vec![None; program.types.len()];
    let mut outputs = vec![Vec::new(); program.outputs.len()];
    for (number, instr) in program.instrs.iter().enumerate() {
        let ill_formed = || EvaluateError::IllFormed { number };
        let operands: Vec<&[V]> = instr
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
            let results = match (instr.op.columns().message, operands.as_slice()) {
                (MacroMessage::Kept, &[a]) => vec![a.to_vec()],
                (MacroMessage::Kept, _) => return Err(ill_formed()),
                _ => {
                    let results = meaning.step(program, instr, &operands, inputs);
                    results.map_err(|refused| match refused.is_unknown() {
                        true => EvaluateError::Refused(refused),
                        false => ill_formed(),
                    })?
                }
            };
            if results.len() != instr.dst.len() {
                return Err(ill_formed());
            }
            for (v, mut result) in instr.dst.iter().zip(results) {
                meaning.made(*v, &mut result);
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

/// Checks that there is one vector for each input, of as many values as the program has slots.
///
/// # Errors
/// [`EvaluateError::InputCount`] or [`EvaluateError::InputLength`].
pub(crate) fn check_inputs<V>(
    program: &MacroProgram,
    inputs: &[Vec<V>],
) -> Result<(), EvaluateError> {
    if inputs.len() != program.inputs.len() {
        return Err(EvaluateError::InputCount {
            expected: program.inputs.len(),
            got: inputs.len(),
        });
    }
    let expected = program.slots as usize;
    let mut pairs = program.inputs.iter().zip(inputs);
    match pairs.find(|(_, values)| values.len() != expected) {
        None => Ok(()),
        Some((input, values)) => Err(EvaluateError::InputLength {
            name: input.name.clone(),
            expected,
            got: values.len(),
        }),
    }
}

/// Returns how an automorphism changes slots: by how many slots it rotates them to the left, from 0 on, and whether it
/// also conjugates them. The element is 3^i or -3^i modulo 4 `slots` for a rotation by i slots, since vectors repeat
/// through the slots of a larger ring. Returns `None` for an even element.
pub(crate) fn turned_by(element: Galois, slots: u32) -> Option<(i32, bool)> {
    // 3 and -3 are apart modulo 8, whatever the slots.
    let modulus = u64::from(slots).saturating_mul(4).max(8);
    let wanted = u64::from(element) % modulus;
    let mut power = 1;
    for step in 0..slots.max(2) {
        if power == wanted || modulus - power == wanted {
            return Some(((step % slots.max(1)) as i32, power != wanted));
        }
        power = power * 3 % modulus;
    }
    None
}

/// Returns the slots of `a` rotated to the left, one vector for each number of slots in `steps`.
pub(crate) fn rotated<V: Clone>(a: &[V], steps: &[i32]) -> Vec<Vec<V>> {
    let turned = |&step: &i32| {
        let mut result = a.to_vec();
        result.rotate_left(step.rem_euclid(a.len().max(1) as i32) as usize);
        result
    };
    steps.iter().map(turned).collect()
}
