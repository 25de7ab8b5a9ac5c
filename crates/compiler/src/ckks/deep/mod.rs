// SPDX-License-Identifier: Apache-2.0
//! Fits CKKS programs of any depth to parameters that bootstrap: places bootstraps, chooses levels and scales below
//! those of bootstrapping, and makes the procedure that the bootstraps call.

mod course;
mod extent;
mod place;

use std::sync::Arc;

use ringmill_isa::Level;
use ringmill_isa::macros::MacroProgram;
use ringmill_schemes::ParameterSet;
use ringmill_schemes::ckks::bootstrap::{Bootstrapping, Procedure, Set, Wanted};
use ringmill_schemes::ckks::{Ckks, Params};

use super::Options;
use super::canonical::CanonicalScales;
use super::like::Like;
use super::params::overflow;
use super::precision::{OfBootstrap, UNBOUNDED, predict};
use super::range::InputRange;
use super::scale::trial::Planned;
use super::search::{Fitted, check_slots};
use crate::cures::Cures;
use crate::error::{At, CompileError};
use crate::pipeline;
use crate::refresh;
use crate::relin;
use crate::scheme::Compiles;
use course::{Course, Setting};
use extent::refreshed;

/// Fits a relinearised program to the parameters of a bootstrap. Returns it with the procedure that its bootstraps
/// call, or without one if it needs none.
///
/// # Errors
/// Fails for a program in which some value cannot be bootstrapped in time, with its line. Fails for a value that does
/// not fit its level, for an output without a right digit, and for any target machine. Fails for vectors longer than
/// the parameters' slots, and if the work is stopped.
pub(super) fn fit(
    program: &MacroProgram,
    setup: &Bootstrapping,
    options: &Options,
    ranges: &[InputRange],
) -> Result<(Fitted, Option<Arc<Procedure>>), CompileError> {
    let params = setup.params();
    check(program, params, options)?;
    let layout = setup.layout();
    let output = options.output_level.max(lowest_output(params));
    let setting = Setting {
        start: layout.start(),
        end: layout.end(),
        output,
        watch: &options.watch,
    };
    let program = &place::unrelinearised(program);
    let placement = match refresh::best(program, &Course::new(&setting))? {
        Ok((placement, _)) => placement,
        Err(lost) => {
            return Err(CompileError::TooDeep {
                at: At(lost.loc),
                needed: lost.needed,
                available: layout.end().0,
                cures: Cures::default(),
            });
        }
    };
    let placed = place::run(program, &setting, placement)?;
    let placed = relin::run(placed, pipeline::placement(options.passes));
    let (primes, scale) = (params.cipher_moduli(), params.default_scale());
    let own = primes.get(..layout.end().primes()).unwrap_or(primes);
    let scales = CanonicalScales::new(own, scale)?;
    let mut planned = Planned::bootstrapping(&placed, output, layout.start())?;
    let managed = planned.manage(placed, &scales, output)?;
    let wanted = refreshed(&managed, ranges)?.map(|(magnitude, real)| Wanted {
        real,
        // A power of two says little about a sample.
        magnitude: magnitude.max(f64::MIN_POSITIVE).log2().ceil().exp2(),
        scales: [layout.start(), layout.end()].map(|level| scales.normal(level)),
    });
    let procedure = match wanted {
        None => None,
        Some(wanted) => {
            let made = Procedure::new(setup.clone(), wanted, options.seeded());
            Some(Arc::new(made.map_err(CompileError::Scheme)?))
        }
    };
    let of_bootstrap = procedure.as_ref().map(|procedure| OfBootstrap {
        error: procedure.error(),
        most: procedure.most(),
    });
    let watch = &options.watch;
    let prediction = predict(
        &managed,
        params,
        ranges,
        Like::of(options),
        of_bootstrap,
        watch,
    )?;
    let fitted = Fitted {
        output_level: output,
        params: Arc::clone(params),
        managed,
        prediction,
    };
    let tightest = &fitted.prediction.tightest;
    if !tightest.fits() {
        let first = &tightest.first;
        if first.error >= UNBOUNDED {
            return Err(CompileError::NotBootstrapped {
                at: At(first.loc.clone()),
                what: "a value with an error above 2 % of the largest value that is bootstrapped",
                cure: "declare narrower ranges or bounds of values, so that errors grow less, or compute less deep",
            });
        }
        return Err(overflow(first, options, ranges));
    }
    fitted.check_meaning()?;
    Ok((fitted, procedure))
}

/// The bits beyond the default scale that the modulus of the lowest output level must have, for the integer part of an
/// output.
const OUTPUT_BITS: f64 = 10.0;

/// Returns the lowest level whose modulus has room for outputs at the default scale.
fn lowest_output(params: &Params) -> Level {
    let needed = params.default_scale().log2() + OUTPUT_BITS;
    let mut bits = 0.0;
    let below = params.cipher_moduli().iter().take_while(|&&prime| {
        bits += (prime as f64).log2();
        bits < needed
    });
    Level(below.count() as u32)
}

/// Returns whether parameters that bootstrap may hold a program for which the choice of other
/// parameters failed with `error`.
pub(super) fn may_help(error: &CompileError, wanted: &super::Wanted, options: &Options) -> bool {
    let default = super::Wanted::default();
    let as_sets = wanted.table == default.table && wanted.level == default.level;
    let too_deep = matches!(
        error,
        CompileError::NoParameters { .. } | CompileError::TooDeep { .. }
    );
    too_deep && wanted.bootstrapping && as_sets && options.target.is_none()
}

/// Fits a program that is too deep for all other parameters to those of a set that bootstraps.
///
/// # Errors
/// `error`, the reason why no other parameters serve, if no set holds the program as accurately as the user demands.
/// [`CompileError::KeysTooLarge`] if the sets that do have larger evaluation keys than the user allows. Fails too if
/// the work is stopped.
pub(super) fn choose(
    program: &MacroProgram,
    wanted: &super::Wanted,
    options: &Options,
    ranges: &[InputRange],
    error: CompileError,
) -> Result<(Fitted, Option<Arc<Procedure>>), CompileError> {
    let (mut missing, mut least) = (0.0, None);
    for (set, finer) in Set::SECURE.into_iter().zip(FINER_BITS) {
        if missing > finer {
            continue;
        }
        let setup = set.bootstrapping().map_err(CompileError::Scheme)?;
        match fit(program, &setup, options, ranges) {
            Ok((fitted, made)) if fitted.missing_bits(wanted.accuracy) <= 0.0 => {
                let keys = Ckks::keys(&fitted.managed, &fitted.params, made.as_ref())?;
                let bytes = fitted.params.key_bytes(keys.len(), options.seeded());
                if options.keys.allow(bytes) {
                    return Ok((fitted, made));
                }
                least = Some(least.map_or(bytes, |least: u64| least.min(bytes)));
            }
            Ok((fitted, _)) => missing = f64::max(missing, fitted.missing_bits(wanted.accuracy)),
            Err(halt @ CompileError::Halt(_)) => return Err(halt),
            // No set has more levels than the first one.
            Err(_) => break,
        }
    }
    Err(match least.zip(options.keys.most_bytes) {
        Some((least, wanted)) => CompileError::KeysTooLarge { wanted, least },
        None => error,
    })
}

/// For each secure set, the bits by which its errors may be smaller than those of the first set. A set is not tried if
/// outputs lack more bits under a set before it.
const FINER_BITS: [f64; Set::SECURE.len()] = [0.0, 5.0, 22.0];

fn check(program: &MacroProgram, params: &Params, options: &Options) -> Result<(), CompileError> {
    if options.target.is_some() {
        return Err(CompileError::NotBootstrapped {
            at: At(None),
            what: "a target machine",
            cure: "compile for no target, or a program that needs no bootstrap",
        });
    }
    check_slots(program, params)
}
