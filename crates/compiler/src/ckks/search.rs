// SPDX-License-Identifier: Apache-2.0
//! Searches for the smallest scale and ring degree that give a CKKS program its precision.

use std::ops::RangeInclusive;
use std::sync::Arc;

use ringmill_isa::Level;
use ringmill_isa::macros::MacroProgram;
use ringmill_math::primes::{ntt_primes, ntt_primes_excluding};
use ringmill_schemes::ckks::chain::{paired_primes, rescaling_primes};
use ringmill_schemes::ckks::security::bound;
use ringmill_schemes::ckks::{CkksError, Params, SecretDistribution};
use ringmill_schemes::rlwe::{self, RlweError};

use super::scale::{self, trial::Planned};
use super::{Options, Wanted};
use crate::accuracy::Accuracy;
use crate::ckks::canonical::{CanonicalScales, Steps};
use crate::ckks::like::Like;
use crate::ckks::precision::predict;
use crate::ckks::prediction::Prediction;
use crate::ckks::range::InputRange;
use crate::ckks::tightest::Closeness;
use crate::cures::Cures;
use crate::digits::SPECIAL_BITS;
use crate::error::{At, CompileError, Narrower};
use crate::target::Target;

/// The scales, in bits, that the search tries if one prime makes a scale. A large ring has too few primes near a
/// smaller scale. A larger scale and its [`MARGIN_BITS`] exceed one first prime of [`MAX_BITS`].
const SCALE_BITS: RangeInclusive<u32> = 28..=58;
/// The scales, in bits, that the search tries if two primes make a scale. A large ring has too few primes of half the
/// bits of a smaller scale. The largest scale is that of [`SCALE_BITS`].
const PAIRED_BITS: RangeInclusive<u32> = 52..=58;
/// The most bits of a prime that the search chooses. The arithmetic takes primes of one bit more.
pub(super) const MAX_BITS: u32 = 60;
/// log2 of the ring degrees that the search tries.
const LOG_N: RangeInclusive<u32> = 10..=17;
/// The bits of the first primes, those by which no rescale divides, beyond scale and integer part: one for the sign,
/// and one for the sum of a value and its error.
const MARGIN_BITS: u32 = 2;
/// The first scale, in bits, that the search for parameters tries. Any value would do.
const FIRST_GUESS: u32 = 40;

/// A program with levels and scales for CKKS parameters, with the compiler's predictions for it.
pub(crate) struct Fitted {
    pub params: Arc<Params>,
    pub managed: MacroProgram,
    /// The lowest level at which the program's outputs may end, counted in primes.
    pub output_level: Level,
    pub prediction: Prediction,
}

impl Fitted {
    /// Gives the values of `program` levels and scales for `params`, and predicts the precision of its outputs.
    /// `output_level` is the level of the outputs, counted in [steps](Steps), the groups of primes by which rescales
    /// divide.
    pub(super) fn new(
        program: &MacroProgram,
        params: Arc<Params>,
        output_level: Level,
        planned: &mut Planned,
        ranges: &[InputRange],
        options: &Options,
    ) -> Result<Self, CompileError> {
        let watch = &options.watch;
        watch.check()?;
        let managed = managed(program.clone(), &params, output_level, planned)?;
        watch.check()?;
        let prediction = predict(&managed, &params, ranges, Like::of(options), None, watch)?;
        Ok(Self {
            output_level: Steps::of_params(&params).level(output_level),
            params,
            managed,
            prediction,
        })
    }

    /// Refuses an output whose error may exceed 1 and every value of the output, so that no digit before or after the
    /// point is right.
    pub(super) fn check_meaning(&self) -> Result<(), CompileError> {
        let mut outputs = self.managed.outputs.iter().zip(&self.prediction.outputs);
        let lost = outputs.find(|(_, p)| p.bits() < 0.0 && p.error > p.magnitude);
        match lost {
            None => Ok(()),
            Some((output, precision)) => Err(CompileError::Meaningless {
                output: output.clone(),
                error: precision.error,
                magnitude: precision.magnitude,
            }),
        }
    }

    /// Returns the bits that the least accurate output lacks, or 0 or less if all outputs are accurate enough: for
    /// inputs like the sample, or for all inputs without a sample.
    pub(super) fn missing_bits(&self, wanted: Accuracy) -> f64 {
        let outputs = self.prediction.outputs.iter();
        let missing = outputs.map(|output| output.missing_bits(wanted));
        missing.fold(f64::NEG_INFINITY, f64::max)
    }
}

/// Refuses a program with vectors longer than the parameters' slots.
pub(super) fn check_slots(program: &MacroProgram, params: &Params) -> Result<(), CompileError> {
    if program.slots as usize <= params.slots() {
        return Ok(());
    }
    Err(CompileError::TooManySlots {
        slots: program.slots,
        log_n: u32::from(params.log_n()),
        available: params.slots() as u32,
    })
}

/// Gives a relinearised program the levels and scales of the parameters' primes. [`crate::compile`] verifies only the
/// program that it keeps.
fn managed(
    relinearised: MacroProgram,
    params: &Params,
    output_level: Level,
    planned: &mut Planned,
) -> Result<MacroProgram, CompileError> {
    check_slots(&relinearised, params)?;
    let primes = params.cipher_moduli();
    let top = CanonicalScales::top_of(primes, params.default_scale());
    let ratios = planned.ratios(top.0);
    let scales = CanonicalScales::with_ratios(primes, params.default_scale(), &ratios)?;
    let managed = planned.manage(relinearised, &scales, output_level)?;
    Ok(scale::steps::run(managed, Steps::of_params(params), primes))
}

/// The limits of the search for parameters: ring degrees of the security tables and primes of at most [`MAX_BITS`]
/// bits, or less if a target machine takes less.
pub(super) struct Room {
    pub(super) log_n: RangeInclusive<u32>,
    pub(super) max_bits: u32,
    friendly_bits: u32,
    pub(super) moduli: usize,
}

impl Room {
    pub(super) fn new(target: Option<&Target>) -> Self {
        let (least, most) = (*LOG_N.start(), *LOG_N.end());
        match target {
            None => Self {
                log_n: LOG_N,
                max_bits: MAX_BITS,
                friendly_bits: 0,
                moduli: usize::MAX,
            },
            Some(target) => Self {
                log_n: least.max((*target.log_n.is.start()).into())
                    ..=most.min((*target.log_n.is.end()).into()),
                max_bits: MAX_BITS.min(target.modulus_bits.is),
                friendly_bits: target.friendly_bits.is,
                moduli: target.moduli.is,
            },
        }
    }

    /// Returns the exponent s such that all primes are 1 modulo 2^(s + 1), for the ring degree
    /// `2^log_n`. It is `log_n`, unless the target demands primes that are 1 modulo a larger power
    /// of two.
    pub(super) fn step(&self, log_n: u32) -> u32 {
        log_n.max(self.friendly_bits.saturating_sub(1))
    }
}

/// The search for the smallest parameters with which the program's outputs are at one given level.
///
/// The predicted precision grows by about a bit with each bit of the scale, so one try tells where the answer lies.
/// From one bit below that estimate the scale rises until the precision suffices. For a value that does not fit, the
/// search records the room that the value needs. The integer part then grows by the missing bits at every scale. If the
/// value's error is larger than the value, only larger scales are tried.
pub(super) struct Search<'a> {
    pub(super) program: &'a MacroProgram,
    pub(super) ranges: &'a [InputRange],
    pub(super) wanted: &'a Wanted,
    pub(super) room: Room,
    /// log2 of the smallest ring degree that the search tries.
    pub(super) least_log_n: u32,
    /// Whether the search stops at the fewest primes, because it only finds which field of a machine's description
    /// forbids parameters.
    pub(super) asks_target: bool,
    /// The number of primes in a step: those that a rescale divides by.
    pub(super) each: u32,
    pub(super) options: &'a Options,
    /// The level of the outputs, counted in steps.
    pub(super) output_level: Level,
    pub(super) planned: Planned,
    /// The number of levels that the program needs, counted in steps.
    pub(super) levels: u32,
    /// For each level above 0, the factor by which the product of its primes exceeds the scale.
    pub(super) ratios: Vec<f64>,
    /// The room that those values need which did not fit their levels in earlier tries.
    pub(super) rooms: Vec<Needed>,
    /// The advice on smaller inputs, for error messages.
    pub(super) narrower: Narrower,
}

/// The room that a value needs: a scale of more than `above` bits. Beside a scale of s bits it needs at least
/// `bits - scales s` integer bits.
pub(super) struct Needed {
    above: u32,
    bits: f64,
    /// The number of scales that the value's capacity holds beyond its integer part: the value's
    /// level, or one less for a product before its rescale.
    scales: f64,
    value: Closeness,
}

impl Needed {
    /// Computes the room that `value` needs, which did not fit with a scale of `scale_bits` and an integer part of
    /// `integer_bits`.
    fn of(value: &Closeness, scale_bits: u32, integer_bits: f64) -> Self {
        let scale = f64::from(scale_bits);
        let above_first = value.capacity.log2() - integer_bits - f64::from(MARGIN_BITS) + 1.0;
        let scales = (above_first / scale).round();
        // Errors that outgrow their value shrink with the scale.
        let (above, missing) = match value.error > value.magnitude {
            true => (scale_bits, 0.0),
            false => (0, value.excess_bits.floor() + 1.0),
        };
        Self {
            above,
            bits: integer_bits + missing + scales * scale,
            scales,
            value: value.clone(),
        }
    }

    fn integer_bits(&self, scale_bits: u32) -> f64 {
        if scale_bits <= self.above {
            return f64::INFINITY;
        }
        (self.bits - self.scales * f64::from(scale_bits)).ceil()
    }
}

impl Search<'_> {
    /// Returns the program at the first scale of the search that is precise enough, and at the smallest ring degree
    /// from `least_log_n` on that has room for it.
    ///
    /// # Errors
    /// [`CompileError::TooPrecise`] if no scale is precise enough, [`CompileError::TooLarge`] or
    /// [`CompileError::IntegerBits`] if values or the user need too many integer bits. [`CompileError::NoParameters`]
    /// if no ring degree has room, [`CompileError::TooManySlots`].
    pub(super) fn run(&mut self) -> Result<Fitted, CompileError> {
        let wanted = self.wanted.accuracy;
        let scales = self.scales_that_fit()?;
        let mut first = FIRST_GUESS.clamp(*scales.start(), *scales.end());
        // The guessed scale may need a larger ring than the tables have, where a smaller scale does not.
        let shortfall = loop {
            match self.attempt(first) {
                Ok(Some(fitted)) => {
                    break fitted.missing_bits(wanted).ceil().clamp(-64.0, 64.0) as i64;
                }
                Ok(None) => {
                    let scales = self.scales_that_fit()?;
                    if !scales.contains(&first) {
                        first = *scales.end();
                    }
                }
                Err(CompileError::NoParameters { .. }) if first > *scales.start() => {
                    break i64::from(*scales.start()) - i64::from(first);
                }
                Err(error) => return Err(error),
            }
        };
        let start = i64::from(first) + shortfall - 1;
        let scales = self.scales_that_fit()?;
        let ends = [*scales.start(), *scales.end()].map(i64::from);
        let mut scale_bits = start.clamp(ends[0], ends[1]) as u32;
        let mut closest = None;
        loop {
            let scales = self.scales_that_fit()?;
            scale_bits = scale_bits.max(*scales.start());
            if scale_bits > *scales.end() {
                // Values that did not fit may have excluded all scales from here on.
                if let Some(closest) = &closest {
                    return Err(self.too_precise(closest));
                }
                scale_bits = *scales.end();
            }
            match self.attempt(scale_bits)? {
                Some(fitted) if fitted.missing_bits(wanted) <= 0.0 => return Ok(fitted),
                Some(fitted) => {
                    closest = Some(fitted);
                    scale_bits += 1;
                }
                None => {}
            }
        }
    }

    /// Returns the error for outputs that are less precise than the user wants. `closest` is the program at the largest
    /// scale that fits.
    fn too_precise(&self, closest: &Fitted) -> CompileError {
        let outputs = closest.managed.outputs.iter();
        let outputs = outputs.zip(&closest.prediction.outputs);
        let outputs = outputs.zip(&closest.prediction.growths);
        let wanted = self.wanted.accuracy;
        let least = outputs.max_by(|((_, a), _), ((_, b), _)| {
            a.missing_bits(wanted).total_cmp(&b.missing_bits(wanted))
        });
        let scale_bits = closest.params.default_scale().log2().round() as u32;
        let (output, growth, reachable) = least
            .map_or((String::new(), None, 0.0), |((name, output), growth)| {
                (name.clone(), growth.clone(), output.reached(wanted))
            });
        CompileError::TooPrecise {
            growth: growth.as_ref().map(|growth| (growth.before, growth.after)),
            by_plain: growth.as_ref().is_some_and(|growth| growth.by_plain),
            at: At(growth.and_then(|growth| growth.loc)),
            output,
            wanted,
            scale_bits,
            reachable: wanted.with_count(reachable.floor().max(0.0) as u32),
            narrower: self.narrower,
        }
    }

    /// Fits the program to parameters with a scale of `scale_bits`. Returns `None` if a value does not fit, and records
    /// the room that it needs.
    fn attempt(&mut self, scale_bits: u32) -> Result<Option<Fitted>, CompileError> {
        let fitted = self.fitted(self.smallest(scale_bits)?)?;
        let tightest = &fitted.prediction.tightest;
        if tightest.fits() {
            return Ok(Some(fitted));
        }
        let integer_bits = self.integer_bits(scale_bits);
        for value in [&tightest.worst, &tightest.first] {
            self.rooms.push(Needed::of(value, scale_bits, integer_bits));
        }
        Ok(None)
    }

    /// Gives the program the levels and scales of `params`, and predicts its precision.
    pub(super) fn fitted(&mut self, params: Arc<Params>) -> Result<Fitted, CompileError> {
        Fitted::new(
            self.program,
            params,
            self.output_level,
            &mut self.planned,
            self.ranges,
            self.options,
        )
    }

    fn scales(&self) -> RangeInclusive<u32> {
        let scales = if self.each == 1 {
            SCALE_BITS
        } else {
            PAIRED_BITS
        };
        // Primes differ from the scale by the ratios of their levels.
        let log2 = self.ratios.iter().map(|ratio| ratio.log2().ceil());
        let (least, most) = log2.fold((0.0, 0.0), |(least, most), bits| {
            (f64::min(least, bits - 1.0), f64::max(most, bits))
        });
        match self.ratios.iter().all(|&ratio| ratio == 1.0) {
            true => scales,
            false => *scales.start() + (-least) as u32..=*scales.end() - most as u32,
        }
    }

    /// Returns the bits by which the primes of the levels exceed the scale, summed over all levels.
    fn ratio_bits(&self) -> f64 {
        self.ratios.iter().map(|ratio| ratio.log2()).sum()
    }

    /// Returns the integer bits that outputs and values need with a scale of `scale_bits`.
    fn integer_bits(&self, scale_bits: u32) -> f64 {
        let needed = self.rooms.iter().map(|room| room.integer_bits(scale_bits));
        needed.fold(f64::from(self.wanted.integer_bits), f64::max)
    }

    /// Returns the most integer bits for which the first primes, those by which no rescale divides,
    /// have room beside a scale of `scale_bits`.
    fn most_integer_bits(&self, scale_bits: u32) -> f64 {
        let all = self.room.max_bits.saturating_mul(self.each);
        f64::from(all) - f64::from(scale_bits + MARGIN_BITS)
    }

    /// Returns the number of first primes, those by which no rescale divides. Together they hold the scale, the integer
    /// part and the margin.
    fn first_count(&self, scale_bits: u32) -> u32 {
        self.first_bits(scale_bits).div_ceil(self.room.max_bits)
    }

    /// Returns the bits of the first primes, those by which no rescale divides, all together:
    /// scale, integer part and margin.
    fn first_bits(&self, scale_bits: u32) -> u32 {
        scale_bits
            .saturating_add(self.integer_bits(scale_bits) as u32)
            .saturating_add(MARGIN_BITS)
    }

    fn special_bits(&self, scale_bits: u32) -> u32 {
        (self.first_bits(scale_bits) + SPECIAL_BITS).min(self.room.max_bits)
    }

    /// Returns the smallest and the largest scale, in bits, beside which the integer part fits the first primes, those
    /// by which no rescale divides.
    pub(super) fn scales_that_fit(&self) -> Result<RangeInclusive<u32>, CompileError> {
        let fits = |&scale: &u32| self.integer_bits(scale) <= self.most_integer_bits(scale);
        let (smallest, largest) = (self.scales().find(fits), self.scales().rev().find(fits));
        match (smallest, largest) {
            (Some(smallest), Some(largest)) => Ok(smallest..=largest),
            (None, _) | (_, None) => Err(self.too_large()),
        }
    }

    /// Returns the error for a search that has no scale left. It names a value that needs too much room, or the integer
    /// bits that the user wants.
    fn too_large(&self) -> CompileError {
        let wanted = f64::from(self.wanted.integer_bits);
        let alone = |room: &&Needed| {
            let fits = |scale| room.integer_bits(scale) <= self.most_integer_bits(scale);
            !self.scales().any(fits)
        };
        let Some(blamed) = self.rooms.iter().rfind(alone).or(self.rooms.last()) else {
            let most = self.scales().map(|scale| self.most_integer_bits(scale));
            return CompileError::IntegerBits {
                wanted: self.wanted.integer_bits,
                most: most.fold(0.0, f64::max) as u32,
            };
        };
        // The value's limit beside all other values, or alone if the others leave no scale.
        let beside = |scale: &u32, others: bool| {
            let others = self.rooms.iter().filter(|room| others && !alone(room));
            let others = others.filter(|room| !std::ptr::eq(*room, blamed));
            let needed = others.map(|room| room.integer_bits(*scale));
            needed.fold(wanted, f64::max) <= self.most_integer_bits(*scale)
        };
        let most = |others| {
            let scales = self.scales().filter(|scale| beside(scale, others));
            let bits = scales.map(|scale| {
                let first = self.most_integer_bits(scale) + f64::from(MARGIN_BITS) - 1.0;
                first + blamed.scales * f64::from(scale)
            });
            bits.max_by(f64::total_cmp)
        };
        CompileError::TooLarge {
            at: At(blamed.value.loc.clone()),
            magnitude: blamed.value.magnitude,
            error: blamed.value.error,
            most: most(true).or(most(false)).unwrap_or(0.0),
            narrower: self.narrower,
        }
    }

    /// Returns parameters of the smallest secure ring degree from `least_log_n` on. The primes of each level above 0
    /// have a product near `2^scale_bits` times the level's ratio.
    fn smallest(&self, scale_bits: u32) -> Result<Arc<Params>, CompileError> {
        let least = (self.program.slots.trailing_zeros() + 1)
            .max(*self.room.log_n.start())
            .max(self.least_log_n);
        let largest = *self.room.log_n.end();
        if least > largest {
            return Err(CompileError::TooManySlots {
                slots: self.program.slots,
                log_n: largest,
                available: 1 << (largest - 1),
            });
        }
        let few = (self.each + self.first_count(scale_bits)) as usize;
        let moduli = few.saturating_add((self.each as usize).saturating_mul(self.levels as usize));
        let most = self.room.moduli.min(rlwe::Params::MAX_PRIMES);
        let degrees = (least..=largest).filter(|_| moduli <= most);
        for log_n in degrees {
            if let Some(params) = self.at_degree(log_n, scale_bits)? {
                return Ok(params);
            }
        }
        let allowed_bits = self.allowed_bits(largest)?.unwrap_or(0);
        // The levels that fit beside the first primes and the special ones, by bits and by number.
        let by_bits = allowed_bits.saturating_sub(self.beside(scale_bits)) / scale_bits;
        let by_number = most.saturating_sub(few) as u32 / self.each;
        let most_primes = most;
        let most = by_bits.min(by_number).min(self.levels.saturating_sub(1));
        let depths = self.planned.depths();
        Err(CompileError::NoParameters {
            at: At(depths.below(self.program, self.output_level, most)),
            levels: self.levels,
            most,
            scale_bits,
            needed_bits: self.qp_bits(scale_bits),
            log_n: largest,
            allowed_bits,
            most_primes: (by_number < by_bits).then_some(most_primes),
            cures: Cures {
                at_most: Some(most.saturating_sub(self.output_level.0)),
                ..Cures::default()
            },
        })
    }

    /// Returns parameters of ring degree `2^log_n`, or `None` if the security table has no room for them or lacks the
    /// degree.
    pub(super) fn at_degree(
        &self,
        log_n: u32,
        scale_bits: u32,
    ) -> Result<Option<Arc<Params>>, CompileError> {
        let allowed = self.allowed_bits(log_n)?;
        if allowed.is_none_or(|allowed| self.qp_bits(scale_bits) > allowed) {
            return Ok(None);
        }
        match self.build(log_n, scale_bits) {
            // The primes' product may be a bit larger than the sum of their sizes.
            Err(CkksError::Rlwe(RlweError::Insecure { .. })) => Ok(None),
            built => Ok(Some(built?)),
        }
    }

    /// Returns the planned bits of all primes by which no rescale divides: the first primes and the special primes.
    fn beside(&self, scale_bits: u32) -> u32 {
        self.first_bits(scale_bits) + self.each * self.special_bits(scale_bits)
    }

    /// Returns about the bits of Q P, the product of all ciphertext primes and special primes: the sum of the primes'
    /// planned sizes.
    fn qp_bits(&self, scale_bits: u32) -> u32 {
        let rescaled = f64::from(self.levels.saturating_mul(scale_bits)) + self.ratio_bits();
        (rescaled.ceil() as u32).saturating_add(self.beside(scale_bits))
    }

    /// Returns the most bits of Q P, the product of all ciphertext and special primes, that the security table allows
    /// at a ring degree, or `None` if the table lacks the degree.
    pub(super) fn allowed_bits(&self, log_n: u32) -> Result<Option<u32>, CompileError> {
        let secret = SecretDistribution::default();
        Ok(bound(
            self.wanted.table,
            secret,
            self.wanted.level,
            log_n as u8,
        )?)
    }

    fn build(&self, log_n: u32, scale_bits: u32) -> Result<Arc<Params>, CkksError> {
        let (first, special) = (self.first_bits(scale_bits), self.special_bits(scale_bits));
        let step = self.room.step(log_n);
        if self.each > 1 {
            let count = self.first_count(scale_bits);
            let special = ntt_primes(special, step, self.each as usize)?;
            let mut cipher =
                ntt_primes_excluding(first.div_ceil(count), step, count as usize, &special)?;
            let taken = [cipher.as_slice(), &special].concat();
            cipher.extend(paired_primes(scale_bits, step, &self.ratios, taken)?);
            let dnum = cipher.len().div_ceil(special.len());
            return self.built(log_n, scale_bits, (&cipher, &special), dnum);
        }
        let (mut cipher, special) = if first == special {
            let mut both = ntt_primes(first, step, 2)?;
            let special = both.split_off(1);
            (both, special)
        } else {
            (ntt_primes(first, step, 1)?, ntt_primes(special, step, 1)?)
        };
        cipher.extend(rescaling_primes(scale_bits, step, &self.ratios)?);
        self.built(log_n, scale_bits, (&cipher, &special), cipher.len())
    }

    /// Builds parameters of these ciphertext and special primes.
    pub(super) fn built(
        &self,
        log_n: u32,
        scale_bits: u32,
        (cipher, special): (&[u64], &[u64]),
        dnum: usize,
    ) -> Result<Arc<Params>, CkksError> {
        Params::builder(log_n as u8)
            .primes(cipher, special)
            .dnum(dnum)
            .default_scale(f64::from(scale_bits).exp2())
            .security(self.wanted.table, self.wanted.level)
            .build()
    }
}
