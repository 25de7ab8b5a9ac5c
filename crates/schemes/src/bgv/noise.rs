// SPDX-License-Identifier: Apache-2.0
//! Models the noise of BGV: bounds the phases of a program's ciphertexts.

use ringmill_isa::Level;

use super::factor::Balance;
use super::params::Params;
use crate::exact::noise::{FAILURE_BITS, log2_sum};
use crate::exact::{ExactParams, PlainModulus};
use crate::rlwe::{ErrorDistribution, SecretDistribution};

/// A bound on the coefficients of a ciphertext's centred phase c_0 + c_1 s + ..., message included. The message is
/// determined as long as the coefficients stay below half of the ciphertext's modulus Q. The decryptor refuses a phase
/// of Q / 4 or more.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Noise {
    log2: f64,
}

impl Noise {
    fn of(bound: f64) -> Self {
        Self { log2: bound.log2() }
    }

    /// Returns the base-2 logarithm of the bound on the coefficients of the phase.
    pub fn log2(self) -> f64 {
        self.log2
    }

    fn plus(self, other: Self) -> Self {
        Self {
            log2: log2_sum(self.log2, other.log2),
        }
    }

    fn times(self, factor: f64) -> Self {
        Self {
            log2: self.log2 + factor.log2(),
        }
    }
}

/// Bounds the noise of every value of a program over one parameter set, for all messages.
///
/// Errors and secrets are random and independent of the polynomials that multiply them, so they count by a bound that
/// holds with high probability. Let d be the standard deviation of the sum of N coefficients of an error or a secret. A
/// sum of N products of such coefficients with numbers up to B is at most B `tail` d. That fails with a probability of
/// 2^-40 over all coefficients and operations. The rounding of a division counts as independent of the secret.
/// Everything else counts by its largest value.
#[derive(Clone, Debug)]
pub struct NoiseModel {
    n: f64,
    t: f64,
    /// The plaintext modulus of which the errors of key-switching keys are multiples: the last of the parameters'
    /// plaintext moduli.
    key_t: f64,
    /// Whether divisions by primes subtract the plaintext modulus t times a limb, so that they compute modulo primes
    /// alone and never modulo t ([`rlwe::Params::primes_alone`](crate::rlwe::Params::primes_alone)).
    primes_alone: bool,
    /// The number of special primes, and the base-2 logarithm of their product. Both are kept as floating-point
    /// numbers.
    special: (f64, f64),
    /// The base-2 logarithm of each special prime.
    special_log2: Vec<f64>,
    /// The base-2 logarithm of each ciphertext prime. `levels` has the bits of the modulus of each level, and its
    /// base-2 logarithm.
    primes: Vec<f64>,
    levels: Vec<Room>,
    /// For each level, a measure of the size of the key-switching digits: the base-2 logarithm of the square root
    /// of the sum of the squares of the digits' bounds.
    digits: Vec<f64>,
    /// The number of standard deviations within which the model takes a sum to stay; `sigma` is the standard deviation
    /// of an error.
    tail: f64,
    sigma: f64,
    /// A bound on the absolute value of an error's coefficient: 21 for the centred binomial distribution, `tail`
    /// standard deviations for a Gaussian.
    error: f64,
    /// The factor by which a product with a ternary polynomial increases a bound. `secret` is this factor for the
    /// secret, and `secret_sum` the sum of the absolute values of the secret's coefficients.
    ternary: f64,
    secret: f64,
    secret_sum: f64,
}

#[derive(Clone, Copy, Debug)]
struct Room {
    bits: u64,
    log2: f64,
}

/// The margin in bits by which a bound is raised, because the model's own floating-point computations round.
const SLACK: f64 = 1e-6;

impl NoiseModel {
    /// Makes a model whose bounds fail with a probability of 2^-40 for each operation.
    pub fn new(params: &Params) -> Self {
        Self::of_program(params, 1)
    }

    /// Makes a model whose bounds fail with a probability of 2^-40 over all of `operations` encryptions, key switches
    /// and divisions.
    pub fn of_program(params: &Params, operations: usize) -> Self {
        let n = params.degree() as f64;
        let chances = n.log2() + (operations.max(1) as f64).log2();
        let tail = (2.0 * std::f64::consts::LN_2 * (FAILURE_BITS + 1.0 + chances)).sqrt();
        let spread = |square: f64| tail * square.sqrt();
        let sigma = params.error_distribution().std_dev();
        let error = match params.error_distribution() {
            ErrorDistribution::CentredBinomial => 21.0,
            ErrorDistribution::Gaussian => tail * sigma,
        };
        let distribution = params.secret_distribution();
        let square = distribution.mean_square(n);
        let (secret, secret_sum) = match distribution {
            SecretDistribution::Ternary => (spread(square).min(n), n),
            SecretDistribution::SparseTernary { weight } => {
                let weight = f64::from(weight);
                (spread(square).min(weight), weight)
            }
            // The tail of a rounded Gaussian is that of a slightly wider one.
            SecretDistribution::Gaussian => (1.05 * spread(square), 1.5 * (n * square).sqrt()),
            SecretDistribution::Binary => (n, n),
        };
        let log2 = |primes: &[u64]| primes.iter().map(|&q| (q as f64).log2()).sum::<f64>();
        let levels = || Level::LOWEST.to(params.max_level());
        Self {
            n,
            t: params.plain_modulus().value() as f64,
            primes_alone: params.primes_alone(),
            key_t: params.key_modulus().map_or(1.0, |t| t.value() as f64),
            special: (params.special_count() as f64, log2(params.special_moduli())),
            special_log2: params
                .special_moduli()
                .iter()
                .map(|&q| log2(&[q]))
                .collect(),
            primes: params.cipher_moduli().iter().map(|&q| log2(&[q])).collect(),
            levels: levels()
                .map(|level| Room {
                    bits: params.modulus(level).bits(),
                    log2: params.log_q(level),
                })
                .collect(),
            digits: levels().map(|level| digits(params, level)).collect(),
            tail,
            sigma,
            error,
            ternary: spread(n * 2.0 / 3.0).min(n),
            secret,
            secret_sum,
        }
    }

    /// Returns this noise model for messages modulo another plaintext modulus, `t`.
    pub fn modulo(&self, t: PlainModulus) -> Self {
        let t = t.value() as f64;
        Self { t, ..self.clone() }
    }

    /// Returns the bound on the phase of a ciphertext whose noise is zero. Its coefficients are those of the
    /// message, at most half of the plaintext modulus.
    fn message(&self) -> Noise {
        Noise::of(self.t / 2.0)
    }

    /// Returns a bound on the remainder of a coefficient in a division by k = `primes` primes, over the product of
    /// these primes. It is t - 1 + k for the plaintext modulus t, or t k if divisions compute modulo primes alone
    /// and never modulo t.
    fn remainder(&self, primes: f64) -> f64 {
        match self.primes_alone {
            false => self.t - 1.0 + primes,
            true => self.t * primes,
        }
    }

    /// Returns a bound on the error that the rounding of a division by `primes` primes makes in the phase of a
    /// ciphertext of `polys` polynomials.
    fn rounding(&self, primes: f64, polys: usize) -> Noise {
        let secrets = match polys {
            0 | 1 => 1.0,
            2 => 1.0 + self.secret,
            // (r s) s: the first product counts by its tail. It is not independent of the second factor, so that counts
            // by its sum.
            _ => 1.0 + self.secret + self.secret * self.secret_sum,
        };
        Noise::of(self.remainder(primes) * secrets)
    }

    /// Returns the noise of an encryption under the public or the secret key, whichever is larger.
    pub fn fresh(&self) -> Noise {
        let (public, secret) = (self.fresh_public(), self.fresh_symmetric());
        if public.log2 < secret.log2 {
            secret
        } else {
            public
        }
    }

    /// Returns the noise of an encryption under the public key: t (e u + e_0 + e_1 s) / P, and the rounding of this
    /// division. Here e, e_0 and e_1 are errors, u is a random ternary polynomial, t the plaintext modulus, s the
    /// secret, and P the product of the special primes.
    fn fresh_public(&self) -> Noise {
        let (count, log2) = self.special;
        let errors = Noise::of(self.t * self.error * (self.ternary + 1.0 + self.secret));
        let errors = errors.times((-log2).exp2());
        (self.message().plus(errors)).plus(self.rounding(count, 2))
    }

    /// Returns the noise of an encryption under the secret key: the plaintext modulus t times an error.
    pub fn fresh_symmetric(&self) -> Noise {
        self.message().plus(Noise::of(self.t * self.error))
    }

    /// Returns the noise of a sum or a difference of two ciphertexts with one correction factor.
    pub fn add(&self, a: Noise, b: Noise) -> Noise {
        a.plus(b)
    }

    /// Returns the noise of a sum of two ciphertexts that are first multiplied by the integers of `balance`.
    pub fn add_balanced(&self, a: Noise, b: Noise, balance: &Balance) -> Noise {
        let [x, y] = balance.by;
        a.times(x as f64).plus(b.times(y as f64))
    }

    /// Returns the noise of a product of a ciphertext and an integer of this absolute value.
    pub fn mul_integer(&self, a: Noise, integer: u64) -> Noise {
        a.times(integer.max(1) as f64)
    }

    /// Returns the noise of the sum or the difference of a ciphertext and any plaintext or integer constant.
    pub fn add_plain(&self, a: Noise) -> Noise {
        a.plus(self.message())
    }

    /// Returns the noise of a product of a ciphertext and any plaintext.
    pub fn mul_plain(&self, a: Noise) -> Noise {
        a.times(self.n * self.t / 2.0)
    }

    /// Returns the noise of the product of a ciphertext and a plaintext. `sum` is the sum of the absolute values of
    /// the plaintext's centred coefficients.
    pub fn mul_known(&self, a: Noise, sum: f64) -> Noise {
        a.times(sum.max(1.0))
    }

    /// Returns the noise after a division by an integer `by` that divides every coefficient of the phase, from the
    /// noise `a` before it.
    pub fn divide_exactly(&self, a: Noise, by: u64) -> Noise {
        a.times(1.0 / by as f64)
    }

    /// Returns the noise of a ciphertext of two polynomials if nothing but the rounding of a division by one prime
    /// made it. No such ciphertext has a smaller bound after a division.
    pub fn floor(&self) -> Noise {
        self.message().plus(self.rounding(1.0, 2))
    }

    /// Returns the noise after a key switch at `level` to a sparse secret of this weight (encapsulation). The key
    /// has one digit, the inner modulus q, and as many special primes as q has primes. The errors of the key are
    /// multiples of the plaintext modulus t of messages.
    pub fn encapsulate(&self, a: Noise, level: Level, weight: u32) -> Noise {
        let count = level.primes();
        let special: f64 = self.special_log2.iter().take(count).sum();
        let digit: f64 = self.primes.iter().take(count).sum::<f64>() + (count as f64).log2();
        let errors = Noise {
            log2: digit + (self.t * self.tail * self.sigma * self.n.sqrt()).log2() - special,
        };
        let weight = f64::from(weight);
        let secret = (self.tail * weight.sqrt()).min(weight);
        let rounding = Noise::of(self.remainder(count as f64) * (1.0 + secret));
        a.plus(errors).plus(rounding)
    }

    /// Returns the noise after a bootstrap raises the modulus, for messages modulo t, the last plaintext modulus. It is
    /// that of c_0 + c_1 (s' + t e) for a ciphertext (c_0, c_1) with coefficients up to little more than t / 2. s' is
    /// the sparse secret, and e the error of the bootstrapping key that encrypts s', which is independent of the
    /// ciphertext.
    pub fn raised(&self, weight: u32) -> Noise {
        let half = self.t / 2.0 + 2.0;
        let small = Noise::of(half * (1.0 + f64::from(weight)));
        let errors = self.t * self.tail * self.sigma * self.n.sqrt();
        small.plus(Noise::of(half).times(errors))
    }

    /// Returns the noise of a product of two ciphertexts before relinearisation.
    pub fn mul(&self, a: Noise, b: Noise) -> Noise {
        Noise {
            log2: a.log2 + b.log2,
        }
        .times(self.n)
    }

    /// Returns the noise after the key switch of a relinearisation or a rotation. It adds T (d_0 e_0 + d_1 e_1 +
    /// ...) / P, and the rounding of the division by P, the product of the special primes. The d_i are digits and
    /// the e_i errors of the key, which the key multiplies by T, the last plaintext modulus of the parameters.
    pub fn switch_key(&self, a: Noise, level: Level) -> Noise {
        self.switch_key_by(a, level, 0)
    }

    /// Returns the noise after a key switch at `level` that divides by the special primes and by the last `count`
    /// primes of the level at once.
    pub fn switch_key_by(&self, a: Noise, level: Level, count: usize) -> Noise {
        let (special, log2) = self.special;
        let digits = self
            .digits
            .get(level.index())
            .copied()
            .unwrap_or(f64::INFINITY);
        let errors = Noise {
            log2: digits + (self.key_t * self.tail * self.sigma * self.n.sqrt()).log2() - log2,
        };
        let divided = self.divided(a.plus(errors), level, count);
        divided.plus(self.rounding(special + count as f64, 2))
    }

    /// Returns the noise of a ciphertext of two polynomials after one division by the last `count` primes of
    /// `level`.
    pub fn mod_switch_by(&self, a: Noise, level: Level, count: usize) -> Noise {
        if count == 0 {
            return a;
        }
        let divided = self.divided(a, level, count);
        divided.plus(self.rounding(count as f64, 2))
    }

    fn divided(&self, a: Noise, level: Level, count: usize) -> Noise {
        let primes = self.primes.iter().take(level.primes());
        let going: f64 = primes.rev().take(count).sum();
        Noise {
            log2: a.log2 - going,
        }
    }

    /// Returns the noise of a ciphertext of `polys` polynomials after the division by the last prime of `level`.
    pub fn mod_switch(&self, a: Noise, level: Level, polys: usize) -> Noise {
        let prime = self.primes.get(level.index()).copied().unwrap_or(0.0);
        let divided = Noise {
            log2: a.log2 - prime,
        };
        divided.plus(self.rounding(1.0, polys))
    }

    /// Returns the base-2 logarithm of Q / 4 over the noise bound, where Q is the modulus of `level`. A ciphertext with
    /// a value above 0 decrypts, and has a budget of one bit or more.
    pub fn room(&self, noise: Noise, level: Level) -> f64 {
        let q = self.levels.get(level.index());
        let q = q.map_or(f64::NEG_INFINITY, |room| room.log2);
        q - 2.0 - (noise.log2 + SLACK)
    }

    /// Returns the least noise budget in bits of a ciphertext at `level`, as the decryptor's method `noise_budget`
    /// counts it. It is 0 if the noise bound reaches a quarter of the level's modulus.
    pub fn budget(&self, noise: Noise, level: Level) -> u32 {
        let Some(room) = self.levels.get(level.index()) else {
            return 0;
        };
        let log2 = noise.log2 + SLACK;
        if self.room(noise, level) <= 0.0 {
            return 0;
        }
        // A number up to 2^x has at most floor(x) + 1 bits.
        let bits = log2.max(0.0).floor() + 1.0;
        (room.bits as f64 - bits - 1.0).max(0.0) as u32
    }
}

/// Returns the base-2 logarithm of the square root of the sum of the squares of the bounds of a level's key-switching
/// digits. The bound of a digit of k primes of product D is k D.
fn digits(params: &Params, level: Level) -> f64 {
    let bound = |digit: usize| {
        let primes = params
            .moduli()
            .get(params.digit(digit, level))
            .unwrap_or(&[]);
        let log2: f64 = primes.iter().map(|&q| (q as f64).log2()).sum();
        Noise { log2 }.times(primes.len() as f64)
    };
    let square = |x: Noise| Noise { log2: 2.0 * x.log2 };
    let bounds = (0..params.digits_at(level)).map(|j| square(bound(j)));
    bounds.reduce(Noise::plus).map_or(0.0, |sum| sum.log2 / 2.0)
}
