// SPDX-License-Identifier: Apache-2.0
//! Constants as a scheme of real numbers has them: integers become the doubles that are equal to them; and what only schemes
//! of integers have is refused.

use ringmill_isa::macros::{MacroImm, MacroOp, MacroProgram};

use crate::error::{At, CompileError};

/// Makes every integer constant a real one.
///
/// # Errors
/// [`CompileError::InexactInteger`] with the line of one that no double equals, [`CompileError::OfIntegers`] with that of a
/// test for zero or a quotient.
pub(crate) fn run(mut source: MacroProgram) -> Result<MacroProgram, CompileError> {
    for instr in &mut source.instrs {
        if matches!(instr.op, MacroOp::Iszero | MacroOp::Quotient) {
            return Err(CompileError::OfIntegers {
                at: At(instr.loc.clone()),
                op: instr.op.mnemonic(),
            });
        }
        if let MacroImm::Integer(integer) = instr.imm {
            let value = exact(integer).ok_or_else(|| CompileError::InexactInteger {
                at: At(instr.loc.clone()),
                value: integer,
            })?;
            instr.imm = MacroImm::Constant { value, scale: None };
        }
    }
    Ok(source)
}

/// The double that is equal to an integer: one of at most 53 bits between its first and its last that is set.
fn exact(integer: i128) -> Option<f64> {
    let magnitude = integer.unsigned_abs();
    let odd = magnitude >> magnitude.trailing_zeros().min(127);
    (odd >> f64::MANTISSA_DIGITS == 0).then_some(integer as f64)
}
