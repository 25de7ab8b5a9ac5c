// SPDX-License-Identifier: Apache-2.0
//! Inserts the placed bootstraps into a program.

use ringmill_isa::macros::{MacroImm, MacroOp, MacroProgram};

use super::course::{Course, Setting};
use crate::error::CompileError;
use crate::refresh::Placement;
use crate::rewrite::{CIPHER, Rewriter};

/// Returns the program with a `BOOTSTRAP` before the first instruction that reads a value after a cut of the placement.
/// Later instructions read the bootstrapped value.
///
/// # Errors
/// Fails for an operation that is not of CKKS, and for a stop of the work.
pub(super) fn run(
    program: &MacroProgram,
    setting: &Setting<'_>,
    placement: Placement,
) -> Result<MacroProgram, CompileError> {
    let mut course = Course::new(setting).placed(placement);
    let (mut out, body) = Rewriter::new(program.clone());
    for (number, instr) in body.instrs.iter().enumerate() {
        for v in course.next(program, number)? {
            let imm = MacroImm::Level(setting.end);
            let new = out.push(
                MacroOp::Bootstrap,
                vec![out.get(v)],
                imm,
                CIPHER,
                &instr.loc,
            );
            out.set(v, new);
        }
        out.copy(instr, &body.types);
    }
    Ok(out.finish())
}
