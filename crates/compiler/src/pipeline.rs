//! The order of the passes.

use ringmill_isa::macros::{MacroProgram, Stage, stage, verify};
use ringmill_limits::Watch;
use ringmill_schemes::ckks::Params;

use crate::canonical::CanonicalScales;
use crate::error::CompileError;
use crate::options::Passes;
use crate::relin::Placement;
use crate::{cse, dce, fold, hoist, inline, real, relin, scale};

/// The scheme whose procedures programs are lowered to.
const SCHEME: &str = "ckks";

/// Refuses programs that break the macro level's rules, are not as traced, or compute nothing.
pub(crate) fn check(source: &MacroProgram) -> Result<(), CompileError> {
    verify(source)?;
    if source.scheme.as_str() != SCHEME {
        return Err(CompileError::OtherScheme {
            scheme: source.scheme.clone(),
            expected: SCHEME,
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

/// Bytes that a value of a program takes on its way through the compiler, about.
const A_VALUE: u64 = 1024;

/// Calls and repeats written out, if there may be memory for it, and all constants real.
pub(crate) fn plain(source: &MacroProgram, watch: &Watch) -> Result<MacroProgram, CompileError> {
    if !source.procs.is_empty() {
        watch.admit("the program written out", A_VALUE * inline::length(source)?)?;
    }
    real::run(inline::written_out(source)?.into_owned())
}

/// The passes before levels and scales: simplification, relinearisation placement, hoisting.
pub(crate) fn relinearised(
    source: MacroProgram,
    passes: Passes,
) -> Result<MacroProgram, CompileError> {
    let when = |on: bool, pass: fn(MacroProgram) -> Result<MacroProgram, CompileError>| {
        move |program| if on { pass(program) } else { Ok(program) }
    };
    let placement = if passes.lazy_relin {
        Placement::Fewest
    } else {
        Placement::Eager
    };
    // Simplification finds squares among merged values, and merging finds more among simplified ones.
    Ok(source)
        .and_then(when(passes.cse, cse::run))
        .and_then(when(passes.fold, fold::run))
        .and_then(when(passes.cse, cse::run))
        .and_then(when(passes.dce, dce::run))
        .and_then(|program| relin::run(program, placement))
        .and_then(when(passes.hoist, hoist::run))
}

/// Levels and scales, by the parameters' primes. [`crate::compile`] verifies the one program that comes of it.
pub(crate) fn managed(
    relinearised: MacroProgram,
    params: &Params,
    output_level: u32,
) -> Result<MacroProgram, CompileError> {
    if relinearised.slots as usize > params.slots() {
        return Err(CompileError::TooManySlots {
            slots: relinearised.slots,
            log_n: u32::from(params.log_n()),
            available: params.slots() as u32,
        });
    }
    let scales = CanonicalScales::new(params.cipher_moduli(), params.default_scale())?;
    scale::run(relinearised, &scales, output_level)
}
