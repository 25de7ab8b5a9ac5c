//! Predicted precision: an error bound carried through a program, operation by operation, slot by slot.
//!
//! The model is the usual one in the canonical embedding: an error polynomial with independent coefficients of variance v
//! has slots of variance N v, uncorrelated among one another. Errors of one source are added as amplitudes, errors of
//! different sources, or of one source turned by different numbers of slots, as variances ([`sources`]). What an error is
//! multiplied by is bounded, never estimated: the caller says how large a value's slots can be. At the end a bound on all
//! slots together holds except with probability 2^-[`FAILURE_BITS`] ([`tail`]). Errors are in units of the message, that
//! is, divided by the scale.
//!
//! What the model rests on: coefficients of ciphertexts look uniform, the secret's embedding looks Gaussian, rounding
//! errors are independent of the message. The tests hold it against measured errors of random programs.

mod slots;
mod sources;
mod tail;

use std::f64::consts::PI;

use super::params::{Params, SecretDistribution};
pub use slots::Slots;
pub use sources::{Reach, Sources};
pub use tail::FAILURE_BITS;

/// What is known of a value's error.
#[derive(Clone, Debug)]
pub struct Noise {
    /// Variance by slot: constant, times |s|^2 over its mean, times the square of that.
    variance: [Slots; 3],
    /// Standard deviation of the Gaussian that key switching leaves near the slot whose root of unity is closest to 1.
    /// It is the key's error times the mean of a digit, the same whenever the key is used, so it adds as amplitudes.
    peak: Slots,
    /// Bound on what is not random: roundings of constants, doubles.
    fixed: Slots,
    sources: Sources,
}

/// Variances of a random polynomial in every slot, not yet divided by the square of the scale.
#[derive(Clone, Copy, Debug, Default)]
struct Variance([f64; 3]);

/// The prediction of one parameter set for programs on vectors of one length. Operations that add an error number it as
/// a source of its own.
#[derive(Clone, Debug)]
pub struct NoiseModel {
    n: f64,
    /// Slots of the program's vectors, which repeat through the ring's.
    slots: usize,
    /// Mean of |s|^2 in a slot: the sum of the squares of the secret's coefficients.
    secret: f64,
    /// Variance of an error coefficient.
    error: f64,
    /// Number of special primes, and log2 of their product.
    special: f64,
    log_p: f64,
    /// For each level the sum over its digits, each of k primes of product D, of k D^2 / (12 P^2) and of (k D / 2 P)^2.
    digits: Vec<(f64, f64)>,
    /// |1 + X + ... + X^(N-1)| in each slot.
    ones: Slots,
    registry: sources::Registry,
}

impl Noise {
    /// Of a value that is exact.
    pub fn none() -> Self {
        Self {
            variance: [Slots::ZERO, Slots::ZERO, Slots::ZERO],
            peak: Slots::ZERO,
            fixed: Slots::ZERO,
            sources: Sources::none(),
        }
    }

    /// The error of a value multiplied slot by slot by at most `gain`.
    fn scaled(&self, gain: &Slots) -> Self {
        let squared = gain.map(|g| g * g);
        Self {
            variance: self.variance.each_ref().map(|v| v.times(&squared)),
            peak: self.peak.times(gain),
            fixed: self.fixed.times(gain),
            sources: self.sources.clone(),
        }
    }

    fn with_fixed(mut self, extra: &Slots) -> Self {
        self.fixed = self.fixed.plus(extra);
        self
    }
}

impl NoiseModel {
    /// Relative error of a transform in doubles, relative to the largest slot.
    const DOUBLE: f64 = 1.0 / (1u64 << 49) as f64;

    /// For vectors of `slots` values, a power of two up to N/2.
    pub fn new(params: &Params, slots: usize) -> Self {
        let n = params.degree() as f64;
        let log = |primes: &[u64]| primes.iter().map(|&p| (p as f64).log2()).sum::<f64>();
        let log_p = log(params.special_moduli());
        let secret = match params.secret_distribution() {
            SecretDistribution::Ternary => n * 2.0 / 3.0,
            SecretDistribution::SparseTernary { weight } => f64::from(weight),
            SecretDistribution::Gaussian => n * 3.2 * 3.2,
        };
        // A digit's representative is the sum of k uniform fractions of D: mean k D / 2, variance k D^2 / 12.
        let digit = |j: usize, level: u32| {
            let primes = params
                .moduli()
                .get(params.digit(j, level))
                .unwrap_or_default();
            let (k, ratio) = (primes.len() as f64, (log(primes) - log_p).exp2());
            (k * ratio * ratio / 12.0, (k * ratio / 2.0).powi(2))
        };
        let sum = |(a, b): (f64, f64), (c, d): (f64, f64)| (a + c, b + d);
        let at = |level: u32| {
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
            digits: (0..=params.max_level()).map(at).collect(),
            ones: Slots::each(ones.collect()),
            registry: sources::Registry::new(params.slots(), slots),
        }
    }

    /// The same model with every slot as bad as the worst: for programs too long to look at each slot.
    pub fn flattened(mut self) -> Self {
        self.ones = self.ones.flattened();
        self
    }

    /// An error of its own, of this variance at this scale.
    fn fresh(&mut self, variance: Variance, scale: f64, reach: Reach) -> Noise {
        let unit = scale * scale;
        Noise {
            variance: variance.0.map(|v| Slots::All(v / unit)),
            sources: self.registry.fresh(reach),
            ..Noise::none()
        }
    }

    /// r_0 + r_1 s + ... (`size` terms), every r the sum of `parts` uniform fractions about zero.
    fn rounding(&self, parts: f64, size: usize) -> Variance {
        let r = self.n * parts / 12.0;
        let mut variance = [r, r * self.secret, r * self.secret * self.secret];
        for v in variance.iter_mut().skip(size) {
            *v = 0.0;
        }
        Variance(variance)
    }

    /// An encoded plaintext of slots up to `magnitude`.
    pub fn encoded(&mut self, magnitude: &Slots, scale: f64) -> Noise {
        let variance = Variance([2.0 * self.slots as f64 / 12.0, 0.0, 0.0]);
        let doubles = Self::DOUBLE * magnitude.largest(usize::MAX);
        self.fresh(variance, scale, Reach::Vector)
            .with_fixed(&Slots::All(doubles))
    }

    /// A fresh public-key encryption: (u e + e_0 + e_1 s) / P and its rounding.
    pub fn fresh_public(&mut self, magnitude: &Slots, scale: f64) -> Noise {
        let errors = self.error * self.n * (-2.0 * self.log_p).exp2();
        let ternary = self.n * 2.0 / 3.0;
        let Variance([v0, v1, _]) = self.rounding(self.special, 2);
        let zero = Variance([v0 + errors, v1 + errors * (self.secret + ternary), 0.0]);
        let zero = self.fresh(zero, scale, Reach::Ring);
        let encoded = self.encoded(magnitude, scale);
        self.add(&encoded, &zero)
    }

    /// A fresh secret-key encryption.
    pub fn fresh_secret(&mut self, magnitude: &Slots, scale: f64) -> Noise {
        let zero = Variance([self.error * self.n, 0.0, 0.0]);
        let zero = self.fresh(zero, scale, Reach::Ring);
        let encoded = self.encoded(magnitude, scale);
        self.add(&encoded, &zero)
    }

    /// Addition or subtraction, of ciphertexts or a plaintext.
    pub fn add(&mut self, a: &Noise, b: &Noise) -> Noise {
        let join = if a.sources.disjoint(&b.sources) {
            |x: f64, y: f64| x + y
        } else {
            |x: f64, y: f64| x + y + 2.0 * (x * y).sqrt()
        };
        let [x0, x1, x2] = &a.variance;
        let [y0, y1, y2] = &b.variance;
        let sum = |x: &Slots, y: &Slots| match (x, y) {
            (Slots::All(0.0), z) | (z, Slots::All(0.0)) => z.clone(),
            _ => x.zip(y, join),
        };
        Noise {
            variance: [sum(x0, y0), sum(x1, y1), sum(x2, y2)],
            peak: a.peak.plus(&b.peak),
            fixed: a.fixed.plus(&b.fixed),
            sources: self.registry.union(&a.sources, &b.sources),
        }
    }

    /// The product of values of at most these magnitudes, ciphertexts or a plaintext, without relinearisation.
    pub fn mul(&mut self, a: &Noise, size_a: &Slots, b: &Noise, size_b: &Slots) -> Noise {
        // (x + e)(y + f) - x y = (x + e) f + y e.
        let error_a = Slots::All(self.bound_anywhere(a));
        let from_b = b.scaled(&size_a.plus(&error_a));
        let from_a = a.scaled(size_b);
        self.add(&from_a, &from_b)
    }

    /// The square of a value of at most this magnitude.
    pub fn square(&mut self, a: &Noise, size: &Slots) -> Noise {
        // (x + e)^2 - x^2 = (2 x + e) e.
        let error = self.bound_anywhere(a);
        a.scaled(&size.map(|x| 2.0 * x + error))
    }

    /// The product with a whole number, which is exact.
    pub fn mul_integer(&self, a: &Noise, factor: f64) -> Noise {
        a.scaled(&Slots::All(factor.abs()))
    }

    /// The product with a constant rounded to a multiple of 1 / `scale`.
    pub fn mul_scalar(&self, a: &Noise, size: &Slots, value: f64, scale: f64) -> Noise {
        let rounding = 0.5 / scale + value.abs() * f64::EPSILON;
        a.scaled(&Slots::All(value.abs() + rounding))
            .with_fixed(&size.map(|x| x * rounding))
    }

    /// The sum with a constant at the ciphertext's scale.
    pub fn add_scalar(&self, a: &Noise, value: f64, scale: f64) -> Noise {
        let rounding = 0.5 / scale + value.abs() * f64::EPSILON;
        a.clone().with_fixed(&Slots::All(rounding))
    }

    /// Relinearisation or conjugation at `level` of a value at `scale`: key switching with no turn.
    pub fn key_switch(&mut self, a: &Noise, level: u32, scale: f64) -> Noise {
        let added = self.switched(level, scale, 0);
        self.add(a, &added)
    }

    /// Rotation to the left by `steps`: automorphism, then key switching.
    pub fn rotate(&mut self, a: &Noise, steps: i64, level: u32, scale: f64) -> Noise {
        let turned = self.turned(a, steps);
        let added = self.switched(level, scale, 0);
        self.add(&turned, &added)
    }

    /// Rotation to the left by `steps` of digits that were cut before (hoisting), so that their mean turns as well.
    pub fn rotate_hoisted(&mut self, a: &Noise, steps: i64, level: u32, scale: f64) -> Noise {
        let turned = self.turned(a, steps);
        let added = self.switched(level, scale, steps);
        self.add(&turned, &added)
    }

    fn turned(&mut self, a: &Noise, steps: i64) -> Noise {
        Noise {
            variance: a.variance.each_ref().map(|v| v.rotated(steps)),
            peak: a.peak.rotated(steps),
            fixed: a.fixed.rotated(steps),
            sources: self.registry.turned(&a.sources, steps),
        }
    }

    /// What key switching adds: the digits times the key's errors over P, and the rounding of the division by P.
    fn switched(&mut self, level: u32, scale: f64, turn: i64) -> Noise {
        let at = self.digits.get(level as usize).or(self.digits.last());
        let (spread, mean) = at.copied().unwrap_or((0.0, 0.0));
        let Variance([v0, v1, _]) = self.rounding(self.special, 2);
        let product = self.error * self.n * self.n * spread;
        let amplitude = (self.error * self.n * mean).sqrt() / scale;
        let peak = self.ones.rotated(turn).map(|x| x * amplitude);
        Noise {
            peak,
            ..self.fresh(Variance([v0, v1 + product, 0.0]), scale, Reach::Ring)
        }
    }

    /// Rescaling of a ciphertext of `size` polynomials to `scale` (the scale after it).
    pub fn rescale(&mut self, a: &Noise, size: usize, scale: f64) -> Noise {
        let rounded = self.rounding(1.0, size);
        let rounded = self.fresh(rounded, scale, Reach::Ring);
        self.add(a, &rounded)
    }

    /// Bound on the error of every slot of the program's vectors, of a value of at most this magnitude, decoding in
    /// doubles included; it fails with probability at most 2^-[`FAILURE_BITS`].
    pub fn bound(&self, a: &Noise, magnitude: &Slots) -> f64 {
        let exponent = tail::exponent(self.slots);
        let one = |slot: usize| {
            let variance = a.variance.each_ref().map(|v| v.at(slot));
            total(variance, a.peak.at(slot), exponent) + a.fixed.at(slot)
        };
        let parts = a.variance.iter().chain([&a.peak, &a.fixed]);
        let period = parts.map(Slots::period).max().unwrap_or(1);
        let error = (0..period.min(self.slots)).map(one).fold(0.0, f64::max);
        error + magnitude.largest(self.slots) * Self::DOUBLE
    }

    /// A quicker and looser bound, on every slot of the ring: a rotation may bring any of them into the vector.
    pub fn bound_anywhere(&self, a: &Noise) -> f64 {
        let worst = |x: &Slots| x.largest(usize::MAX);
        let exponent = tail::exponent(self.n as usize / 2);
        total(a.variance.each_ref().map(worst), worst(&a.peak), exponent) + worst(&a.fixed)
    }
}

/// Bound on the random part of a slot's error.
fn total([v0, v1, v2]: [f64; 3], peak: f64, exponent: f64) -> f64 {
    tail::bound([v0 + peak * peak, v1, v2], exponent)
}

/// Measured precision in bits: -log2 of the largest distance between decrypted and expected slots (infinite when
/// equal); `None` when the lengths differ.
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
