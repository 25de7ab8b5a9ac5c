// SPDX-License-Identifier: Apache-2.0
//! Models the noise of each operation, and the probability that noise makes it fail. Variances are in squares of the
//! torus.
//!
//! Noise grows with the number of 1s in the secret keys. A figure for the average key would be too small for every
//! second key. Keys are therefore drawn with no more 1s than 0s ([`super::SecretKey`]), and the model counts the
//! largest number that such keys have ([`Weights::most`]). So every figure holds for every secret key that is drawn.
//! Its probability is over the noise of the evaluation keys and the ciphertexts.
//!
//! Let the small key have n bits, and the ring key k polynomials of N bits. A step of the blind rotation takes m secret
//! bits, a decomposition has l digits in base B, and s is the standard deviation of a key's noise. Let w be the number
//! of 1s in the small key and W in the large one. Digits are uniform in -B/2 ... B/2 - 1 with E d^2 = (B^2 + 2) / 12. A
//! remainder of v > 1 values has E r^2 = (v^2 + 2) / 12. The variances are:
//!
//! - blind rotation, m = 1: n (k + 1) l N E d^2 s^2 + w (1 + W) E r^2. Each 1 of the small key lets the remainder of
//!   (X^a - 1) ACC through.
//! - unrolled: (n / m) 2 (2^m - 1) (k + 1) l N E d^2 s^2 + 2 p (1 + W) E r^2. A step has 2^m - 1 keys, each turned by
//!   X^a - 1, which doubles its noise. If r bits remain for a last step, that step has 2^r - 1 keys. The remainder of
//!   ACC comes through, twice, unless all bits of the step are 0. p is the number of steps that have a 1 among their
//!   bits.
//! - key switch: k N l E d^2 s^2 + W E r^2.
//! - modulus switch: (1 + w) / (12 (2N)^2); with the mean subtracted, n / 4 instead of w.
//!
//! Sources: Chillotti, Gama, Georgieva, Izabachene, J. Cryptology 2020, theorems 4.1 and 4.6, here with exact second
//! moments for bounds; Zhou et al., IEEE Access 2018, for unrolled keys.

use super::Gate;
use super::params::{Decomposition, Messages, ModulusSwitch, Order, Sizes};
use super::secret::ones;

/// The counts of 1s in a secret key's bits, and the number of steps of a blind rotation whose bits
/// have a 1. The noise of bootstraps depends on them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Weights {
    /// The number of 1s in the small key.
    pub small: usize,
    /// The number of 1s in the large key, the coefficients of the ring key.
    pub large: usize,
    /// The number of steps of a blind rotation whose bits of the small key are not all 0.
    pub steps: usize,
}

impl Weights {
    /// Returns the largest weights (counts of 1s) that drawn keys have: half of the bits, and a 1 in as many steps of a
    /// blind rotation as possible.
    pub fn most(sizes: &Sizes) -> Self {
        let small = sizes.n.0 / 2;
        Self {
            small,
            large: sizes.large_dimension() / 2,
            steps: small.min(sizes.steps()),
        }
    }

    /// Returns the weights (counts of 1s) of a secret key, whose small and large key are given with one bit in each
    /// byte. The weights are secret.
    pub fn of(sizes: &Sizes, small: &[u8], large: &[u8]) -> Self {
        let steps = small.chunks(sizes.unrolling.m());
        Self {
            small: ones(small),
            large: ones(large),
            steps: steps
                .map(|step| usize::from(step.iter().fold(0, |any, &bit| any | bit)))
                .fold(0, usize::wrapping_add),
        }
    }

    /// Returns whether each count of these weights is at most the same count in `most`. The counts
    /// are the 1s in the small key, the 1s in the large key, and the steps of a blind rotation that
    /// have a 1.
    pub fn are_within(&self, most: &Self) -> bool {
        let pairs = [
            (self.small, most.small),
            (self.large, most.large),
            (self.steps, most.steps),
        ];
        pairs
            .iter()
            .fold(true, |all, (own, most)| all & (own <= most))
    }
}

/// A model of the noise variances of a parameter set's operations.
#[derive(Clone, Copy, Debug)]
pub struct NoiseModel {
    sizes: Sizes,
    weights: Weights,
    /// The number of bits of the ciphertext modulus q.
    bits: u32,
}

impl NoiseModel {
    /// Makes the model of the largest noise under any secret key that is drawn.
    pub fn new(sizes: &Sizes) -> Self {
        Self::under(sizes, Weights::most(sizes))
    }

    /// Makes the model of the noise under a secret key of these weights, the counts of 1s in its
    /// bits.
    pub fn under(sizes: &Sizes, weights: Weights) -> Self {
        use super::params::CiphertextModulus;
        let bits = match sizes.modulus {
            CiphertextModulus::Torus32 => 32,
            CiphertextModulus::Torus64 => 64,
            CiphertextModulus::Prime { bits } => bits,
        };
        Self {
            sizes: *sizes,
            weights,
            bits,
        }
    }

    /// Returns E d^2, the mean square of a digit d of a gadget decomposition.
    fn digit(d: Decomposition) -> f64 {
        let base = f64::from(d.log_base).exp2();
        (base * base + 2.0) / 12.0
    }

    /// Returns E r^2, the mean square of the rest r that a decomposition into digits drops, in squares of the torus.
    fn remainder(&self, d: Decomposition) -> f64 {
        let used = d.log_base as i32 * d.levels as i32;
        let values = f64::from(self.bits as i32 - used).exp2();
        let second = if values > 1.0 {
            (values * values + 2.0) / 12.0
        } else {
            0.0
        };
        second * 2f64.powi(-2 * self.bits as i32)
    }

    /// Returns the noise variance that a blind rotation leaves in the ciphertext that is extracted after it.
    pub fn blind_rotation(&self) -> f64 {
        let s = &self.sizes;
        let terms = (s.rows() * s.degree()) as f64;
        let key = terms * Self::digit(s.bootstrap) * s.glwe_std.powi(2);
        let rest = (1.0 + self.weights.large as f64) * self.remainder(s.bootstrap);
        let through = self.weights.steps as f64 * rest;
        match s.unrolling.m() {
            1 => s.n.0 as f64 * key + through,
            m => {
                let patterns = |m: usize| (1u32 << m) as f64 - 1.0;
                // The last step has the remaining bits, fewer than m.
                let keys = (s.n.0 / m) as f64 * patterns(m) + patterns(s.n.0 % m);
                2.0 * keys * key + 2.0 * through
            }
        }
    }

    /// Returns the noise variance that a key switch adds.
    pub fn key_switch(&self) -> f64 {
        let s = &self.sizes;
        let terms = (s.large_dimension() * s.key_switch.levels) as f64;
        let keys = terms * Self::digit(s.key_switch) * s.lwe_std.powi(2);
        keys + self.weights.large as f64 * self.remainder(s.key_switch)
    }

    /// Returns the noise variance that the rounding of a phase to multiples of 1/2N adds.
    pub fn modulus_switch(&self) -> f64 {
        let s = &self.sizes;
        let roundings = match s.switch {
            ModulusSwitch::Nearest => self.weights.small as f64,
            // With the mean subtracted, each rounding counts 1/2 or -1/2 times, whatever the key.
            ModulusSwitch::CentredMean => s.n.0 as f64 / 4.0,
        };
        let step = 1.0 / (2 * s.degree()) as f64;
        (1.0 + roundings) * step * step / 12.0
    }

    /// Returns the noise variance of a bootstrap's result.
    pub fn bootstrapped(&self) -> f64 {
        match self.sizes.order {
            Order::BootstrapFirst => self.blind_rotation() + self.key_switch(),
            Order::KeySwitchFirst => self.blind_rotation(),
        }
    }

    /// Returns the noise variance of a MUX's result: that of two blind rotations, and of one key switch if the key
    /// switch comes last.
    pub fn mux(&self) -> f64 {
        self.bootstrapped() + self.blind_rotation()
    }

    /// Returns the noise variance of a fresh encryption under the key of inputs and outputs.
    pub fn fresh(&self) -> f64 {
        match self.sizes.order {
            Order::BootstrapFirst => self.sizes.lwe_std.powi(2),
            Order::KeySwitchFirst => self.sizes.glwe_std.powi(2),
        }
    }

    /// Returns the noise variance of the phase by which a blind rotation turns a table, for an operand of the noise
    /// variance `operand`.
    pub fn before_rotation(&self, operand: f64) -> f64 {
        let switched = match self.sizes.order {
            Order::BootstrapFirst => operand,
            Order::KeySwitchFirst => operand + self.key_switch(),
        };
        switched + self.modulus_switch()
    }

    /// Returns the probability that noise moves a phase by more than `below` down or `above` up. Both are distances in
    /// the torus to the borders of its table entry. An entry begins half of 1/2N early in the torus, so this half is
    /// taken from `above` and added to `below`.
    fn outside(&self, variance: f64, below: f64, above: f64) -> f64 {
        let half = 0.5 / (2 * self.sizes.degree()) as f64;
        let sigma = variance.sqrt();
        tail((below + half) / sigma) + tail((above - half) / sigma)
    }

    /// Returns the noise of the results of bootstraps under one secret key: the variance of each result, and the part
    /// that all results have in common.
    pub fn outputs(&self) -> Operands {
        Operands {
            variance: self.bootstrapped(),
            shared: self.shared(),
        }
    }

    /// Returns the noise of the results of MUX gates under one secret key, as variances: the whole, and the part that
    /// any two results have in common. If the key switch comes last, the common part is that of one key switch.
    /// Otherwise it is that of the two blind rotations whose results MUX adds.
    pub fn mux_outputs(&self) -> Operands {
        let rotated = self.outputs();
        match self.sizes.order {
            Order::BootstrapFirst => Operands {
                variance: self.mux(),
                shared: self.shared(),
            },
            Order::KeySwitchFirst => Operands {
                variance: rotated.sum(1.0, 1.0),
                shared: 4.0 * rotated.shared,
            },
        }
    }

    /// Returns the probability that a gate gives the wrong bit, for operands of this noise that encrypt `a` and `b`.
    pub fn gate_failure(&self, gate: Gate, operands: Operands, [a, b]: [bool; 2]) -> f64 {
        let form = gate.form();
        let factor = f64::from(form.factor);
        let bit = |x: bool| if x { 0.125 } else { -0.125 };
        let phase = f64::from(form.eighths) / 8.0 + factor * (bit(a) + bit(b));
        let phase = phase.rem_euclid(1.0);
        let variance = self.before_rotation(operands.sum(factor, factor));
        // The gate is true in (0, 1/2) and false in (1/2, 1).
        let from = if phase < 0.5 { phase } else { phase - 0.5 };
        self.outside(variance, from, 0.5 - from)
    }

    /// Returns the probability that a lookup reads another entry of its table than the message's, for messages of
    /// `bits` bits and an operand of this noise variance.
    pub fn table_failure(&self, bits: u32, operand: f64) -> f64 {
        let half = 2f64.powi(-(bits as i32) - 2);
        self.outside(self.before_rotation(operand), half, half)
    }

    /// Returns the part of a bootstrap's noise variance ([`NoiseModel::bootstrapped`]) that all results under one key
    /// have in common, because digits have a mean of -1/2. If the key switch comes last, only its part counts, because
    /// that of the blind rotation is far smaller. With several bits in a step the blind rotation has no common part,
    /// because the ciphertext's own exponents turn it.
    fn shared(&self) -> f64 {
        let s = &self.sizes;
        match s.order {
            Order::BootstrapFirst => {
                let terms = s.large_dimension() * s.key_switch.levels;
                terms as f64 * s.lwe_std.powi(2) / 4.0
            }
            Order::KeySwitchFirst if s.unrolling.m() == 1 => {
                let terms = s.n.0 * s.rows() * s.degree();
                terms as f64 * s.glwe_std.powi(2) / 4.0
            }
            Order::KeySwitchFirst => 0.0,
        }
    }

    /// Returns an upper bound on the noise variance of a sum of bootstraps' results and inputs, each times a factor.
    /// `norm` is the sum of the squared factors. The part of the noise that all terms have in common counts with the
    /// square of the factors' sum, which is at most the square of `norm`.
    pub fn sum(&self, norm: u64) -> f64 {
        let wire = self.bootstrapped().max(self.fresh());
        let norm = norm as f64;
        norm * wire + norm * norm * self.shared()
    }

    /// Returns log2 of the probability that a lookup reads another entry than the message's, for an operand with the
    /// noise of [`NoiseModel::sum`].
    pub fn sum_failure(&self, bits: u32, norm: u64) -> f64 {
        log2_of(self.table_failure(bits, self.sum(norm)))
    }

    /// Returns the largest `norm` below 2^40 for which [`NoiseModel::sum_failure`] is at most `log2`, or `None` if it
    /// is larger for every sum.
    pub fn largest_norm(&self, bits: u32, log2: f64) -> Option<u64> {
        largest(|norm| self.sum_failure(bits, norm) > log2)
    }

    /// Returns log2 of the probability that a bootstrap reads the wrong sign of a sum with the noise of
    /// [`NoiseModel::sum`]. Without noise the sum is `eighths` (1 or 2) eighths of the torus from the nearest point
    /// where the sign changes.
    pub fn sign_failure(&self, eighths: u32, norm: u64) -> f64 {
        let variance = self.before_rotation(self.sum(norm));
        let near = f64::from(eighths) / 8.0;
        // The shift by half a step of 1/2N hurts a phase just below a border most.
        log2_of(self.outside(variance, 0.5 - near, near))
    }

    /// Returns the largest `norm` below 2^40 for which [`NoiseModel::sign_failure`] is at most `log2`, or `None` if it
    /// is larger for every sum.
    pub fn largest_sign_norm(&self, eighths: u32, log2: f64) -> Option<u64> {
        largest(|norm| self.sign_failure(eighths, norm) > log2)
    }

    /// Returns the name of the operation of the parameter set that fails most often, and log2 of its failure
    /// probability ([`super::Params::failure_log2`]).
    pub fn worst(&self) -> (&'static str, f64) {
        match self.sizes.messages {
            Messages::Booleans => {
                let inputs = [[false, false], [false, true], [true, true]];
                let all = Gate::ALL.iter().flat_map(|&gate| {
                    inputs.map(|bits| self.gate_failure(gate, self.mux_outputs(), bits))
                });
                ("a gate", log2_of(all.fold(0.0, f64::max)))
            }
            Messages::Integers {
                message_bits,
                carry_bits,
            } => {
                let shift = f64::from(message_bits).exp2();
                // Fresh operands have no common part.
                let operand = self.outputs().sum(shift, 1.0);
                let operand = operand.max((1.0 + shift * shift) * self.fresh());
                let failure = self.table_failure(message_bits + carry_bits, operand);
                ("a table of two messages", log2_of(failure))
            }
        }
    }
}

/// The noise of two ciphertexts under one key that a gate adds.
#[derive(Clone, Copy, Debug)]
pub struct Operands {
    /// The noise variance of each of the two ciphertexts that the gate adds, in squares of the torus.
    pub variance: f64,
    /// The part of the variance that comes from noise which both ciphertexts contain.
    pub shared: f64,
}

impl Operands {
    /// Returns the noise variance of the sum of `a` times one operand and `b` times the other.
    pub fn sum(self, a: f64, b: f64) -> f64 {
        (a * a + b * b) * self.variance + 2.0 * a * b * self.shared
    }
}

/// Returns the largest number below 2^40 for which `fails` is false, or `None` if `fails` is true for 1. If `fails` is
/// true for a number, it must be true for every larger one.
fn largest(fails: impl Fn(u64) -> bool) -> Option<u64> {
    if fails(1) {
        return None;
    }
    let (mut good, mut bad) = (1, 1 << 40);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        *(if fails(middle) { &mut bad } else { &mut good }) = middle;
    }
    Some(good)
}

/// Returns log2 of a probability, with underflow taken as 2^-1022.
fn log2_of(p: f64) -> f64 {
    p.max(f64::MIN_POSITIVE).log2()
}

/// Returns P(X > x) for a standard normal X. From 3 on it evaluates 200 terms of the continued fraction, innermost
/// first. From 0 to 3 it integrates by Simpson's rule from x to 3, and adds P(X > 3). Below 0 it takes the complement.
pub fn tail(x: f64) -> f64 {
    const KNOT: f64 = 3.0;
    let density = |x: f64| (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if x < 0.0 {
        return 1.0 - tail(-x);
    }
    if x >= KNOT {
        // The continued fraction density / (x + 1 / (x + 2 / (x + ...))).
        let denominator = (1..=200).rev().fold(x, |d, i| x + f64::from(i) / d);
        return density(x) / denominator;
    }
    let steps = 400;
    let h = (KNOT - x) / f64::from(steps);
    let inner: f64 = (1..steps)
        .map(|i| density(x + h * f64::from(i)) * if i % 2 == 1 { 4.0 } else { 2.0 })
        .sum();
    tail(KNOT) + h / 3.0 * (density(x) + inner + density(KNOT))
}
