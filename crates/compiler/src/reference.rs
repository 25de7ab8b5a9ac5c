// SPDX-License-Identifier: Apache-2.0
//! Programs in the clear, whatever a slot holds: the frame of every scheme's plain evaluator.

use ringmill_isa::Galois;
use ringmill_isa::macros::op::MacroMessage;
use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroProgram, MacroValue, Refused};
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

/// What instructions do to slots of type `V`.
pub(crate) trait Meaning<V> {
    /// The results of one instruction that is no output and makes another message than its operand's.
    ///
    /// # Errors
    /// An operation without a meaning here; operands or an immediate that are not the operation's.
    fn step(
        &mut self,
        program: &MacroProgram,
        instr: &MacroInstr,
        operands: &[&[V]],
        inputs: &[Vec<V>],
    ) -> Result<Vec<Vec<V>>, Refused>;

    /// Sees every value as it is made, numbered as in the program written out, and may change it.
    fn made(&mut self, _: MacroValue, _: &mut [V]) {}
}

/// Evaluates a traced or managed program. `inputs` are the vectors of the program's inputs in order, each of `slots`
/// values; the result is one vector an output, in the order of the program's outputs.
///
/// # Errors
/// [`EvaluateError`] when inputs do not fit the program or the program breaks the macro level's rules.
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

/// Whether there is one vector an input, of as many values as the program has slots.
///
/// # Errors
/// [`EvaluateError::InputCount`], [`EvaluateError::InputLength`].
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

/// What an automorphism does to slots, as a rotation by steps from 0 on and whether their conjugates are taken: 3^step or -3^step modulo
/// 2N. Of vectors that repeat through the slots of a larger ring less than all of the element counts; `None` for an even one.
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

/// The slots turned by `steps`.
pub(crate) fn rotated<V: Clone>(a: &[V], steps: &[i32]) -> Vec<Vec<V>> {
    let turned = |&step: &i32| {
        let mut result = a.to_vec();
        result.rotate_left(step.rem_euclid(a.len().max(1) as i32) as usize);
        result
    };
    steps.iter().map(turned).collect()
}
