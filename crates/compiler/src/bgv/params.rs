// SPDX-License-Identifier: Apache-2.0
//! Chooses parameters for BGV programs: the smallest secure ones whose plaintext modulus holds every value and whose
//! primes hold the noise.

use std::sync::Arc;

use ringmill_isa::Level;
use ringmill_isa::macros::{MacroImm, MacroOp, MacroProgram, MacroValue};
use ringmill_schemes::bgv::{Bgv, ExactParams, Params, PlainModulus};
use ringmill_schemes::rlwe;

use super::levels::{self, Frame, Managed, Misfit};
use super::{CompileError, Options, Prediction, Wanted};
use crate::cures::Cures;
use crate::digits::{Products, Work};
use crate::exact::degree::{Found, Short, check_given, smallest};
use crate::exact::digits::{Start, best};
use crate::exact::held::Held;
use crate::exact::primes::Room;
use crate::exact::zero;
use crate::rewrite::is_cipher;
use crate::scheme::Fitted;
use crate::sequence::Sequence;

/// A parameter set, and the program with levels and correction factors for it.
type Fit = (Arc<Params>, Managed);

fn params_of(fit: &Fit) -> &Params {
    &fit.0
}

/// Chooses parameters for `program`, and gives its values levels and correction factors for them.
///
/// # Errors
/// [`CompileError::PlainRange`] for values that no plaintext modulus holds; errors of [`smallest`].
pub(super) fn choose(
    program: &MacroProgram,
    wanted: &Wanted,
    options: &Options,
    held: Held,
) -> Result<Fitted<Bgv>, CompileError> {
    let room = Room::new(options.target.as_ref());
    let security = (wanted.table, wanted.level);
    let fit = smallest(program, options, security, params_of, |log_n, allowed| {
        let t = held.modulus(log_n)?;
        let chain = Chain {
            program: &*zero::written_out(program, t, &held, &options.watch)?,
            options,
            wanted,
            room,
            log_n,
            t,
            allowed,
        };
        chain.smallest()
    })?;
    let t = fit.0.plain_modulus();
    let program = zero::written_out(program, t, &held, &options.watch)?;
    fitted(&program, options, fit, held)
}

/// The search for ciphertext primes at one ring degree.
struct Chain<'a> {
    program: &'a MacroProgram,
    options: &'a Options,
    wanted: &'a Wanted,
    room: Room,
    log_n: u8,
    t: PlainModulus,
    /// The bits that all primes together may have by the security table, special primes included.
    allowed: u32,
}

impl Chain<'_> {
    /// Returns the parameters with the fewest primes that hold the program, since primes cost time,
    /// and of these the smallest primes. Then it takes the key-switching digits and special primes
    /// of least cost.
    fn smallest(&self) -> Result<Found<Fit>, CompileError> {
        let least = Room::least_bits(self.log_n);
        let mut nearest: Option<(f64, Arc<Params>)> = None;
        for count in 1.. {
            let bits = self.room.max_bits.min(self.allowed / (count + 1));
            if bits < least || count as usize >= rlwe::Params::MAX_PRIMES {
                break;
            }
            let Some((params, managed)) = self.fit(count, bits)? else {
                continue;
            };
            let Some(misfit) = managed.misfit else {
                let fit = (params, managed);
                return self.with_digits(self.narrowed(count, bits, fit)?);
            };
            if nearest.as_ref().is_none_or(|&(bits, _)| misfit.bits < bits) {
                nearest = Some((misfit.bits, params));
            }
        }
        let Some((bits, params)) = nearest else {
            return Ok(Found::Short(Short::of(1.0)));
        };
        // A trial ends with the first value that it loses. The nearest trial is run again to the end, to report how
        // many bits the value lacks that lacks most.
        let measured = from_top(self.program, &params, self.options, true)?;
        Ok(match measured.misfit {
            Some(Misfit { at, number, bits }) => Found::Short(Short {
                sequence: Sequence::of(self.program, number),
                at,
                bits,
            }),
            None => Found::Short(Short::of(bits)),
        })
    }

    /// Returns parameters with as many ciphertext primes as `fit` has, of the smallest size in bits
    /// at which they hold the program, and the program with its levels for them.
    fn narrowed(&self, count: u32, bits: u32, fit: Fit) -> Result<Fit, CompileError> {
        let (mut low, mut high, mut best) = (Room::least_bits(self.log_n), bits, fit);
        while low < high {
            let middle = u32::midpoint(low, high);
            match self.fit(count, middle)? {
                Some(fit) if fit.1.misfit.is_none() => (high, best) = (middle, fit),
                Some(_) | None => low = middle + 1,
            }
        }
        Ok(best)
    }

    /// Returns parameters with the key-switching digits and special primes of least cost that hold
    /// the program, and the program with its levels for them. The special primes take bits of the
    /// security bound that the ciphertext primes leave.
    fn with_digits(&self, fit: Fit) -> Result<Found<Fit>, CompileError> {
        let (params, managed) = &fit;
        let (params, managed) = (Arc::clone(params), managed.program.clone());
        let level_primes = |value| Work::primes_of(&managed, value);
        let work = Work::of::<Bgv>(&managed, &params, Products::WithinQ, level_primes)?;
        let start = Start {
            fit,
            ring: &params,
            plain_modulus: self.t.value(),
            work: &work,
            allowed: self.allowed,
        };
        best(start, self.options, self.room, |dnum, special| {
            let fit = self.managed(params.cipher_moduli(), special, dnum)?;
            Ok(Some(fit).filter(|fit| fit.1.misfit.is_none()))
        })
    }

    /// Gives the program's values levels for `count` ciphertext primes of `bits` bits and a special prime of the same
    /// size. Returns `None` if there are not as many primes, or if primes of this size could have a product that is not
    /// above the plaintext modulus.
    fn fit(&self, count: u32, bits: u32) -> Result<Option<Fit>, CompileError> {
        let all = (count + 1, bits);
        let primes = self.room.primes(self.log_n, self.t, all);
        let holds = count * (bits - 1) >= self.t.reducer().bits();
        let Some(primes) = primes.filter(|_| holds) else {
            return Ok(None);
        };
        let (special, cipher) = primes.split_at(1);
        self.managed(cipher, special, cipher.len()).map(Some)
    }

    /// Makes parameters of these ciphertext and special primes with `dnum` key-switching digits,
    /// and gives the program's values levels for them.
    fn managed(&self, cipher: &[u64], special: &[u64], dnum: usize) -> Result<Fit, CompileError> {
        let builder = Params::builder(self.log_n, self.t)
            .primes(cipher, special)
            .dnum(dnum)
            .security(self.wanted.table, self.wanted.level);
        let target = self.options.target.as_ref();
        let builder = match target.is_some_and(|target| target.primes_alone.is) {
            true => builder.divide_modulo_primes_alone(),
            false => builder,
        };
        let params = builder.build()?;
        let managed = from_top(self.program, &params, self.options, false)?;
        Ok((params, managed))
    }
}

/// Gives each value of a program a level and a correction factor, with all inputs encrypted at the highest level.
/// `measure` is that of [`Frame`].
fn from_top(
    program: &MacroProgram,
    params: &Params,
    options: &Options,
    measure: bool,
) -> Result<Managed, CompileError> {
    from_level(program, params, options, params.max_level(), measure)
}

/// Gives each value of a program a level and a correction factor, with all inputs encrypted at the level `entry`.
/// `measure` is that of [`Frame`].
fn from_level(
    program: &MacroProgram,
    params: &Params,
    options: &Options,
    entry: Level,
    measure: bool,
) -> Result<Managed, CompileError> {
    let frame = Frame {
        params,
        entry: &vec![entry; program.inputs.len()],
        output: options.output_level,
        measure,
        deep: None,
        watch: &options.watch,
    };
    levels::run(program, frame)
}

/// Gives the values of `program` levels for given parameters. All inputs are first put at the lowest level at which the
/// noise of the program fits. Then each is put at the highest level at which it is used, if the noise still fits.
///
/// # Errors
/// [`CompileError::TooNoisy`] with the line of the first value that the parameters do not hold.
/// [`CompileError::Target`] for divisions that the target cannot compute. Returns the errors of [`check_given`] too.
pub(super) fn given(
    program: &MacroProgram,
    params: &Arc<Params>,
    options: &Options,
    held: Held,
) -> Result<Fitted<Bgv>, CompileError> {
    check_given(program, &**params, options, &held)?;
    if let Some(target) = &options.target {
        crate::target::check_divisions(target, params.primes_alone())?;
    }
    let t = params.plain_modulus();
    let program = &*zero::written_out(program, t, &held, &options.watch)?;
    let top = params.max_level();
    for entry in options.output_level.min(top).to(top) {
        let managed = from_level(program, params, options, entry, false)?;
        if managed.misfit.is_none() {
            return fitted(program, options, (Arc::clone(params), managed), held);
        }
    }
    let managed = from_top(program, params, options, true)?;
    let Some(Misfit { at, number, bits }) = managed.misfit else {
        return fitted(program, options, (Arc::clone(params), managed), held);
    };
    Err(CompileError::TooNoisy {
        at,
        bits: bits.ceil() as u32,
        log_n: params.log_n().into(),
        allowed_bits: params.log_q(top).ceil() as u32,
        sequence: Sequence::of(program, number),
        cures: Cures::default(),
    })
}

fn fitted(
    program: &MacroProgram,
    options: &Options,
    (params, managed): Fit,
    held: Held,
) -> Result<Fitted<Bgv>, CompileError> {
    let managed = lowered(program, &params, options, managed)?;
    let model = levels::model(program, &params);
    let predicted = held.outputs.into_iter().zip(&managed.outputs);
    let predicted = predicted.map(|(range, output)| Prediction {
        budget: output.map_or(0.0, |at| model.budget(at.noise, at.level).into()),
        range,
    });
    Ok(Fitted {
        output_level: options.output_level.min(params.max_level()),
        predicted: predicted.collect(),
        managed: managed.program,
        params,
        bootstrapping: None,
    })
}

/// Gives the program's values levels anew, with each input encrypted at the highest level at which
/// it is used. Keeps the old levels if the noise does not fit the new ones.
fn lowered(
    program: &MacroProgram,
    params: &Params,
    options: &Options,
    managed: Managed,
) -> Result<Managed, CompileError> {
    let entry = entries(&managed.program, params.max_level());
    let frame = Frame {
        params,
        entry: &entry,
        output: options.output_level,
        measure: false,
        deep: None,
        watch: &options.watch,
    };
    let lower = levels::run(program, frame)?;
    Ok(match lower.misfit {
        None => lower,
        Some(_) => managed,
    })
}

/// Returns for each input the highest level at which one of its uses reads it. A use reads an input at the level to
/// which it drops the input, else at the input's own level. An encrypted input without uses has its own level. Plain
/// inputs, and inputs that no instruction makes, have the level `top`.
pub(super) fn entries(managed: &MacroProgram, top: Level) -> Vec<Level> {
    let mut highest: Vec<Option<Level>> = vec![None; managed.types.len()];
    for instr in &managed.instrs {
        for &v in &instr.src {
            let used = match (instr.op, &instr.imm) {
                (MacroOp::Modswitch, &MacroImm::Level(level)) => level,
                _ => level_of(managed, v).unwrap_or(top),
            };
            if let Some(slot) = highest.get_mut(v.0 as usize) {
                *slot = (*slot).max(Some(used));
            }
        }
    }
    let mut entries = vec![top; managed.inputs.len()];
    for instr in &managed.instrs {
        let (&[v], &MacroImm::Input(input)) = (&*instr.dst, &instr.imm) else {
            continue;
        };
        if let Some(slot) = entries.get_mut(input as usize)
            && is_cipher(&managed.types, v)
        {
            let used = highest.get(v.0 as usize).copied().flatten();
            *slot = used.or(level_of(managed, v)).unwrap_or(top);
        }
    }
    entries
}

fn level_of(program: &MacroProgram, value: MacroValue) -> Option<Level> {
    let at = program.types.get(value.0 as usize)?.at();
    at.map(|at| at.level)
}
