// SPDX-License-Identifier: Apache-2.0
//! Chooses the smallest secure CKKS parameters that give a program its levels, its slots and its precision.

use std::sync::Arc;

use ringmill_isa::Level;
use ringmill_isa::macros::MacroProgram;
use ringmill_schemes::ckks::Params;

use super::scale::trial::Planned;
use super::search::{Fitted, MAX_BITS, Room, Search};
use super::{Options, Wanted, balance};
use crate::ckks::canonical::Steps;
use crate::ckks::range::InputRange;
use crate::ckks::tightest::Closeness;
use crate::error::{At, CompileError, Narrower};
use crate::target::{self, Target};

/// The most levels above the one of the options at which outputs are tried, if the first prime alone is too small for
/// integer part and precision.
const SPARE_LEVELS: u32 = 2;

/// Chooses parameters for `program`, which is relinearised, and fits it to them. The outputs are at the level that the
/// options name or above.
///
/// # Errors
/// [`CompileError::NoParameters`], [`CompileError::TooPrecise`], [`CompileError::TooLarge`],
/// [`CompileError::IntegerBits`], [`CompileError::TooManySlots`] or [`CompileError::KeysTooLarge`].
/// [`CompileError::Target`] if parameters exist, but none within the target's limits. [`CompileError::Halt`] if the
/// work is stopped.
pub(crate) fn choose(
    program: &MacroProgram,
    wanted: &Wanted,
    options: &Options,
    ranges: &[InputRange],
) -> Result<Fitted, CompileError> {
    let target = options.target.as_ref();
    let chosen = choose_within(program, wanted, options, ranges, target);
    let (Err(error), Some(target)) = (&chosen, target) else {
        return chosen;
    };
    if matches!(error, CompileError::Halt(_)) {
        return chosen;
    }
    // Parameters that would serve without the machine show which field of its description forbids them.
    let free = choose_within(program, wanted, options, ranges, None)?;
    target::check(target, &*free.params)?;
    chosen
}

fn choose_within(
    program: &MacroProgram,
    wanted: &Wanted,
    options: &Options,
    ranges: &[InputRange],
    target: Option<&Target>,
) -> Result<Fitted, CompileError> {
    let alone = choose_paired(program, wanted, options, ranges, target, 1);
    // If a machine's primes are too small for the scale, two of them make one scale.
    let small = target.is_some_and(|target| target.modulus_bits.is < MAX_BITS);
    match alone {
        Err(
            CompileError::TooPrecise { .. }
            | CompileError::TooLarge { .. }
            | CompileError::IntegerBits { .. },
        ) if small => {
            let paired = choose_paired(program, wanted, options, ranges, target, 2);
            match paired {
                Ok(_) | Err(CompileError::Halt(_)) => paired,
                Err(_) => alone,
            }
        }
        Ok(_) | Err(_) => alone,
    }
}

/// Chooses parameters in which `each` primes make a scale, so that a rescale divides by `each` primes.
fn choose_paired(
    program: &MacroProgram,
    wanted: &Wanted,
    options: &Options,
    ranges: &[InputRange],
    target: Option<&Target>,
    each: u32,
) -> Result<Fitted, CompileError> {
    let mut refused = None;
    let exponents = balance::exponents(program, ranges, options)?;
    let lowest = Level(options.output_level.0.div_ceil(each));
    for level in lowest.to(lowest.above(SPARE_LEVELS)) {
        let planned = Planned::free(program, level)?;
        let has_labels = planned.has_labels();
        let search = |planned: Planned| {
            let levels = planned.depths().levels(level);
            let mut search = Search {
                program,
                ranges,
                wanted,
                room: Room::new(target),
                least_log_n: 0,
                asks_target: target.is_none() && options.target.is_some(),
                each,
                options,
                output_level: level,
                levels,
                ratios: planned.ratios(levels),
                planned,
                rooms: Vec::new(),
                narrower: narrower(options, ranges),
            };
            search.with_keys()
        };
        if let Some(exponents) = exponents.as_ref().filter(|_| !has_labels) {
            let balanced = Planned::products(program, level)?.balanced(exponents);
            match search(balanced) {
                Ok(fitted) => return Ok(fitted),
                Err(error @ CompileError::Halt(_)) => return Err(error),
                // The program without exponents says best what is missing.
                Err(_) => {}
            }
        }
        let mut found = search(planned);
        // Primes that suit the constants may be too large, or a value at a larger scale may not fit.
        let is_final = matches!(
            found,
            Ok(_) | Err(CompileError::Halt(_) | CompileError::KeysTooLarge { .. })
        );
        if has_labels && !is_final {
            found = search(Planned::products(program, level)?);
        }
        match found {
            Ok(fitted) => return Ok(fitted),
            // With a spare level the integer part need not fit the first prime beside the scale.
            Err(error @ (CompileError::TooLarge { .. } | CompileError::TooPrecise { .. })) => {
                refused = Some(error);
            }
            Err(error @ CompileError::Halt(_)) => return Err(error),
            // One more level is no cure, and the error without it says more.
            Err(error) => return Err(refused.unwrap_or(error)),
        }
    }
    Err(refused.unwrap_or_else(|| CompileError::NoOutput {
        name: program.name.clone(),
    }))
}

/// Fits `program` to the parameters that the user gives. Its outputs are at the lowest level, from the one in the
/// options up, at which every value fits.
///
/// # Errors
/// [`CompileError::Overflow`] if no level to spare lets all values fit, [`CompileError::Meaningless`] for an output
/// without a right digit. [`CompileError::TooDeep`] or [`CompileError::TooManySlots`] for a program with more levels or
/// longer vectors than the parameters have. [`CompileError::ScaleDrift`] for primes too far from the scale,
/// [`CompileError::Target`] for parameters that the target does not take.
pub(crate) fn given(
    program: &MacroProgram,
    params: &Arc<Params>,
    options: &Options,
    ranges: &[InputRange],
) -> Result<Fitted, CompileError> {
    if let Some(target) = &options.target {
        target::check(target, &**params)?;
    }
    let mut refused = None;
    let lowest = Steps::of_params(params).at_least(options.output_level);
    for level in lowest.to(lowest.above(SPARE_LEVELS)) {
        let (primes, scale) = (params.cipher_moduli(), params.default_scale());
        let mut planned = Planned::given(program, level, primes, scale)?;
        let params = Arc::clone(params);
        let fitted = Fitted::new(program, params, level, &mut planned, ranges, options);
        let fitted = match fitted {
            Ok(fitted) => fitted,
            Err(error @ CompileError::Halt(_)) => return Err(error),
            Err(error) => return Err(refused.unwrap_or(error)),
        };
        let tightest = &fitted.prediction.tightest;
        if tightest.fits() {
            fitted.check_meaning()?;
            return Ok(fitted);
        }
        refused.get_or_insert_with(|| overflow(&tightest.first, options, ranges));
    }
    Err(refused.unwrap_or_else(|| CompileError::NoOutput {
        name: program.name.clone(),
    }))
}

/// Returns the error for a value that does not fit its level.
pub(super) fn overflow(
    value: &Closeness,
    options: &Options,
    ranges: &[InputRange],
) -> CompileError {
    CompileError::Overflow {
        at: At(value.loc.clone()),
        magnitude: value.magnitude,
        error: value.error,
        capacity: value.capacity,
        narrower: narrower(options, ranges),
    }
}

fn narrower(options: &Options, ranges: &[InputRange]) -> Narrower {
    let disc = |range: &InputRange| match range {
        InputRange::Disc { .. } => true,
        InputRange::Real { .. } => false,
    };
    Narrower {
        by_sample: options.sample.is_some(),
        complex: ranges.iter().any(disc),
    }
}
