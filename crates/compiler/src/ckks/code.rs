//! The procedure of each instruction.

use ringmill_isa::Galois;
use ringmill_isa::Level;
use ringmill_isa::macros::{LevelNote, LevelScale, MacroImm, MacroInstr, MacroOp};
use ringmill_schemes::ckks::encoder::scalar_residues;
use ringmill_schemes::ckks::{Ckks, OpKey, Params};
use ringmill_schemes::rlwe::{KeyRequest, RlweError};

use crate::error::CompileError;
use crate::keys;
use crate::scheme::{Code, Lowerable};

/// The elements of the automorphisms that an instruction is, one a result: powers of 3, and 2N - 1 conjugates.
///
/// # Errors
/// Rotations that the slots do not have.
pub(super) fn automorphisms(params: &Params, instr: &MacroInstr) -> Result<Vec<Galois>, RlweError> {
    let turns = |step| params.galois_element(i64::from(step));
    keys::automorphisms(instr, turns, Some(params.conjugation_element()))
}

/// The code of an instruction of a managed program: one call of a procedure, constants and Galois elements left to the call;
/// `MODSWITCH` drops limbs and calls nothing.
///
/// # Errors
/// Constants that cannot be encoded, rotations that the slots do not have.
pub(super) fn of(params: &Params, instr: &Lowerable<'_>) -> Result<Code<Ckks>, CompileError> {
    let LevelScale { level, scale } = at(instr);
    let size = instr.size(0).unwrap_or(0);
    let seeded = instr.seeded;
    let constant = |value: f64, scale: f64| residues(params, instr, value, level, scale);
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
            None => (OpKey::add_plain(level, size), vec![]),
        },
        (MacroOp::Sub, 2, _) => match instr.size(1) {
            Some(other) => (OpKey::sub(level, size, other), vec![]),
            None => (OpKey::sub_plain(level, size), vec![]),
        },
        (MacroOp::Mul, 2, _) => match instr.size(1) {
            Some(_) if instr.switched => (OpKey::mul_relin(level, seeded), relin()),
            Some(_) => (OpKey::mul(level), vec![]),
            None => (OpKey::mul_plain(level, size), vec![]),
        },
        (MacroOp::Square, 1, _) if instr.switched => (OpKey::square_relin(level, seeded), relin()),
        (MacroOp::Square, 1, _) => (OpKey::square(level), vec![]),
        (MacroOp::Neg, 1, _) => (OpKey::neg(level, size), vec![]),
        (MacroOp::Addc, 1, &MacroImm::Constant { value, .. }) => {
            let residues = constant(value, scale)?;
            (OpKey::add_scalar(level, size, residues), vec![])
        }
        (MacroOp::Mulc, 1, &MacroImm::Constant { value, scale }) => {
            let residues = constant(value, scale.unwrap_or(1.0))?;
            (OpKey::mul_scalar(level, size, residues), vec![])
        }
        (MacroOp::Relin, 1, _) => (OpKey::relin(level, seeded), relin()),
        (MacroOp::Rescale, 1, _) => (OpKey::rescale(level, size), vec![]),
        (MacroOp::Rotate | MacroOp::Conj, 1, _) => match *turns()? {
            [element] => rotated(element),
            _ => return Err(instr.misshapen()),
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
        // The macro verifier has refused other shapes, calls and repeats are written out before, and what is no
        // computation does not come here.
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

/// Level and scale of the first operand.
fn at(instr: &Lowerable<'_>) -> LevelScale {
    let unmanaged = LevelScale {
        level: Level::LOWEST,
        scale: 1.0,
    };
    let at = instr.at(0).and_then(LevelNote::scaled);
    at.unwrap_or(unmanaged)
}

fn residues(
    params: &Params,
    instr: &Lowerable<'_>,
    value: f64,
    level: Level,
    scale: f64,
) -> Result<Vec<u64>, CompileError> {
    scalar_residues(params, value, level, scale).map_err(|why| CompileError::BadConstant {
        at: instr.line(),
        value,
        why,
    })
}
