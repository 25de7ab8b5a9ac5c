//! The Galois keys that a program needs, and no others.

use std::collections::BTreeSet;

use ringmill_isa::macros::{MacroImm, MacroOp, MacroProgram};
use ringmill_schemes::ckks::Params;

use crate::error::CompileError;

/// The Galois elements of a program's rotations (`3^step mod 2N`) and conjugations (`2N - 1`), in increasing order.
///
/// # Errors
/// A rotation step that the parameters' slots do not have.
pub fn elements(program: &MacroProgram, params: &Params) -> Result<BTreeSet<u32>, CompileError> {
    let mut found = BTreeSet::new();
    for instr in &program.instrs {
        if let MacroImm::Steps(steps) = &instr.imm {
            for &step in steps {
                found.insert(params.galois_element(i64::from(step))?);
            }
        }
        if instr.op == MacroOp::Conj {
            found.insert(params.conjugation_element());
        }
    }
    Ok(found)
}
