//! The order of the passes.

use ringmill_isa::macros::{MacroProgram, Stage, stage, verify, verify_with_primes};
use ringmill_schemes::ckks::Params;

use crate::canonical::CanonicalScales;
use crate::error::CompileError;
use crate::options::Passes;
use crate::relin::Placement;
use crate::{cse, dce, fold, hoist, relin, scale};

/// Refuses programs that break the macro level's rules, are not as traced, or compute nothing.
pub(crate) fn check(source: &MacroProgram) -> Result<(), CompileError> {
    verify(source)?;
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

/// Levels and scales, checked by the macro verifier against the parameters' primes.
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
    let managed = scale::run(relinearised, &scales, output_level)?;
    verify_with_primes(&managed, params.cipher_moduli())?;
    Ok(managed)
}
