// SPDX-License-Identifier: Apache-2.0
//! Chooses parameters for BFV programs: the smallest secure ones whose plaintext modulus holds every value and whose
//! primes hold the noise.

use std::sync::Arc;

use ringmill_isa::macros::{LevelNote, MacroProgram, Note, Refused};
use ringmill_schemes::bfv::{Bfv, Multiplication, Params};
use ringmill_schemes::exact::{ExactParams, PlainModulus};

use super::noise::{first_below, of_outputs};
use super::{CompileError, Options, Wanted};
use crate::cures::Cures;
use crate::digits::{Products, Work};
use crate::error::At;
use crate::exact::degree::{Found, Short, check_given, smallest};
use crate::exact::digits::{Start, best};
use crate::exact::held::Held;
use crate::exact::primes::Room;
use crate::exact::{Prediction, zero};
use crate::scheme::Fitted;
use crate::sequence::Sequence;

/// The least noise budget in bits that an output must have. At one bit or less a message may be lost.
const MARGIN_BITS: f64 = 2.0;

/// Chooses parameters for `program`, and puts all values of the program at the highest level of the parameters.
///
/// # Errors
/// [`CompileError::PlainRange`] for values that no plaintext modulus holds; errors of [`smallest`].
pub(super) fn choose(
    program: &MacroProgram,
    wanted: &Wanted,
    options: &Options,
    held: Held,
) -> Result<Fitted<Bfv>, CompileError> {
    let room = Room::new(options.target.as_ref());
    let security = (wanted.table, wanted.level);
    let found = smallest(program, options, security, Arc::as_ref, |log_n, allowed| {
        let t = held.modulus(log_n)?;
        let program = zero::written_out(program, t, &held, &options.watch)?;
        let found = at_degree(&program, (wanted, options), t, room, log_n, allowed)?;
        let Found::Fits(params) = found else {
            return Ok(found);
        };
        with_digits(&program, (wanted, options), (params, allowed), room)
    })?;
    fitted(program, options, found, held)
}

/// Returns the parameters at one ring degree with the fewest bits of ciphertext primes that hold the noise, if the
/// security table allows them.
fn at_degree(
    program: &MacroProgram,
    (wanted, options): (&Wanted, &Options),
    t: PlainModulus,
    room: Room,
    log_n: u8,
    allowed: u32,
) -> Result<Found<Arc<Params>>, CompileError> {
    let multiplication = multiplication(wanted, options);
    let choices = room.choices(log_n, t.reducer().bits() + 2, allowed);
    // If messages survive, the noise budget grows with the primes bit for bit. So the bits that a guess lacks or has to
    // spare lead to the least primes in a few steps. If the noise outgrows the modulus, its size says nothing, and the
    // search halves the remaining choices.
    let first =
        |bits: f64| choices.partition_point(|&(count, each)| f64::from(count * each) < bits);
    let (mut low, mut high) = (0, choices.len());
    let mut at = first(f64::from(t.reducer().bits() + u32::from(log_n) + 10));
    let (mut best, mut short) = (None, None);
    while low < high {
        at = if at >= high {
            high - 1
        } else if at < low {
            usize::midpoint(low, high)
        } else {
            at
        };
        options.watch.check()?;
        let (count, bits) = choices[at];
        let Some(primes) = room.primes(log_n, t, (count + 1, bits)) else {
            low = at + 1;
            continue;
        };
        let (special, cipher) = primes.split_at(1);
        let params = Params::builder(log_n, t)
            .primes(cipher, special)
            .security(wanted.table, wanted.level)
            .multiplication(multiplication)
            .build()?;
        let missing = MARGIN_BITS - least(program, &params)?;
        if missing <= 0.0 {
            (high, best) = (at, Some(params));
        } else {
            (low, short) = (at + 1, Some((missing, params)));
        }
        at = first(f64::from(count * bits) + missing.ceil());
    }
    match (best, short) {
        (Some(best), _) => Ok(Found::Fits(best)),
        (None, Some((bits, params))) => Ok(Found::Short(lost(program, &params, bits)?)),
        (None, None) => Ok(Found::Short(Short::of(1.0))),
    }
}

/// Returns parameters with the same ciphertext primes, and with the key-switching digits and
/// special primes of least cost that hold the noise.
fn with_digits(
    program: &MacroProgram,
    (wanted, options): (&Wanted, &Options),
    (params, allowed): (Arc<Params>, u32),
    room: Room,
) -> Result<Found<Arc<Params>>, CompileError> {
    let all_primes = |_| Some(params.cipher_count());
    let work = Work::of::<Bfv>(program, &params, Products::Extended, all_primes)?;
    let (t, log_n) = (params.plain_modulus(), params.log_n());
    let start = Start {
        fit: Arc::clone(&params),
        ring: &params,
        plain_modulus: t.value(),
        work: &work,
        allowed,
    };
    best(start, options, room, |dnum, special| {
        options.watch.check()?;
        let params = Params::builder(log_n, t)
            .primes(params.cipher_moduli(), special)
            .dnum(dnum)
            .security(wanted.table, wanted.level)
            .multiplication(params.multiplication())
            .build()?;
        Ok((least(program, &params)? >= MARGIN_BITS).then_some(params))
    })
}

/// Returns how products are computed: as the user demands, unless the target forbids it. If the
/// target's base extension takes only prime moduli, BEHZ gets a prime as m-tilde, the modulus of
/// its correction. If the target computes modulo primes alone, products are by HPS, with auxiliary
/// primes that the target takes.
fn multiplication(wanted: &Wanted, options: &Options) -> Multiplication {
    let target = options.target.as_ref();
    if target.is_some_and(|t| t.primes_alone.is) {
        return Multiplication::HpsFriendly;
    }
    let primes_alone = target.is_some_and(|t| t.extends_modulo_primes);
    match wanted.multiplication {
        Multiplication::Behz if primes_alone => Multiplication::BehzPrime,
        Multiplication::Behz
        | Multiplication::BehzPrime
        | Multiplication::Hps
        | Multiplication::HpsFriendly => wanted.multiplication,
    }
}

/// Returns the line of the first value of a program whose noise budget is below [`MARGIN_BITS`] under these parameters,
/// with the products in sequence before it. `bits` is the noise budget in bits that the program lacks.
fn lost(program: &MacroProgram, params: &Params, bits: f64) -> Result<Short, Refused> {
    let Some(number) = first_below(program, params, MARGIN_BITS)? else {
        return Ok(Short::of(bits));
    };
    let instr = program.instrs.get(number);
    Ok(Short {
        bits,
        at: At(instr.and_then(|instr| instr.loc.clone())),
        sequence: Sequence::of(program, number),
    })
}

/// Returns the least predicted noise budget of an output, in bits, or infinity if no instruction writes an output.
fn least(program: &MacroProgram, params: &Params) -> Result<f64, Refused> {
    let noise = of_outputs(program, params)?;
    let budgets = noise.into_iter().flatten().map(|noise| noise.budget());
    Ok(budgets.fold(f64::INFINITY, f64::min))
}

/// Checks that given parameters hold the values and the noise of `program`, and puts all its values
/// at the highest level.
///
/// # Errors
/// [`CompileError::TooNoisy`] if an output may be lost; errors of [`check_given`].
pub(super) fn given(
    program: &MacroProgram,
    params: &Arc<Params>,
    options: &Options,
    held: Held,
) -> Result<Fitted<Bfv>, CompileError> {
    check_given(program, &**params, options, &held)?;
    let t = params.plain_modulus();
    let written_out = zero::written_out(program, t, &held, &options.watch)?;
    let missing = MARGIN_BITS - least(&written_out, params)?;
    if missing > 0.0 {
        let top = params.max_level();
        let short = lost(&written_out, params, missing)?;
        return Err(CompileError::TooNoisy {
            at: short.at,
            bits: short.bits.ceil() as u32,
            log_n: params.log_n().into(),
            allowed_bits: params.log_q(top).ceil() as u32,
            sequence: short.sequence,
            cures: Cures::default(),
        });
    }
    fitted(program, options, Arc::clone(params), held)
}

fn fitted(
    program: &MacroProgram,
    options: &Options,
    params: Arc<Params>,
    held: Held,
) -> Result<Fitted<Bfv>, CompileError> {
    let t = params.plain_modulus();
    let program = zero::written_out(program, t, &held, &options.watch)?;
    let level = params.max_level();
    let there = LevelNote {
        level,
        note: Note::Bare,
    };
    let noise = of_outputs(&program, &params)?;
    let mut managed = program.into_owned();
    for ty in &mut managed.types {
        *ty = ty.placed(Some(there));
    }
    let predicted = held.outputs.into_iter().zip(noise);
    let predicted = predicted.map(|(range, noise)| Prediction {
        budget: noise.map_or(0.0, |noise| noise.budget()),
        range,
    });
    Ok(Fitted {
        managed,
        output_level: level,
        predicted: predicted.collect(),
        params,
        bootstrapping: None,
    })
}
