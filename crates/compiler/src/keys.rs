//! The evaluation keys that a program of a ring scheme needs, and no others.

use std::collections::BTreeSet;

use ringmill_isa::macros::{MacroImm, MacroOp, MacroProgram};
use ringmill_schemes::rlwe::{KSwitchKey, KeyForm, KeyRequest, Params, RlweError};

/// The relinearisation key, if anything is relinearised, then the keys of the Galois elements of rotations (`3^step mod 2N`)
/// and, where they are `2N - 1`, of conjugations, in increasing order.
///
/// # Errors
/// A rotation step that the parameters' slots do not have.
pub(crate) fn of(
    program: &MacroProgram,
    params: &Params,
    conjugates: bool,
) -> Result<Vec<KeyRequest>, RlweError> {
    let mut found = BTreeSet::new();
    for instr in &program.instrs {
        if let MacroImm::Steps(steps) = &instr.imm {
            for &step in steps {
                found.insert(params.galois_element(i64::from(step))?);
            }
        }
        if instr.op == MacroOp::Conj && conjugates {
            found.insert(params.conjugation_element());
        }
    }
    let relinearises = program.instrs.iter().any(|i| i.op == MacroOp::Relin);
    let relin = relinearises.then_some(KeyRequest::Relin);
    let galois = found.into_iter().map(KeyRequest::Galois);
    Ok(relin.into_iter().chain(galois).collect())
}

/// Bytes of so many of them.
pub(crate) fn bytes(params: &Params, keys: usize, seeded: bool) -> u64 {
    let form = if seeded {
        KeyForm::Seeded
    } else {
        KeyForm::Stored
    };
    keys as u64 * KSwitchKey::bytes_of(params, form)
}
