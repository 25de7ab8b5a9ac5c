// SPDX-License-Identifier: Apache-2.0
//! Predicts the precision of CKKS results: carries an error bound through a program, operation by operation, slot by
//! slot.
//!
//! The model is the usual one in the canonical embedding. An error polynomial with independent coefficients of
//! variance v has slots of variance N v, which are uncorrelated. Errors of one random source are added as
//! amplitudes. Errors of different sources, or of one source rotated by different numbers of slots, are added as
//! variances ([`sources`]). Operations that switch, round or encode the same polynomial again make the same error
//! again, which an [`Origin`] records. Factors by which errors are multiplied are bounded, never estimated: the
//! caller says how large a value's slots can be. At an output, a bound on all slots together holds except with
//! probability 2^-[`FAILURE_BITS`] ([`tail`]). Errors are in units of the message, that is, divided by the scale.
//!
//! The model assumes that coefficients of ciphertexts look uniform, that the secret's embedding looks Gaussian, and
//! that rounding errors are independent of the message. Tests compare it with measured errors of random programs.

mod ball;
mod bounds;
pub(crate) mod paths;
pub(crate) mod poly;
pub(crate) mod random;
pub(crate) mod range;
mod slots;
pub(crate) mod sources;
pub(crate) mod tail;

use std::collections::HashMap;
use std::f64::consts::PI;

use ringmill_isa::Level;

use super::params::Params;
pub use ball::Ball;
use bounds::Bounds;
use paths::{Errors, Key, Own, Paths};
pub use poly::{Domain, Factor, Polynomial};
use random::Random;
pub use slots::Slots;
pub use sources::{Origin, Reach, Sources};
pub use tail::FAILURE_BITS;

/// The bounds on the error of a value: its random part in each slot, its part that is not random, and the
/// operations that it comes from.
#[derive(Clone, Debug)]
pub struct Noise {
    /// The random part. Its variance in each slot has three coefficients v_0, v_1, v_2, of v_0 + v_1 x + v_2 x^2. Here
    /// x is |s|^2 over its mean, where s is the value of the secret key's polynomial in the slot.
    random: Random,
    /// The standard deviation, in each slot, of an error of key switches that is largest in the slot whose root of
    /// unity is nearest 1. It is the key's error times the mean of a digit, and looks Gaussian. Each use of a key
    /// makes this error again, so the errors of several uses are added as amplitudes.
    peak: Slots,
    /// A bound on the part of the error that is not random: roundings of constants and of doubles.
    fixed: Slots,
    /// The error as a linear combination of errors of earlier operations.
    errors: Errors,
}

/// The variance in the slots of a random polynomial, as the coefficients v_0, v_1, v_2 of v_0 + v_1 x + v_2 x^2. Here x
/// is |s|^2 over its mean, for the secret's value s in the slot. The variance is not yet divided by the square of the
/// scale.
#[derive(Clone, Copy, Debug, Default)]
struct Variance([f64; 3]);

/// The noise model of one parameter set, for programs on vectors of one length. It remembers the errors that
/// operations added, since a later operation may make the same error again.
#[derive(Clone, Debug)]
pub struct NoiseModel {
    n: f64,
    /// The number of slots of the program's vectors, which repeat through the slots of the ring.
    slots: usize,
    /// The mean, over slots, of |s|^2 for the secret key's value s in a slot. It is the mean sum of the squares of
    /// the secret's coefficients.
    secret: f64,
    /// The variance of a coefficient of the error polynomials that encryption and keys draw.
    error: f64,
    /// The number of special primes; `log_p` is the base-2 logarithm of their product P.
    special: f64,
    log_p: f64,
    /// For each level, two sums over the key-switching digits. A digit has k primes of product D, and P is the
    /// product of the special primes. The first sum is of k D^2 / (12 P^2), the second of (k D / 2 P)^2.
    digits: Vec<(f64, f64)>,
    /// The absolute value of the polynomial 1 + X + ... + X^(N-1) in each slot.
    ones: Slots,
    registry: sources::Registry,
    /// The errors that operations added, for operations with an [`Origin`]. The key is [`Origin::same`], which
    /// equal errors share.
    made: HashMap<u64, Noise>,
    /// The paths of errors to the outputs, or `None` once they need more memory or work than allowed.
    paths: Option<Paths>,
}

impl Noise {
    /// Returns the noise of a value that has no error.
    pub fn none() -> Self {
        Self {
            random: Random::none(),
            peak: Slots::ZERO,
            fixed: Slots::ZERO,
            errors: Errors::none(),
        }
    }

    /// Returns the error in each slot, without its sources.
    fn bounds(&self) -> Bounds {
        let [v0, v1, v2] = self.random.variance();
        Bounds {
            variance: [v0.plus(&self.peak.map(|x| x * x)), v1, v2],
            fixed: self.fixed.clone(),
        }
    }

    /// Returns the noise of a value that is multiplied, slot by slot, by numbers of absolute value up to `gain`.
    fn scaled(&self, gain: &Slots) -> Self {
        Self {
            random: self.random.scaled(gain),
            peak: self.peak.times(gain),
            fixed: self.fixed.times(gain),
            errors: Errors::none(),
        }
    }
}

impl NoiseModel {
    /// The relative error of a canonical embedding in doubles, as a fraction of the largest slot.
    const DOUBLE: f64 = 1.0 / (1u64 << 49) as f64;
    /// The largest ratio of an error to its value at which the error counts by its largest slot alone. Such an
    /// error only widens the range of a factor a little.
    const SMALL: f64 = 1.0 / 64.0;

    /// Makes the model for vectors of `slots` values, a power of two up to N/2.
    pub fn new(params: &Params, slots: usize) -> Self {
        let n = params.degree() as f64;
        let log = |primes: &[u64]| primes.iter().map(|&p| (p as f64).log2()).sum::<f64>();
        let log_p = log(params.special_moduli());
        let secret = params.secret_distribution().mean_square(n);
        // A digit's representative is the sum of k uniform fractions of D, with mean k D / 2 and variance k D^2 / 12.
        let digit = |j: usize, level: Level| {
            let primes = params
                .moduli()
                .get(params.digit(j, level))
                .unwrap_or_default();
            let (k, ratio) = (primes.len() as f64, (log(primes) - log_p).exp2());
            (k * ratio * ratio / 12.0, (k * ratio / 2.0).powi(2))
        };
        let sum = |(a, b): (f64, f64), (c, d): (f64, f64)| (a + c, b + d);
        let at = |level: Level| {
            let digits = (0..params.digits_at(level)).map(|j| digit(j, level));
            digits.fold((0.0, 0.0), sum)
        };
        // |1 + zeta + ... + zeta^(N-1)| = 2 / |1 - zeta|, zeta = e^(pi i e / N) with e = 3^i in slot i.
        let mask = 2 * params.degree() as u64 - 1;
        let ones = (0..params.slots()).scan(1u64, |e, _| {
            let value = 1.0 / (PI * *e as f64 / (2.0 * n)).sin().abs();
            *e = (*e * 3) & mask;
            Some(value)
        });
        Self {
            n,
            slots,
            secret,
            error: params.error_distribution().std_dev().powi(2),
            special: params.special_count() as f64,
            log_p,
            digits: Level::LOWEST.to(params.max_level()).map(at).collect(),
            ones: Slots::each(ones.collect()),
            registry: sources::Registry::new(params.slots(), slots),
            made: HashMap::new(),
            paths: Some(Paths::new(params.slots(), slots)),
        }
    }

    /// Returns this model without paths of errors. The error of a key switch that differs from slot to slot counts in
    /// every slot as in its largest one. The result is for programs that are too long to follow each slot.
    pub fn flattened(mut self) -> Self {
        self.ones = self.ones.flattened();
        self.paths = None;
        self
    }

    /// Records the range of the program's value with the number `value`. A [`Factor`] that is a polynomial of such
    /// values is bounded from their ranges.
    pub fn know(&mut self, value: u32, domain: Domain) {
        if let Some(paths) = &mut self.paths {
            paths.know(value, domain);
        }
    }

    /// Returns the combination of errors that the function `errors` computes, with the error `own` of the operation
    /// itself added.
    fn errors(&mut self, own: Own, errors: impl FnOnce(&mut Paths) -> Errors) -> Errors {
        let sum = self.paths.as_mut().and_then(|paths| {
            let errors = errors(paths);
            paths.add(own, errors)
        });
        if sum.is_none() {
            self.paths = None;
        }
        sum.unwrap_or_default()
    }

    fn with_fixed(&mut self, a: Noise, extra: &Slots) -> Noise {
        Noise {
            fixed: a.fixed.plus(extra),
            errors: self.errors(Own::Fixed(extra.clone()), |_| a.errors),
            ..a
        }
    }

    /// Returns the noise of a value that is multiplied slot by slot by the factor `by`.
    fn scaled(&mut self, a: &Noise, by: &Factor) -> Noise {
        Noise {
            errors: self.errors(Own::Nothing, |paths| paths.times(&a.errors, by)),
            ..a.scaled(&by.magnitude())
        }
    }

    /// Returns the error that an operation of the origin `of` adds. The first call with an origin makes the error by
    /// the function `make`, and later calls return this error. Without an origin, each call makes a new error.
    fn once(&mut self, of: Option<Origin>, make: impl FnOnce(&mut Self) -> Noise) -> Noise {
        let Some(Origin { same, .. }) = of else {
            return make(self);
        };
        if let Some(known) = self.made.get(&same) {
            return known.clone();
        }
        let made = make(self);
        self.made.insert(same, made.clone());
        made
    }

    /// Returns a new random error of this variance, at this scale. It is independent of all errors with another
    /// [`Origin::like`], and of all errors if `of` is `None`.
    fn fresh(&mut self, variance: Variance, scale: f64, reach: Reach, of: Option<Origin>) -> Noise {
        let variance = variance.0.map(|v| v / (scale * scale));
        let like = of.map(|of| of.like);
        let own = Own::Random {
            variance,
            reach,
            like,
        };
        let sources = match like {
            Some(like) => self.registry.of(like, reach),
            None => self.registry.fresh(reach),
        };
        Noise {
            random: Random::new(variance.map(Slots::All), sources),
            errors: self.errors(own, |_| Errors::none()),
            ..Noise::none()
        }
    }

    /// Returns the variance of r_0 + r_1 s + ..., with `size` terms, for the secret key s. Each coefficient of each
    /// r_i is the sum of `parts` rounding errors that are uniform between -1/2 and 1/2.
    fn rounding(&self, parts: f64, size: usize) -> Variance {
        let r = self.n * parts / 12.0;
        let mut variance = [r, r * self.secret, r * self.secret * self.secret];
        for v in variance.iter_mut().skip(size) {
            *v = 0.0;
        }
        Variance(variance)
    }

    /// Returns the noise of an encoded plaintext with slots of absolute value up to `magnitude`. `of` is the
    /// vector's origin, if this vector or a similar one is encoded elsewhere too. Such encodings have equal or
    /// correlated rounding errors.
    pub fn encoded(&mut self, magnitude: &Slots, scale: f64, of: Option<Origin>) -> Noise {
        let variance = Variance([2.0 * self.slots as f64 / 12.0, 0.0, 0.0]);
        let doubles = Self::DOUBLE * magnitude.largest(usize::MAX);
        let rounded = self.once(of, |model| model.fresh(variance, scale, Reach::Vector, of));
        self.with_fixed(rounded, &Slots::All(doubles))
    }

    /// Returns the noise of a fresh encryption under the public or the secret key, whichever has the larger variance.
    /// The parts of a variance that the secret multiplies have the larger tails, and only a public key makes such parts.
    /// So if the public key's variance is the larger one, its bound holds for both.
    pub fn fresh_input(&mut self, magnitude: &Slots, scale: f64) -> Noise {
        let sum = |Variance(parts): Variance| parts.iter().sum::<f64>();
        let (public, secret) = (self.zero_by_public(), self.zero_by_secret());
        let zero = if sum(public) < sum(secret) {
            secret
        } else {
            public
        };
        self.encryption(zero, magnitude, scale)
    }

    /// Returns the variance of an encryption of zero under the public key.
    fn zero_by_public(&self) -> Variance {
        let errors = self.error * self.n * (-2.0 * self.log_p).exp2();
        let ternary = self.n * 2.0 / 3.0;
        let Variance([v0, v1, _]) = self.rounding(self.special, 2);
        Variance([v0 + errors, v1 + errors * (self.secret + ternary), 0.0])
    }

    /// Returns the variance of an encryption of zero under the secret key.
    fn zero_by_secret(&self) -> Variance {
        Variance([self.error * self.n, 0.0, 0.0])
    }

    /// Returns the noise of encoding slots of absolute value up to `magnitude` and of adding them to an encryption of
    /// zero.
    fn encryption(&mut self, zero: Variance, magnitude: &Slots, scale: f64) -> Noise {
        let zero = self.fresh(zero, scale, Reach::Ring, None);
        let encoded = self.encoded(magnitude, scale, None);
        self.add(&encoded, &zero)
    }

    /// Returns the noise of a fresh encryption under the public key: (u e + e_0 + e_1 s) / P, the rounding of that
    /// division, and the error of encoding slots of absolute value up to `magnitude`. Here e, e_0 and e_1 are errors, u
    /// is a random ternary polynomial, s the secret, and P the product of the special primes.
    pub fn fresh_public(&mut self, magnitude: &Slots, scale: f64) -> Noise {
        self.encryption(self.zero_by_public(), magnitude, scale)
    }

    /// Returns the noise of a fresh encryption under the secret key: its error, and the error of encoding slots of
    /// absolute value up to `magnitude`.
    pub fn fresh_secret(&mut self, magnitude: &Slots, scale: f64) -> Noise {
        self.encryption(self.zero_by_secret(), magnitude, scale)
    }

    /// Returns the noise of the sum of two ciphertexts, or of a ciphertext and a plaintext, from the noise of both
    /// operands.
    pub fn add(&mut self, a: &Noise, b: &Noise) -> Noise {
        Noise {
            random: a.random.plus(&b.random, &mut self.registry),
            peak: a.peak.plus(&b.peak),
            fixed: a.fixed.plus(&b.fixed),
            errors: self.errors(Own::Nothing, |paths| {
                paths.sum(a.errors.clone(), b.errors.clone())
            }),
        }
    }

    /// Returns the noise of the difference of two ciphertexts, or of a ciphertext and a plaintext, from the noise
    /// of both operands.
    pub fn sub(&mut self, a: &Noise, b: &Noise) -> Noise {
        let negated = self.neg(b);
        self.add(a, &negated)
    }

    /// Returns the noise of a value after its negation.
    pub fn neg(&mut self, a: &Noise) -> Noise {
        self.scaled(a, &Factor::exact(-1.0))
    }

    /// Returns the noise of a product of two ciphertexts, or of a ciphertext and a plaintext, without
    /// relinearisation. `value_a` and `value_b` are the ranges of the factors without their errors.
    pub fn mul(&mut self, a: &Noise, value_a: &Factor, b: &Noise, value_b: &Factor) -> Noise {
        // (x + e)(y + f) - x y = (x + e) f + y e.
        let inexact_a = value_a.widened(&self.bound_by_slot(a, value_a));
        let from_a = self.scaled(a, value_b);
        let from_b = self.scaled(b, &inexact_a);
        self.add(&from_a, &from_b)
    }

    /// Returns the noise of the square of a ciphertext, without relinearisation. `value` is the range of the
    /// ciphertext's slots without their error.
    pub fn square(&mut self, a: &Noise, value: &Factor) -> Noise {
        // (x + e)^2 - x^2 = (2 x + e) e.
        let gain = value.scaled(2.0).widened(&self.bound_by_slot(a, value));
        self.scaled(a, &gain)
    }

    /// Returns the noise of a product of a ciphertext and a whole number. The product adds no error of its own.
    pub fn mul_integer(&mut self, a: &Noise, factor: f64) -> Noise {
        self.scaled(a, &Factor::exact(factor))
    }

    /// Returns the noise of a product of a ciphertext and the constant `value`, which is rounded to a multiple of
    /// 1 / `scale`. `size` bounds the absolute values in the ciphertext's slots.
    pub fn mul_scalar(&mut self, a: &Noise, size: &Slots, value: f64, scale: f64) -> Noise {
        // The error is multiplied by the rounded constant. It counts as the exact one, as the difference is far
        // smaller.
        let rounding = 0.5 / scale + value.abs() * f64::EPSILON;
        self.mul_rounded(a, size, value, rounding)
    }

    /// Returns the noise of a product of a ciphertext and the constant `value`, which is rounded by at most
    /// `rounding`. `size` bounds the absolute values in the ciphertext's slots.
    pub fn mul_rounded(&mut self, a: &Noise, size: &Slots, value: f64, rounding: f64) -> Noise {
        let scaled = self.scaled(a, &Factor::exact(value));
        let error = self.bound_anywhere(a);
        self.with_fixed(scaled, &size.map(|x| (x + error) * rounding))
    }

    /// Returns the noise of the sum of a ciphertext and the constant `value`, which is rounded at the ciphertext's
    /// scale.
    pub fn add_scalar(&mut self, a: &Noise, value: f64, scale: f64) -> Noise {
        let rounding = 0.5 / scale + value.abs() * f64::EPSILON;
        self.with_fixed(a.clone(), &Slots::All(rounding))
    }

    /// Returns the noise of a value at `scale` after a relinearisation at `level`. `of` is the origin of the
    /// polynomial that is switched, if an equal or similar polynomial is switched elsewhere too.
    pub fn relinearise(
        &mut self,
        a: &Noise,
        level: Level,
        scale: f64,
        of: Option<Origin>,
    ) -> Noise {
        let added = self.switched(Key::Relin, level, scale, 0, of);
        self.add(a, &added)
    }

    /// Returns the noise of a value after a conjugation: an automorphism and a key switch. `of` is the origin of
    /// the polynomial that is switched, if an equal or similar one is switched elsewhere too.
    pub fn conjugate(&mut self, a: &Noise, level: Level, scale: f64, of: Option<Origin>) -> Noise {
        let conjugated = self.conjugate_open(a);
        let added = self.switched(Key::Conj, level, scale, 0, of);
        self.add(&conjugated, &added)
    }

    /// Returns the noise of a value after a rotation to the left by `steps` slots: an automorphism and a key
    /// switch. `of` is the origin of the polynomial that is switched, if an equal or similar one is switched
    /// elsewhere too.
    pub fn rotate(
        &mut self,
        a: &Noise,
        steps: i64,
        level: Level,
        scale: f64,
        of: Option<Origin>,
    ) -> Noise {
        let turned = self.rotate_open(a, steps);
        let added = self.switched(self.rotation(steps), level, scale, 0, of);
        self.add(&turned, &added)
    }

    /// Returns the noise of a value after a hoisted rotation to the left by `steps` slots, which shares its
    /// key-switching digits with other rotations. The mean of the digits is rotated with the value. `of` is the
    /// origin of the polynomial that is switched, if an equal or similar one is switched elsewhere too.
    pub fn rotate_hoisted(
        &mut self,
        a: &Noise,
        steps: i64,
        level: Level,
        scale: f64,
        of: Option<Origin>,
    ) -> Noise {
        let turned = self.rotate_open(a, steps);
        let added = self.switched(self.rotation(steps), level, scale, steps, of);
        self.add(&turned, &added)
    }

    /// Returns the noise of a conjugation of a ciphertext whose polynomial c_1 is zero, which needs no key switch.
    pub fn conjugate_open(&mut self, a: &Noise) -> Noise {
        let paths = self.paths.as_mut();
        Noise {
            errors: paths.map_or_else(Errors::none, |paths| paths.conjugated(&a.errors)),
            ..a.clone()
        }
    }

    /// Returns the noise of a rotation of a ciphertext whose polynomial c_1 is zero, which needs no key switch.
    pub fn rotate_open(&mut self, a: &Noise, steps: i64) -> Noise {
        let paths = self.paths.as_mut();
        let errors = paths.map(|paths| paths.rotated(&a.errors, steps));
        Noise {
            random: a.random.rotated(steps, &mut self.registry),
            peak: a.peak.rotated(steps),
            fixed: a.fixed.rotated(steps),
            errors: errors.unwrap_or_default(),
        }
    }

    fn rotation(&self, steps: i64) -> Key {
        Key::Rotate(steps.rem_euclid(self.n as i64 / 2) as u32)
    }

    /// Returns the noise that a key switch adds: the digits times the key's errors, divided by the product P of the
    /// special primes, and the rounding of this division. `turn` is the number of slots by which the digits' mean
    /// is rotated.
    fn switched(
        &mut self,
        key: Key,
        level: Level,
        scale: f64,
        turn: i64,
        of: Option<Origin>,
    ) -> Noise {
        let at = self.digits.get(level.index()).or(self.digits.last());
        let (spread, mean) = at.copied().unwrap_or((0.0, 0.0));
        let Variance([v0, v1, _]) = self.rounding(self.special, 2);
        let variance = Variance([v0, v1 + self.error * self.n * self.n * spread, 0.0]);
        let amplitude = (self.error * self.n * mean).sqrt() / scale;
        self.once(of, |model| {
            let spread = model.fresh(variance, scale, Reach::Ring, of);
            let peak = Own::Peak {
                key,
                level,
                turn,
                amplitude,
            };
            Noise {
                peak: model.ones.rotated(turn).map(|x| x * amplitude),
                errors: model.errors(peak, |_| spread.errors),
                ..spread
            }
        })
    }

    /// Returns the noise of a value after a rescaling. `scale` is the scale of the result, and `size` the number of
    /// polynomials that are not zero. `of` has the origins of the rounded polynomials, if equal or similar ones are
    /// rounded elsewhere too.
    pub fn rescale(
        &mut self,
        a: &Noise,
        size: usize,
        scale: f64,
        of: [Option<Origin>; 3],
    ) -> Noise {
        let Variance(parts) = self.rounding(1.0, size);
        if of.iter().all(Option::is_none) {
            let rounded = self.fresh(Variance(parts), scale, Reach::Ring, None);
            return self.add(a, &rounded);
        }
        let mut sum = a.clone();
        for (part, (v, of)) in parts.into_iter().zip(of).enumerate() {
            let mut variance = Variance::default();
            variance
                .0
                .iter_mut()
                .skip(part)
                .take(1)
                .for_each(|x| *x = v);
            let rounded = self.once(of, |model| model.fresh(variance, scale, Reach::Ring, of));
            sum = self.add(&sum, &rounded);
        }
        sum
    }

    /// Returns the noise of a value after a bootstrap that adds an error of at most `error` to a slot. The noise
    /// `a` of the operand stays as large as it was.
    pub fn bootstrapped(&mut self, a: Noise, error: f64) -> Noise {
        self.with_fixed(a, &Slots::All(error))
    }

    /// Returns a bound on the error in every slot of the program's vectors, with that of decoding in doubles.
    /// `magnitude` bounds the absolute values in the slots. The bound fails with probability at most
    /// 2^-[`FAILURE_BITS`].
    pub fn bound(&mut self, a: &Noise, magnitude: &Slots) -> f64 {
        let paths = self.paths.as_mut();
        let by_paths = paths.and_then(|paths| paths.reached(&a.errors, &self.ones));
        let exponent = tail::exponent(self.slots);
        let bounds = std::iter::once(a.bounds()).chain(by_paths);
        let bounds = bounds.map(|bounds| bounds.largest(self.slots, exponent));
        let error = bounds.fold(f64::INFINITY, f64::min);
        error + magnitude.largest(self.slots) * Self::DOUBLE
    }

    /// Returns a bound on the error in every slot of the ring, since a rotation may bring any of them into a
    /// program's vector. It is quicker to compute than [`Self::bound`], and looser.
    pub fn bound_anywhere(&self, a: &Noise) -> f64 {
        let worst = |x: &Slots| x.largest(usize::MAX);
        let exponent = tail::exponent(self.n as usize / 2);
        let ([v0, v1, v2], peak) = (a.random.largest(), worst(&a.peak));
        tail::bound([v0 + peak * peak, v1, v2], exponent) + worst(&a.fixed)
    }

    /// Returns, for each slot of the ring, a bound on the error `a` of a value. If the error is small compared to
    /// `value`, all slots have one bound.
    fn bound_by_slot(&self, a: &Noise, value: &Factor) -> Slots {
        let anywhere = self.bound_anywhere(a);
        if anywhere <= Self::SMALL * value.magnitude().largest(usize::MAX) {
            return Slots::All(anywhere);
        }
        let exponent = tail::exponent(self.n as usize / 2);
        let bounds = a.bounds();
        let slots = 0..bounds.period();
        Slots::each(slots.map(|slot| bounds.at(slot, exponent)).collect())
    }
}

/// Returns the measured precision in bits: minus the base-2 logarithm of the largest distance between decrypted and
/// expected slots. The precision is infinite if all slots are equal, and `None` if the lengths differ.
pub fn measured_bits(
    got: &[num_complex::Complex64],
    expected: &[num_complex::Complex64],
) -> Option<f64> {
    if got.len() != expected.len() {
        return None;
    }
    let largest = got
        .iter()
        .zip(expected)
        .map(|(a, b)| (a - b).norm())
        .fold(0.0, f64::max);
    Some(-largest.log2())
}
