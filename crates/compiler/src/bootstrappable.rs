// SPDX-License-Identifier: Apache-2.0
//! Checks that a program that is to bootstrap has only operations and procedures that suit bootstrapping.

use ringmill_isa::macros::{MacroOp, MacroProgram, MacroType, MacroValue};

use crate::line::At;

/// A part of a program that no program that bootstraps may have.
pub(crate) struct Unfit {
    pub at: At,
    /// The part of the program that bootstrapping forbids, in words for an error message.
    pub what: &'static str,
    /// What the user can write in place of the part of the program that bootstrapping forbids.
    pub cure: &'static str,
}

/// Refuses tests for zero, and procedures with plain parameters, in a program that is to bootstrap.
///
/// # Errors
/// Returns the first test for zero. If there is none, it returns the first procedure with a plain parameter.
pub(crate) fn check(program: &MacroProgram) -> Result<(), Unfit> {
    let bodies = program.procs.iter().map(|proc| &proc.instrs);
    let mut instrs = bodies.chain([&program.instrs]).flatten();
    if let Some(instr) = instrs.find(|instr| instr.op == MacroOp::Iszero) {
        return Err(Unfit {
            at: At(instr.loc.clone()),
            what: "a test for zero",
            cure: "look a table of the lowest digit up",
        });
    }
    for proc in &program.procs {
        let plain =
            |v: &MacroValue| matches!(proc.types.get(v.0 as usize), Some(MacroType::Plain { .. }));
        if proc.params.iter().any(plain) {
            return Err(Unfit {
                at: At(proc.loc.clone()),
                what: "a procedure of a plain vector",
                cure: "encrypt it, or make it a constant of the procedure",
            });
        }
    }
    Ok(())
}
