// SPDX-License-Identifier: Apache-2.0
//! Models the noise of BFV: a bound that fails with a stated probability, to choose parameters before anything is
//! encrypted.
//!
//! For a ciphertext c of the message m under the secret s, (t / Q) (c_0 + c_1 s + ...) = m + v + t k. Here t is the
//! plaintext modulus and k a polynomial of integers. v is the invariant noise, and m decrypts correctly while every
//! coefficient of v is below 1/2. The model follows the canonical norm of v, the largest of its values at the
//! primitive 2N-th roots of unity. The norm of a product is at most the product of the norms, even if the factors
//! are not independent. No coefficient exceeds the norm (Costache and Smart, 2016; Gentry, Halevi and Smart, 2012).

use super::params::{Multiplication, Params};
use crate::exact::ExactParams;
use crate::exact::noise::{FAILURE_BITS, log2_sum};
use crate::rlwe::Level;

/// The number of directions in the complex plane in which the model bounds a complex number's component. The
/// number's absolute value is at most 1 / cos(pi / DIRECTIONS) times the largest of these components.
const DIRECTIONS: f64 = 16.0;

/// The base-2 logarithm of a bound on the canonical norm of a ciphertext's invariant noise.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Noise(f64);

impl Noise {
    /// Returns the noise budget in bits: how often the noise may still double until its bound is 1/2. Decryption
    /// refuses noise of 1/4 or more, so a budget of 1 bit or less may not decrypt.
    pub fn budget(self) -> f64 {
        -1.0 - self.0
    }

    fn of(log2: f64) -> Self {
        Self(log2)
    }

    fn plus(self, other: Self) -> Self {
        Self(log2_sum(self.0, other.0))
    }

    fn times(self, norm: f64) -> Self {
        Self(self.0 + norm.log2())
    }
}

/// The noise model of a parameter set. Each method returns the noise of the result of one operation.
#[derive(Clone, Debug)]
pub struct NoiseModel<'a> {
    params: &'a Params,
    n: f64,
    t: f64,
    /// The number of standard deviations within which the model takes the values of random polynomials to lie.
    deviations: f64,
    /// A bound on the canonical norm of the secret key: its largest absolute value at a primitive 2N-th root of unity.
    secret: f64,
}

impl<'a> NoiseModel<'a> {
    /// Makes the model for a program of `operations` operations. All bounds together fail with a probability of at most
    /// 2^-40. More operations give wider bounds.
    pub fn new(params: &'a Params, operations: usize) -> Self {
        let n = params.degree() as f64;
        // Each operation draws or meets at most a dozen random polynomials, each with N values in DIRECTIONS
        // directions. A sum of independent symmetric coefficients is sub-Gaussian.
        let chances = n * 12.0 * (operations as f64 + 1.0) * DIRECTIONS;
        let cosine = (std::f64::consts::PI / DIRECTIONS).cos();
        let exponent = FAILURE_BITS * std::f64::consts::LN_2 + chances.ln();
        let deviations = exponent.sqrt() / cosine;
        let square = params.secret_distribution().mean_square(n);
        Self {
            params,
            n,
            t: params.plain_modulus().value() as f64,
            deviations,
            secret: deviations * square.sqrt(),
        }
    }

    /// Returns a bound on the canonical norm of a random polynomial, its largest absolute value at a primitive
    /// 2N-th root of unity. The polynomial's coefficients are independent, with mean zero and variance `variance`.
    fn random(&self, variance: f64) -> f64 {
        self.deviations * (self.n * variance).sqrt()
    }

    /// Returns a bound on the canonical norm of the error in c_0 + c_1 s that rounding of both polynomials to integers
    /// makes.
    fn rounding(&self) -> f64 {
        self.random(1.0 / 12.0) * (1.0 + self.secret)
    }

    /// Returns the invariant noise (t / Q) e of a ciphertext, for the plaintext modulus t and an error e in c_0 + c_1 s
    /// of canonical norm `norm`.
    fn invariant(&self, norm: f64, level: Level) -> Noise {
        Noise::of(norm.log2() + self.t.log2() - self.params.log_q(level))
    }

    /// Returns the noise of a fresh encryption, under the public or the secret key.
    pub fn fresh(&self, level: Level) -> Noise {
        let sigma = self.params.error_distribution().std_dev();
        let (error, mask) = (self.random(sigma * sigma), self.random(2.0 / 3.0));
        // e u + e_1 + e_2 s, divided by the special primes with rounding.
        let whole = error * (mask + 1.0 + self.secret) * (-self.log_special()).exp2();
        let zero = whole + self.rounding() + error;
        self.invariant(zero, level)
            .plus(self.message_rounding(level))
    }

    /// Returns the noise that rounding of Q m / t to integers makes, for a message m and the plaintext modulus t. Each
    /// coefficient is rounded by at most 1/2.
    fn message_rounding(&self, level: Level) -> Noise {
        self.invariant(self.n / 2.0, level)
    }

    pub fn sum(&self, a: Noise, b: Noise) -> Noise {
        a.plus(b)
    }

    /// Returns the noise of the sum of a ciphertext, whose noise is `a`, and a plaintext.
    pub fn plus_plain(&self, a: Noise, level: Level) -> Noise {
        a.plus(self.message_rounding(level))
    }

    /// Returns the noise of the product of a ciphertext, whose noise is `a`, and a plaintext. The plaintext may be
    /// any polynomial with coefficients up to half of the plaintext modulus.
    pub fn times_plain(&self, a: Noise) -> Noise {
        a.times(self.n * self.t / 2.0)
    }

    /// Returns the noise of the product of a ciphertext, whose noise is `a`, and an integer of absolute value
    /// `integer`.
    pub fn times_integer(&self, a: Noise, integer: u64) -> Noise {
        a.times(integer.max(1) as f64)
    }

    /// Returns the noise of a product of two ciphertexts before relinearisation. Factor i has a message m_i, noise
    /// v_i and an integer polynomial k_i. The product is (m_1 + v_1 + t k_1) (m_2 + v_2 + t k_2) for the plaintext
    /// modulus t, and the division by Q / t adds its rounding.
    pub fn product(&self, a: Noise, b: Noise, level: Level) -> Noise {
        // t / Q (c_0 + c_1 s), whose polynomials are centred and almost uniform.
        let whole = self.t * self.random(1.0 / 12.0) * (1.0 + self.secret);
        // v_1 (m_2 + v_2 + t k_2) + v_2 (m_1 + t k_1). The last factor is that of a without v_1.
        let crossed = a.times(whole).plus(b.times(whole)).plus(Noise(a.0 + b.0));
        let powers = 1.0 + self.secret + self.secret * self.secret;
        let rounded = match self.params.multiplication() {
            Multiplication::Hps | Multiplication::HpsFriendly => self.random(1.0 / 12.0),
            // Fast extensions leave multiples of the moduli, at most one for each prime, and the quotient is rounded
            // down.
            Multiplication::Behz | Multiplication::BehzPrime => {
                self.n * (level.primes() as f64 + 2.0)
            }
        };
        crossed.plus(self.invariant(rounded * powers, level))
    }

    /// Returns the noise of a ciphertext after a relinearisation or a rotation, from its noise `a` before.
    pub fn switched(&self, a: Noise, level: Level) -> Noise {
        let params = self.params;
        let sigma = params.error_distribution().std_dev();
        let error = self.random(sigma * sigma);
        let primes = params.cipher_moduli();
        let mut decomposed = 0.0;
        for digit in 0..params.digits_at(level) {
            let digit = primes.get(params.digit(digit, level)).unwrap_or(&[]);
            let log2: f64 = digit.iter().map(|&q| (q as f64).log2()).sum();
            let size = digit.len() as f64 * (log2 - self.log_special()).exp2();
            // The coefficients of a digit are not centred: their mean alone has the norm size N / pi.
            let norm = size * (self.n / std::f64::consts::PI + self.random(1.0 / 12.0));
            decomposed += norm * error;
        }
        // One fast extension divides by several special primes, and may be off by as many as there are less one.
        let off = (params.special_count().max(1) - 1) as f64 * self.n * (1.0 + self.secret);
        a.plus(self.invariant(decomposed + self.rounding() + off, level))
    }

    /// Returns the noise of a ciphertext after division by primes down to `level`, from its noise `a` before.
    pub fn mod_switched(&self, a: Noise, level: Level) -> Noise {
        // Each division rounds, and later divisions divide its rounding too.
        let below_top = self.params.max_level().below();
        let levels = below_top.into_iter().flat_map(|top| level.to(top));
        levels.fold(a, |sum, level| {
            sum.plus(self.invariant(self.rounding(), level))
        })
    }

    /// Returns the base-2 logarithm of the product of the special primes.
    fn log_special(&self) -> f64 {
        let primes = self.params.special_moduli().iter();
        primes.map(|&p| (p as f64).log2()).sum()
    }
}
