// SPDX-License-Identifier: Apache-2.0
//! Inserts the placed bootstraps into a program.

use std::rc::Rc;

use ringmill_isa::macros::{MacroImm, MacroOp, MacroProgram, MacroType};

use super::course::{Course, Setting};
use crate::error::CompileError;
use crate::refresh::{Course as _, Placement};
use crate::rewrite::{CIPHER, Rewriter};

/// Returns a relinearised program without its relinearisations, since bootstraps may be placed where values have three
/// polynomials.
pub(super) fn unrelinearised(program: &MacroProgram) -> MacroProgram {
    let mut out = Rewriter::beside(program);
    let pair = |ty: MacroType| match ty {
        MacroType::Cipher { .. } => CIPHER,
        other => other,
    };
    let types: Vec<MacroType> = program.types.iter().copied().map(pair).collect();
    for instr in &program.instrs {
        match (instr.op, instr.src.as_slice(), instr.dst.as_slice()) {
            (MacroOp::Relin, &[a], &[d]) => out.set(d, out.get(a)),
            _ => out.copy(instr, &types),
        }
    }
    out.finish()
}

/// Returns the program with a `BOOTSTRAP` for each value that a cut of the placement (a place at which live values are
/// bootstrapped) demands. It stands before the first instruction that reads the value after the cut. Values that a
/// bootstrap gives no level, and those that the placement keeps, have none. Later instructions read the bootstrapped
/// value.
///
/// # Errors
/// Fails for an operation that is not of CKKS, and for a stop of the work.
pub(super) fn run(
    program: &MacroProgram,
    setting: &Setting<'_>,
    placement: Placement,
) -> Result<MacroProgram, CompileError> {
    let mut course = Course::new(setting);
    course.refresh_by(Rc::new(placement));
    let mut out = Rewriter::beside(program);
    for (number, instr) in program.instrs.iter().enumerate() {
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
        out.copy(instr, &program.types);
    }
    Ok(out.finish())
}
