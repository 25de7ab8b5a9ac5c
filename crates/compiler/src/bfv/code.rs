//! The procedure of each instruction.

use ringmill_isa::Galois;
use ringmill_isa::macros::{MacroImm, MacroOp};
use ringmill_schemes::bfv::{Bfv, OpKey, Params, scalar};
use ringmill_schemes::exact::scalar::residues;
use ringmill_schemes::rlwe::KeyRequest;

use super::CompileError;
use crate::scheme::{Code, Lowerable};

/// The code of an instruction of a managed program: one call of a procedure, constants and Galois elements left to the
/// call. A conjugate of whole numbers is what it is of.
///
/// # Errors
/// Rotations that the slots do not have.
pub(super) fn of(params: &Params, instr: &Lowerable<'_>) -> Result<Code<Bfv>, CompileError> {
    let level = params.max_level();
    let size = instr.size(0).unwrap_or(0);
    let seeded = instr.seeded;
    let relin = || vec![KeyRequest::Relin];
    let turn = |&step: &i32| params.galois_element(i64::from(step));
    let (operation, keys) = match (instr.op(), instr.instr.src.len(), instr.imm()) {
        (MacroOp::Conj, 1, _) => return Ok(Code::Kept),
        (MacroOp::Add, 2, _) => match instr.size(1) {
            Some(other) => (OpKey::add(level, size, other), vec![]),
            None => (OpKey::add_plain(level, size), vec![]),
        },
        (MacroOp::Sub, 2, _) => match instr.size(1) {
            Some(other) => (OpKey::sub(level, size, other), vec![]),
            None => (OpKey::sub_plain(level, size), vec![]),
        },
        (MacroOp::Mul, 2, _) => match instr.size(1) {
            Some(_) if instr.relinearised => (OpKey::mul_relin(level, seeded), relin()),
            Some(_) => (OpKey::mul(level), vec![]),
            None => (OpKey::mul_plain(level, size), vec![]),
        },
        (MacroOp::Square, 1, _) if instr.relinearised => {
            (OpKey::square_relin(level, seeded), relin())
        }
        (MacroOp::Square, 1, _) => (OpKey::square(level), vec![]),
        (MacroOp::Neg, 1, _) => (OpKey::neg(level, size), vec![]),
        (MacroOp::Addc, 1, &MacroImm::Integer(value)) => {
            let term = scalar::term(params, value, level)?;
            (OpKey::add_scalar(level, size, term), vec![])
        }
        (MacroOp::Mulc, 1, &MacroImm::Integer(value)) => {
            let factor = residues(params, value, level);
            (OpKey::mul_scalar(level, size, factor), vec![])
        }
        (MacroOp::Relin, 1, _) => (OpKey::relin(level, seeded), relin()),
        (MacroOp::Rotate, 1, MacroImm::Steps(steps)) => {
            let element = steps.first().map(turn).unwrap_or(Ok(Galois(1)))?;
            let keys = vec![KeyRequest::Galois(element)];
            (OpKey::rotate(level, element, seeded), keys)
        }
        (MacroOp::Hrotate, 1, MacroImm::Steps(steps)) => {
            let elements = steps.iter().map(turn).collect::<Result<Vec<_>, _>>()?;
            let keys = elements.iter().copied().map(KeyRequest::Galois).collect();
            (OpKey::hoisted_rotate(level, elements, seeded), keys)
        }
        // The macro verifier has refused other shapes, calls, repeats and tests for zero are written out before, constants are integers,
        // levels stay, and what is no computation does not come here.
        (
            MacroOp::Input
            | MacroOp::Encode
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
