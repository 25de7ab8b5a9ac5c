// SPDX-License-Identifier: Apache-2.0
//! Finds the smallest ring degree at which secure parameters hold a program of integers. Checks given parameters.

use ringmill_isa::macros::MacroProgram;
use ringmill_schemes::ParameterSet;
use ringmill_schemes::exact::{ExactError, ExactParams};
use ringmill_schemes::rlwe::security::bound;
use ringmill_schemes::rlwe::{RlweError, SecretDistribution, SecurityLevel, SecurityTable};

use super::held::Held;
use crate::cures::Cures;
use crate::error::{At, CompileError};
use crate::scheme::Compiles;
use crate::scheme::options::Options;
use crate::sequence::Sequence;

/// log2 of the ring degrees that are tried. SEAL's rules for auxiliary primes were made for these degrees, and the
/// security tables cover them.
const LOG_N: std::ops::RangeInclusive<u8> = 11..=15;

/// The result of a search for parameters at one ring degree.
pub(crate) enum Found<T> {
    Fits(T),
    Short(Short),
    /// The evaluation keys are larger than the user allows. These are the fewest bytes that they take. If the user
    /// allows that many, but only with digits that do not hold the noise, these are the bytes with one digit for each
    /// prime.
    Keys(u64),
}

/// The reason why no parameters of one ring degree fit a program.
pub(crate) struct Short {
    /// The bits of room for noise that the nearest parameters lack.
    pub bits: f64,
    /// The line of the user's program at which the first lost value is computed.
    pub at: At,
    pub sequence: Option<Sequence>,
}

impl Short {
    /// Makes the reason for parameters that lack this number of bits of room for noise, without a
    /// line of the user's program.
    pub fn of(bits: f64) -> Self {
        Self {
            bits,
            at: At(None),
            sequence: None,
        }
    }
}

/// Returns the result of `at_degree` at the smallest ring degree that has the program's slots and at which parameters
/// fit the program and its target. `at_degree` takes log2 of a ring degree and the bits that the security table allows
/// there. `params` returns the parameters of a result.
///
/// # Errors
/// [`CompileError::TooNoisy`] if no secure parameters fit, [`CompileError::Target`] if none fit the target,
/// [`CompileError::KeysTooLarge`] if none have keys that the user allows, [`CompileError::TooManySlots`]. Returns the
/// errors of `at_degree` too, and fails if the work is stopped.
pub(crate) fn smallest<S, T>(
    program: &MacroProgram,
    options: &Options<S>,
    (table, level): (SecurityTable, SecurityLevel),
    params: impl Fn(&T) -> &S::Params,
    mut at_degree: impl FnMut(u8, u32) -> Result<Found<T>, CompileError<S::Error>>,
) -> Result<T, CompileError<S::Error>>
where
    S: Compiles<Params: ParameterSet, Error: From<RlweError>>,
{
    let (mut short, mut lacking, mut bytes) = (None, None, None);
    for log_n in LOG_N {
        options.watch.check()?;
        let slots = 1u32 << (log_n - 1);
        let allowed = bound(table, SecretDistribution::default(), level, log_n)
            .map_err(|e| CompileError::Scheme(e.into()))?;
        let Some(allowed) = allowed.filter(|_| program.slots <= slots) else {
            continue;
        };
        match at_degree(log_n, allowed)? {
            Found::Fits(found) => {
                let target = options.target.as_ref();
                match target.map(|target| crate::target::check(target, params(&found))) {
                    None | Some(Ok(())) => return Ok(found),
                    // The error should name what the program needs. So it comes from the machine's smallest ring
                    // degree, or the first above it.
                    Some(Err(error)) => {
                        let reached = target.is_some_and(|target| log_n > *target.log_n.is.start());
                        if lacking.is_none() || !reached {
                            lacking = Some(error);
                        }
                    }
                }
            }
            Found::Keys(least) => {
                bytes = Some(bytes.map_or(least, |bytes: u64| bytes.min(least)));
            }
            Found::Short(found) => short = Some((found, log_n, allowed)),
        }
    }
    // Parameters that would serve without the machine show which field of its description forbids them.
    if let Some(error) = lacking {
        return Err(error.into());
    }
    if let Some((least, wanted)) = bytes.zip(options.keys.most_bytes) {
        return Err(CompileError::KeysTooLarge { wanted, least });
    }
    let Some((short, log_n, allowed)) = short else {
        let log_n = u32::from(*LOG_N.end());
        return Err(CompileError::TooManySlots {
            slots: program.slots,
            log_n,
            available: 1 << (log_n - 1),
        });
    };
    Err(CompileError::TooNoisy {
        at: short.at,
        bits: short.bits.ceil() as u32,
        log_n: log_n.into(),
        allowed_bits: allowed,
        sequence: short.sequence,
        cures: Cures::default(),
    })
}

/// Refuses given parameters that do not fit a program: too few slots, a plaintext modulus that does not hold its
/// values, or parameters that its target does not take.
///
/// # Errors
/// [`CompileError::TooManySlots`], [`CompileError::PlainRange`], [`CompileError::Target`], and an error of the scheme
/// for a plaintext modulus without slots.
pub(crate) fn check_given<S>(
    program: &MacroProgram,
    params: &S::Params,
    options: &Options<S>,
    held: &Held,
) -> Result<(), CompileError<S::Error>>
where
    S: Compiles<Params: ExactParams, Error: From<ExactError>>,
{
    if let Some(target) = &options.target {
        crate::target::check(target, params)?;
    }
    let log_n = params.log_n();
    let available = 1u32 << (log_n - 1);
    if program.slots > available {
        return Err(CompileError::TooManySlots {
            slots: program.slots,
            log_n: log_n.into(),
            available,
        });
    }
    let t = params.plain_modulus();
    t.check_batchable(log_n)
        .map_err(|e| CompileError::Scheme(e.into()))?;
    held.check(t)
}
