// SPDX-License-Identifier: Apache-2.0
//! Checks the constants of a program of integers: they must be whole numbers.

use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroProgram};

use crate::error::{At, CompileError};
use crate::numbers::whole;

/// Makes every number constant an integer, and checks that the constant vectors that instructions encode hold whole
/// numbers. The imaginary parts must be 0. Procedures stay as they are.
///
/// # Errors
/// [`CompileError::NotWhole`] with the line of a constant that is no whole number, or not below 2^53 in absolute value.
pub(crate) fn run<E>(mut source: MacroProgram) -> Result<MacroProgram, CompileError<E>> {
    let vectors: Vec<Option<f64>> = source.data.iter().map(|data| fraction(data)).collect();
    for instr in &mut source.instrs {
        let found = match &instr.imm {
            MacroImm::Constant { value, .. } => match whole(*value) {
                Some(integer) => {
                    instr.imm = MacroImm::Integer(integer.into());
                    None
                }
                None => Some(*value),
            },
            MacroImm::Data(number) => vectors.get(*number as usize).copied().flatten(),
            MacroImm::None
            | MacroImm::Input(_)
            | MacroImm::Output(_)
            | MacroImm::Integer(_)
            | MacroImm::Level(_)
            | MacroImm::Galois(_)
            | MacroImm::Interval(_)
            | MacroImm::Steps(_)
            | MacroImm::Proc(_)
            | MacroImm::Repeat { .. }
            | MacroImm::Lifted(_)
            | MacroImm::Elements(_)
            | MacroImm::Turns(_)
            | MacroImm::Matrix(_)
            | MacroImm::Combination(_)
            | MacroImm::Products(_) => None,
        };
        if let Some(value) = found {
            let at = At(instr.loc.clone());
            return Err(CompileError::NotWhole { at, value });
        }
    }
    Ok(source)
}

/// Refuses quotients, which only a scheme with messages in the low bits of the phase can compute.
///
/// # Errors
/// [`CompileError::NoQuotient`] with the line of the first quotient.
pub(crate) fn without_quotients<E>(source: &MacroProgram) -> Result<(), CompileError<E>> {
    let quotient = |instr: &&MacroInstr| instr.op == MacroOp::Quotient;
    let Some(instr) = source.instrs.iter().find(quotient) else {
        return Ok(());
    };
    let by = match instr.imm {
        MacroImm::Integer(by) => by,
        _ => 0,
    };
    let at = At(instr.loc.clone());
    Err(CompileError::NoQuotient { at, by })
}

/// Returns the first real part of a vector that is no whole number below 2^53, or NaN if an imaginary part that is not
/// 0 comes first. Returns `None` if all slots are whole.
fn fraction(data: &[(f64, f64)]) -> Option<f64> {
    let parts = data.iter().flat_map(|&(re, im)| {
        // A number with an imaginary part other than 0 is not whole.
        let im = if im == 0.0 { 0.0 } else { f64::NAN };
        [re, im]
    });
    parts.into_iter().find(|&part| whole(part).is_none())
}
