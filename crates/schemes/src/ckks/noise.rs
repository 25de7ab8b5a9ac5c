//! Predicted precision: an error bound carried through a program, operation by operation.
//!
//! The model is the usual heuristic one in the canonical embedding: an error polynomial with independent coefficients
//! of variance v has slots of mean square N v. Errors that may be correlated are added as norms (never optimistic),
//! fresh independent ones as variances. [`NoiseModel::TAIL`] times the root mean square then bounds every slot except
//! with probability below 10^-6. Errors are in units of the message, that is, divided by the scale.

use super::params::{Params, SecretDistribution};

/// What is known of a value: how large its slots can be and how far they are from exact.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Noise {
    /// Bound on the absolute value of any slot. A caller that knows better may lower it.
    pub magnitude: f64,
    /// Root mean square of the worst slot's error.
    pub error: f64,
}

impl Noise {
    /// Bound on the error of every slot, decoding in doubles included.
    pub fn bound(&self) -> f64 {
        NoiseModel::TAIL * self.error + self.magnitude * NoiseModel::DOUBLE
    }

    /// Predicted precision in bits: -log2 of [`Noise::bound`].
    pub fn precision_bits(&self) -> f64 {
        -self.bound().log2()
    }
}

/// The prediction of one parameter set.
#[derive(Clone, Debug)]
pub struct NoiseModel {
    n: f64,
    /// Sum of the squares of the secret's coefficients.
    secret: f64,
    /// Variance of an error coefficient.
    error: f64,
    /// Number of special primes, and log2 of their product.
    special: f64,
    log_p: f64,
    /// For each level the sum over its digits of k D^2 (1/12 + k N / pi^2) / P^2, D the product of the digit's k primes.
    digits: Vec<f64>,
}

impl NoiseModel {
    /// An error bound is this many root mean squares. A rounding error is multiplied by the secret, so a slot's error is
    /// a product of two complex Gaussians: beyond T root mean squares with probability about e^(-2T).
    pub const TAIL: f64 = 12.0;
    /// Relative error of an encoding or decoding in doubles, relative to the largest slot.
    const DOUBLE: f64 = 1.0 / (1u64 << 48) as f64;

    pub fn new(params: &Params) -> Self {
        let n = params.degree() as f64;
        let log_p: f64 = params
            .special_moduli()
            .iter()
            .map(|&p| (p as f64).log2())
            .sum();
        let secret = match params.secret_distribution() {
            SecretDistribution::Ternary => n * 2.0 / 3.0,
            SecretDistribution::SparseTernary { weight } => f64::from(weight),
            SecretDistribution::Gaussian => n * 3.2 * 3.2,
        };
        let digit = |j: usize, level: u32| {
            let range = params.digit(j, level);
            let k = range.len() as f64;
            let log_d: f64 = range
                .filter_map(|i| params.moduli().get(i))
                .map(|&q| (q as f64).log2())
                .sum();
            // A digit's representative is the sum of k uniform fractions of D: mean k D / 2, variance k D^2 / 12. The
            // mean is a polynomial of equal coefficients, at most 2N/pi times as large in the slot nearest to 1.
            k * (2.0 * (log_d - log_p)).exp2() * (1.0 / 12.0 + k * n / std::f64::consts::PI.powi(2))
        };
        let at = |level: u32| (0..params.digits_at(level)).map(|j| digit(j, level)).sum();
        let digits = (0..=params.max_level()).map(at).collect();
        let error = params.error_distribution().std_dev().powi(2);
        Self {
            n,
            secret,
            error,
            special: params.special_count() as f64,
            log_p,
            digits,
        }
    }

    /// Root mean square of r_0 + r_1 s, both r the sum of `parts` uniform fractions about zero.
    fn rounding(&self, parts: f64) -> f64 {
        (self.n * parts / 12.0 * (1.0 + self.secret)).sqrt()
    }

    fn with(a: Noise, extra: f64) -> Noise {
        Noise {
            error: a.error.hypot(extra),
            ..a
        }
    }

    /// An encoded plaintext of slots up to `magnitude`.
    pub fn encoded(&self, magnitude: f64, scale: f64) -> Noise {
        Noise {
            magnitude,
            error: (self.n / 12.0).sqrt() / scale + magnitude * Self::DOUBLE / Self::TAIL,
        }
    }

    /// A fresh public-key encryption: (u e + e_0 + e_1 s) / P and its rounding.
    pub fn fresh_public(&self, magnitude: f64, scale: f64) -> Noise {
        let variance = self.error * self.n * (1.0 + self.secret + self.n * 2.0 / 3.0);
        let zero = (variance.sqrt() * (-self.log_p).exp2()).hypot(self.rounding(self.special));
        Self::with(self.encoded(magnitude, scale), zero / scale)
    }

    /// A fresh secret-key encryption.
    pub fn fresh_secret(&self, magnitude: f64, scale: f64) -> Noise {
        Self::with(
            self.encoded(magnitude, scale),
            (self.error * self.n).sqrt() / scale,
        )
    }

    /// Addition or subtraction, of ciphertexts or a plaintext.
    pub fn add(&self, a: Noise, b: Noise) -> Noise {
        Noise {
            magnitude: a.magnitude + b.magnitude,
            error: a.error + b.error,
        }
    }

    /// Multiplication, by a ciphertext or a plaintext, without relinearisation.
    pub fn mul(&self, a: Noise, b: Noise) -> Noise {
        let error = a.magnitude * b.error + b.magnitude * a.error + Self::TAIL * a.error * b.error;
        Noise {
            magnitude: a.magnitude * b.magnitude,
            error,
        }
    }

    /// Addition of a constant at the ciphertext's scale.
    pub fn add_scalar(&self, a: Noise, value: f64, scale: f64) -> Noise {
        let error = (0.5 / scale + value.abs() * f64::EPSILON) / Self::TAIL;
        Noise {
            magnitude: a.magnitude + value.abs(),
            error: a.error + error,
        }
    }

    /// Multiplication by a constant rounded to a multiple of 1 / `scale`.
    pub fn mul_scalar(&self, a: Noise, value: f64, scale: f64) -> Noise {
        let rounding = (0.5 / scale + value.abs() * f64::EPSILON) / Self::TAIL;
        Noise {
            magnitude: a.magnitude * value.abs(),
            error: a.error * value.abs() + a.magnitude * rounding,
        }
    }

    /// Key switching at `level` of a value at `scale`: relinearisation, rotation, conjugation, hoisted rotation.
    pub fn key_switch(&self, a: Noise, level: u32, scale: f64) -> Noise {
        let digits = self
            .digits
            .get(level as usize)
            .or(self.digits.last())
            .copied()
            .unwrap_or(0.0);
        let product = (self.error * digits).sqrt() * self.n;
        Self::with(a, product.hypot(self.rounding(self.special)) / scale)
    }

    /// Rescaling to `scale` (the scale after it).
    pub fn rescale(&self, a: Noise, scale: f64) -> Noise {
        Self::with(a, self.rounding(1.0) / scale)
    }
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
