//! Choosing parameters: the smallest secure ones whose plaintext modulus holds every value and whose primes hold the noise.

use std::sync::Arc;

use ringmill_isa::macros::{LevelNote, MacroImm, MacroOp, MacroProgram, MacroType, Note};
use ringmill_math::primes::ntt_primes_excluding;
use ringmill_schemes::bfv::{Bfv, Params, PlainModulus, SecretDistribution};
use ringmill_schemes::exact::ExactParams;
use ringmill_schemes::rlwe::security::bound;

use super::noise::{Prediction, of_outputs};
use super::{CompileError, Options, Wanted};
use crate::exact::IntegerRange;
use crate::exact::range::of_values;
use crate::scheme::Fitted;
use crate::target::Target;

/// Ring degrees that the security tables cover and SEAL's rules for auxiliary primes were made for.
const LOG_N: std::ops::RangeInclusive<u8> = 11..=15;
/// Largest ciphertext prime, as SEAL's.
const MAX_BITS: u32 = 60;
/// Noise budget that an output must have: below one bit a message may be lost.
const MARGIN_BITS: f64 = 2.0;

/// What the plaintext modulus must hold.
pub(super) struct Held {
    /// Of each output.
    outputs: Vec<IntegerRange>,
    /// Every input, constant vector and output.
    all: IntegerRange,
    /// Whose range reaches farthest.
    largest: String,
}

/// The ranges of what is encrypted, encoded and read.
///
/// # Errors
/// [`CompileError::Unbounded`] for an output of more than 127 bits.
pub(super) fn held(program: &MacroProgram, inputs: &[IntegerRange]) -> Result<Held, CompileError> {
    let values = of_values(program, inputs);
    let mut held = Held {
        outputs: vec![IntegerRange::up_to(0); program.outputs.len()],
        all: IntegerRange::up_to(1),
        largest: "constants".to_owned(),
    };
    for (input, &range) in program.inputs.iter().zip(inputs) {
        held.take(range, || format!("input {:?}", input.name));
    }
    for instr in &program.instrs {
        match (instr.op, &instr.imm) {
            (MacroOp::Encode, _) => {
                let range = instr.dst.first().and_then(|v| values.get(v.0 as usize));
                if let Some(range) = range.copied().flatten() {
                    held.take(range, || "a constant vector".to_owned());
                }
            }
            (MacroOp::Output, &MacroImm::Output(output)) => {
                let name = program.outputs.get(output as usize).cloned();
                let name = name.unwrap_or_default();
                let range = instr.src.first().and_then(|v| values.get(v.0 as usize));
                let Some(range) = range.copied().flatten() else {
                    return Err(CompileError::Unbounded { output: name });
                };
                held.take(range, || format!("output {name:?}"));
                if let Some(slot) = held.outputs.get_mut(output as usize) {
                    *slot = range;
                }
            }
            _ => {}
        }
    }
    Ok(held)
}

impl Held {
    fn take(&mut self, range: IntegerRange, name: impl Fn() -> String) {
        let low = self.all.low().min(range.low());
        let high = self.all.high().max(range.high());
        if let Some(all) = IntegerRange::new(low, high).filter(|&all| all != self.all) {
            self.all = all;
            self.largest = name();
        }
    }

    fn in_modulus(&self, t: PlainModulus) -> bool {
        let integers = t.integers(Default::default());
        integers.contains(&self.all.low()) && integers.contains(&self.all.high())
    }

    fn too_large(&self, bits: u32) -> CompileError {
        CompileError::PlainRange {
            what: self.largest.clone(),
            range: self.all.to_string(),
            bits,
        }
    }

    /// The smallest size of a modulus that holds all at ring degree 2^`log_n`.
    fn modulus(&self, log_n: u8) -> Result<PlainModulus, CompileError> {
        let most = PlainModulus::MAX_BITS;
        let fits = |&bits: &u32| {
            let t = PlainModulus::batching(log_n, bits).ok()?;
            self.in_modulus(t).then_some(t)
        };
        let mut sizes = u32::from(log_n) + 2..=most;
        sizes
            .find_map(|bits| fits(&bits))
            .ok_or_else(|| self.too_large(most))
    }
}

/// `program` fitted to parameters chosen for it.
///
/// # Errors
/// [`CompileError::PlainRange`] for values that no plaintext modulus holds, [`CompileError::TooNoisy`] where no secure
/// parameters hold the noise, [`CompileError::Target`].
pub(super) fn choose(
    program: &MacroProgram,
    wanted: &Wanted,
    options: &Options,
    held: Held,
) -> Result<Fitted<Bfv>, CompileError> {
    let (mut short, mut lacking) = (None, None);
    let target = options.target.as_ref();
    let room = Room::new(target);
    for log_n in LOG_N {
        options.watch.check()?;
        let slots = 1u32 << (log_n - 1);
        let allowed = bound(
            wanted.table,
            SecretDistribution::default(),
            wanted.level,
            log_n,
        )?;
        let Some(allowed) = allowed.filter(|_| program.slots <= slots) else {
            continue;
        };
        match at_degree(program, wanted, &held, room, log_n, allowed)? {
            Found::Fits(params) => match target.map(|target| target.check(&*params)) {
                None | Some(Ok(())) => return fitted(program, params, held),
                Some(Err(error)) => lacking = Some(error),
            },
            Found::Short(bits) => short = Some((bits, log_n, allowed)),
        }
    }
    // What would serve without the machine says which field of its description stands against it.
    if let Some(error) = lacking {
        return Err(error.into());
    }
    let Some((bits, log_n, allowed)) = short else {
        let log_n = u32::from(*LOG_N.end());
        return Err(CompileError::TooManySlots {
            slots: program.slots,
            log_n,
            available: 1 << (log_n - 1),
        });
    };
    Err(CompileError::TooNoisy {
        bits: bits.ceil() as u32,
        log_n: log_n.into(),
        allowed_bits: allowed,
    })
}

/// Which primes are looked for: all that arithmetic allows, or a machine's part of it.
#[derive(Clone, Copy)]
struct Room {
    max_bits: u32,
    friendly_bits: u32,
}

impl Room {
    fn new(target: Option<&Target>) -> Self {
        Self {
            max_bits: target.map_or(MAX_BITS, |t| t.modulus_bits.is.min(MAX_BITS)),
            friendly_bits: target.map_or(0, |t| t.friendly_bits.is),
        }
    }

    /// So many primes of so many bits, the largest but for the plaintext modulus; `None` where there are no more.
    fn primes(self, log_n: u8, t: PlainModulus, (count, bits): (u32, u32)) -> Option<Vec<u64>> {
        let step = u32::from(log_n).max(self.friendly_bits.saturating_sub(1));
        ntt_primes_excluding(bits, step, count as usize, &[t.value()]).ok()
    }

    /// The fewest primes that have `total` bits, and their size.
    fn split(self, total: u32, log_n: u8) -> (u32, u32) {
        let count = total.div_ceil(self.max_bits.max(2) - 1).max(1);
        // Small sizes have few primes that are 1 mod 2N.
        let least = u32::from(log_n) + 12;
        (count, total.div_ceil(count).max(least).min(self.max_bits))
    }
}

enum Found {
    Fits(Arc<Params>),
    /// So many bits too few.
    Short(f64),
}

/// The fewest bits of ciphertext primes that hold the noise, if the table allows them.
fn at_degree(
    program: &MacroProgram,
    wanted: &Wanted,
    held: &Held,
    room: Room,
    log_n: u8,
    allowed: u32,
) -> Result<Found, CompileError> {
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
            return Ok(best.map_or(Found::Short(short.into()), Found::Fits));
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
    Ok(best.map_or(Found::Short(0.0), Found::Fits))
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
/// [`CompileError::TooManySlots`], [`CompileError::PlainRange`], [`CompileError::TooNoisy`], [`CompileError::Target`], and
/// a plaintext modulus without slots.
pub(super) fn given(
    program: &MacroProgram,
    params: &Arc<Params>,
    options: &Options,
    held: Held,
) -> Result<Fitted<Bfv>, CompileError> {
    if let Some(target) = &options.target {
        target.check(&**params)?;
    }
    let available = params.degree() as u32 / 2;
    if program.slots > available {
        return Err(CompileError::TooManySlots {
            slots: program.slots,
            log_n: params.log_n().into(),
            available,
        });
    }
    let t = params.plain_modulus();
    t.check_batchable(params.log_n())
        .map_err(|e| CompileError::Scheme(e.into()))?;
    if !held.in_modulus(t) {
        return Err(held.too_large(t.reducer().bits()));
    }
    let missing = MARGIN_BITS - least(program, params);
    if missing > 0.0 {
        let top = params.max_level();
        return Err(CompileError::TooNoisy {
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
