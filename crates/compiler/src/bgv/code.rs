//! The procedure of each instruction.

use ringmill_isa::Galois;
use ringmill_isa::macros::{LevelNote, MacroImm, MacroInstr, MacroOp, Note};
use ringmill_math::slots::SlotStructure;
use ringmill_schemes::ParameterSet;
use ringmill_schemes::bgv::{Bgv, Factor, OpKey, Params, scalar};
use ringmill_schemes::exact::scalar::residues;
use ringmill_schemes::rlwe::{KeyRequest, RlweError};

use super::CompileError;
use crate::keys;
use crate::scheme::{Code, Lowerable};

/// The elements of the automorphisms that an instruction is, one a result: a conjugate of whole numbers is what it is of.
///
/// # Errors
/// Rotations that the slots do not have.
pub(super) fn automorphisms(params: &Params, instr: &MacroInstr) -> Result<Vec<Galois>, RlweError> {
    let turns = |step| turned(params, step);
    keys::automorphisms(instr, turns, None)
}

/// The code of an instruction of a managed program: one call of a procedure, constants, factors and Galois elements left to
/// the call. `MODSWITCH` drops limbs and calls nothing; a conjugate of whole numbers is what it is of.
///
/// # Errors
/// Rotations that the slots do not have.
pub(super) fn of(params: &Params, instr: &Lowerable<'_>) -> Result<Code<Bgv>, CompileError> {
    let Some(LevelNote {
        level,
        note: Note::Factor(factor),
    }) = instr.at(0)
    else {
        return Err(instr.misshapen());
    };
    let factor = Factor::unchecked(factor);
    let size = instr.size(0).unwrap_or(0);
    let seeded = instr.seeded;
    let relin = || vec![KeyRequest::Relin];
    let turns = || automorphisms(params, instr.instr);
    let rotated = |element| {
        let keys = vec![KeyRequest::Galois(element)];
        (OpKey::rotate(level, element, seeded), keys)
    };
    let (operation, keys) = match (instr.op(), instr.instr.src.len(), instr.imm()) {
        (MacroOp::Modswitch, 1, MacroImm::Level(_)) => return Ok(Code::Kept),
        (MacroOp::Add, 2, _) => match instr.size(1) {
            Some(other) => (OpKey::add(level, size, other), vec![]),
            None => (OpKey::add_plain(level, size, factor), vec![]),
        },
        (MacroOp::Sub, 2, _) => match instr.size(1) {
            Some(other) => (OpKey::sub(level, size, other), vec![]),
            None => (OpKey::sub_plain(level, size, factor), vec![]),
        },
        (MacroOp::Mul, 2, _) => match instr.size(1) {
            Some(_) if instr.switched => (OpKey::mul_relin(level, seeded), relin()),
            Some(_) => (OpKey::mul(level), vec![]),
            None => (OpKey::mul_plain(level, size), vec![]),
        },
        (MacroOp::Square, 1, _) if instr.switched => (OpKey::square_relin(level, seeded), relin()),
        (MacroOp::Square, 1, _) => (OpKey::square(level), vec![]),
        (MacroOp::Neg, 1, _) => (OpKey::neg(level, size), vec![]),
        (MacroOp::Addc, 1, &MacroImm::Integer(value)) => {
            let term = scalar::term(params, value, factor, level)?;
            (OpKey::add_scalar(level, size, term), vec![])
        }
        (MacroOp::Mulc | MacroOp::Refactor, 1, &MacroImm::Integer(value)) => {
            let factor = residues(params, value, level);
            (OpKey::mul_scalar(level, size, factor), vec![])
        }
        (MacroOp::Quotient, 1, &MacroImm::Integer(by)) => {
            let primes = params.reducers().iter().take(level.primes());
            let inverse = primes.map(|q| q.inv(q.reduce(by.unsigned_abs() as u64)));
            let inverse = inverse.collect::<Result<Vec<_>, _>>();
            let inverse = inverse.map_err(RlweError::from)?;
            (OpKey::mul_scalar(level, size, inverse), vec![])
        }
        (MacroOp::Relin, 1, _) => (OpKey::relin(level, seeded), relin()),
        (MacroOp::Rescale, 1, _) => (OpKey::mod_switch(level, size), vec![]),
        (MacroOp::Rotate | MacroOp::Conj, 1, _) => match *turns()? {
            [element] => rotated(element),
            // A conjugate of whole numbers is what it is of.
            _ => return Ok(Code::Kept),
        },
        (MacroOp::Morph, 1, &MacroImm::Galois(element)) if instr.switched => rotated(element),
        (MacroOp::Morph, 1, &MacroImm::Galois(element)) => (OpKey::morph(level, element), vec![]),
        (MacroOp::Ksw, 1, _) => match instr.under(0) {
            Some(element) => {
                let keys = vec![KeyRequest::Galois(element)];
                (OpKey::key_switch(level, seeded), keys)
            }
            None => (OpKey::relin(level, seeded), relin()),
        },
        (MacroOp::Hrotate, 1, _) => {
            let elements = turns()?;
            let keys = elements.iter().copied().map(KeyRequest::Galois).collect();
            (OpKey::hoisted_rotate(level, elements, seeded), keys)
        }
        // The macro verifier has refused other shapes, calls, repeats and tests for zero are written out before, constants are integers, and
        // what is no computation does not come here.
        (
            MacroOp::Input
            | MacroOp::Encode
            | MacroOp::Load
            | MacroOp::Add
            | MacroOp::Sub
            | MacroOp::Neg
            | MacroOp::Addc
            | MacroOp::Mulc
            | MacroOp::Mul
            | MacroOp::Square
            | MacroOp::Relin
            | MacroOp::Rescale
            | MacroOp::Modswitch
            | MacroOp::Refactor
            | MacroOp::Rotate
            | MacroOp::Hrotate
            | MacroOp::Conj
            | MacroOp::Morph
            | MacroOp::Ksw
            | MacroOp::Iszero
            | MacroOp::Quotient
            | MacroOp::Bootstrap
            | MacroOp::Call
            | MacroOp::Repeat
            | MacroOp::Output,
            _,
            _,
        ) => return Err(instr.misshapen()),
    };
    let (operation, immediates) = operation.opened();
    Ok(Code::Call {
        operation,
        keys,
        immediates,
    })
}

/// The Galois element that turns the vectors of a program: of parameters that bootstrap, by the slots that their plaintext modulus
/// has.
///
/// # Errors
/// Steps that the slots do not have.
pub(super) fn turned(params: &Params, step: i32) -> Result<Galois, RlweError> {
    if params.last_plain() == 0 {
        return params.galois_element(i64::from(step));
    }
    let power = params.prime_power()?;
    let structure = SlotStructure::new(params.log_n().into(), power.prime());
    let structure = structure.map_err(|_| RlweError::RotationStep {
        step: step.into(),
        max: 0,
    })?;
    let (columns, mask) = (structure.columns() as i64, 2 * params.degree() as u64 - 1);
    let times = i64::from(step).rem_euclid(columns);
    let generator = structure.column_generator();
    let element = (0..times).fold(1u64, |g, _| (g * generator) & mask);
    Ok(Galois(element as u32))
}
