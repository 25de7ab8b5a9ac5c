// SPDX-License-Identifier: Apache-2.0
//! Runs the compiler's passes before levels, in the order that all schemes share.

use ringmill_isa::macros::{MacroProgram, Stage, stage, verify};
use ringmill_limits::Watch;

use crate::error::{At, CompileError};
use crate::relin::Placement;
use crate::scheme::options::Passes;
use crate::scheme::{Compiles, ErrorOf};
use crate::{cse, dce, hoist, inline, relin};

/// Refuses a program that breaks the macro level's rules, is of another scheme, has relinearisations or levels
/// already, or computes nothing.
pub(crate) fn check<S: Compiles>(source: &MacroProgram) -> Result<(), ErrorOf<S>> {
    verify(source)?;
    if source.scheme.as_str() != S::NAME {
        return Err(CompileError::OtherScheme {
            scheme: source.scheme.clone(),
            expected: S::NAME,
        });
    }
    if stage(source) != Stage::Traced {
        return Err(CompileError::NotTraced);
    }
    if source.outputs.is_empty() {
        return Err(CompileError::NoOutput {
            name: source.name.clone(),
        });
    }
    Ok(())
}

/// The approximate memory in bytes that one value of a program takes during compilation.
pub(crate) const A_VALUE: u64 = 1024;

/// Returns the program without calls and repeats, with its constants in the scheme's form. Refuses it if it is then too
/// long, if there is no memory for it, or for a constant that the scheme does not take.
pub(crate) fn plain<S: Compiles>(
    source: &MacroProgram,
    watch: &Watch,
) -> Result<MacroProgram, ErrorOf<S>> {
    if !source.procs.is_empty() {
        watch.admit("the program written out", A_VALUE * inline::length(source)?)?;
    }
    S::constants(inline::written_out(source)?.into_owned())
}

/// Refuses operations that the scheme does not have. The constants are already in the scheme's form.
pub fn of_scheme<S: Compiles>(program: &MacroProgram) -> Result<(), ErrorOf<S>> {
    let procs = program.procs.iter().flat_map(|proc| &proc.instrs);
    let mut instrs = procs.chain(&program.instrs);
    match instrs.find(|instr| !instr.op.is_of(S::NAME)) {
        None => Ok(()),
        Some(instr) => Err(CompileError::OfOtherSchemes {
            at: At(instr.loc.clone()),
            op: instr.op.mnemonic(),
            scheme: S::NAME,
        }),
    }
}

/// Returns the rule by which relinearisations are placed: as few as possible if the user asks for
/// that pass, else one after each product.
pub(crate) fn placement(passes: Passes) -> Placement {
    match passes.lazy_relin {
        true => Placement::Fewest,
        false => Placement::Eager,
    }
}

/// Runs the passes before levels: merging of equal instructions, simplification, removal of dead code, placement of
/// relinearisations, and hoisting. All but the placement run only if `passes` has them.
pub fn relinearised<S: Compiles>(source: MacroProgram, passes: Passes) -> MacroProgram {
    let when = |on: bool, pass: fn(MacroProgram) -> MacroProgram, program| {
        if on { pass(program) } else { program }
    };
    // Simplification finds squares among merged values, and merging finds more among simplified ones.
    let program = when(passes.cse, cse::run, source);
    let program = S::simplified(program, passes);
    let program = when(passes.cse, cse::run, program);
    let program = when(passes.dce, dce::run, program);
    let program = relin::run(program, placement(passes));
    when(passes.hoist, hoist::run, program)
}
