// SPDX-License-Identifier: Apache-2.0
//! Converts the constants of a program for a scheme of real numbers: each integer becomes the double that is equal to
//! it. Operations that only schemes of integers have are refused.

use ringmill_isa::macros::{MacroImm, MacroOp, MacroProgram};

use crate::error::{At, CompileError};

/// Converts every integer constant of a program to a real one.
///
/// # Errors
/// [`CompileError::InexactInteger`] with the line of an integer that no double equals, or [`CompileError::OfIntegers`]
/// with the line of a test for zero or a quotient.
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

/// Returns the double that is equal to an integer, or `None` if the integer has more than 53 bits from its first set
/// bit to its last.
fn exact(integer: i128) -> Option<f64> {
    let magnitude = integer.unsigned_abs();
    let odd = magnitude >> magnitude.trailing_zeros().min(127);
    (odd >> f64::MANTISSA_DIGITS == 0).then_some(integer as f64)
}
