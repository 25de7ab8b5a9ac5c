//! Choosing parameters: the smallest secure ones whose plaintext modulus holds every value and whose primes hold the noise.

use std::sync::Arc;

use ringmill_isa::macros::{LevelNote, MacroProgram, MacroType, Note};
use ringmill_schemes::bfv::{Bfv, Params};

use super::noise::of_outputs;
use super::{CompileError, Options, Wanted};
use crate::error::At;
use crate::exact::Prediction;
use crate::exact::degree::{Found, check_given, smallest};
use crate::exact::held::Held;
use crate::exact::primes::Room;
use crate::scheme::Fitted;

/// Noise budget that an output must have: below one bit a message may be lost.
const MARGIN_BITS: f64 = 2.0;

/// `program` fitted to parameters chosen for it.
///
/// # Errors
/// [`CompileError::PlainRange`] for values that no plaintext modulus holds; as [`smallest`].
pub(super) fn choose(
    program: &MacroProgram,
    wanted: &Wanted,
    options: &Options,
    held: Held,
) -> Result<Fitted<Bfv>, CompileError> {
    let room = Room::new(options.target.as_ref());
    let security = (wanted.table, wanted.level);
    let found = smallest(program, options, security, Arc::as_ref, |log_n, allowed| {
        at_degree(program, wanted, &held, room, log_n, allowed)
    })?;
    fitted(program, found, held)
}

/// The fewest bits of ciphertext primes that hold the noise, if the table allows them.
fn at_degree(
    program: &MacroProgram,
    wanted: &Wanted,
    held: &Held,
    room: Room,
    log_n: u8,
    allowed: u32,
) -> Result<Found<Arc<Params>>, CompileError> {
    let t = held.modulus(log_n)?;
    // The budget grows with the primes, bit for bit: from a guess it is a step to the answer, and a few to the least.
    let mut total = t.reducer().bits() + u32::from(log_n) + 10;
    let mut best: Option<Arc<Params>> = None;
    let mut tried = std::collections::BTreeSet::new();
    while tried.insert(total) {
        let (count, bits) = room.split(total, log_n);
        let needed = (count + 1) * bits;
        let primes = room.primes(log_n, t, (count + 1, bits));
        let Some(primes) = primes.filter(|_| needed <= allowed) else {
            let short = needed.saturating_sub(allowed).max(1);
            return Ok(best.map_or(Found::Short(short.into(), At(None)), Found::Fits));
        };
        let (special, cipher) = primes.split_at(1);
        let params = Params::builder(log_n, t)
            .primes(cipher, special)
            .security(wanted.table, wanted.level)
            .multiplication(wanted.multiplication)
            .build()?;
        let missing = MARGIN_BITS - least(program, &params);
        if missing <= 0.0 {
            let smaller = best
                .as_ref()
                .is_none_or(|b| params.log_q(params.max_level()) < b.log_q(b.max_level()));
            if smaller {
                best = Some(params);
            }
        }
        let next = f64::from(count * bits) + missing.ceil().clamp(-1e4, 1e4);
        let least_bits = t.reducer().bits() + 2;
        total = (next.max(0.0) as u32).max(least_bits);
    }
    Ok(best.map_or(Found::Short(0.0, At(None)), Found::Fits))
}

/// The smallest budget of an output.
fn least(program: &MacroProgram, params: &Params) -> f64 {
    let noise = of_outputs(program, params);
    let budgets = noise.into_iter().flatten().map(|noise| noise.budget());
    budgets.fold(f64::INFINITY, f64::min)
}

/// `program` fitted to given parameters.
///
/// # Errors
/// [`CompileError::TooNoisy`]; as [`check_given`].
pub(super) fn given(
    program: &MacroProgram,
    params: &Arc<Params>,
    options: &Options,
    held: Held,
) -> Result<Fitted<Bfv>, CompileError> {
    check_given(program, &**params, options, &held)?;
    let missing = MARGIN_BITS - least(program, params);
    if missing > 0.0 {
        let top = params.max_level();
        return Err(CompileError::TooNoisy {
            at: At(None),
            bits: missing.ceil() as u32,
            log_n: params.log_n().into(),
            allowed_bits: params.log_q(top).ceil() as u32,
        });
    }
    fitted(program, Arc::clone(params), held)
}

fn fitted(
    program: &MacroProgram,
    params: Arc<Params>,
    held: Held,
) -> Result<Fitted<Bfv>, CompileError> {
    let level = params.max_level();
    let there = LevelNote {
        level,
        note: Note::Bare,
    };
    let mut managed = program.clone();
    for ty in &mut managed.types {
        match ty {
            MacroType::Cipher { at, .. } | MacroType::Plain { at } => *at = Some(there),
        }
    }
    let noise = of_outputs(program, &params);
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
    })
}
