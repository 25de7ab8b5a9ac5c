// SPDX-License-Identifier: Apache-2.0
//! Noise of each operation and how often it is too much. Variances are in squares of the torus.
//!
//! Noise grows with the 1s of the secret keys, so a figure for the average key is too small for every second one. Keys are
//! therefore drawn with no more 1s than 0s ([`super::SecretKey`]), and what is counted is the most that they then have
//! ([`Weights::most`]): every figure holds for every secret key. It is a probability over what is drawn besides, the
//! evaluation keys' noise and the ciphertexts'.
//!
//! With w 1s in the small key, W in the large one, digits uniform in -B/2 ... B/2 - 1, E d^2 = (B^2 + 2) / 12, and a remainder
//! of v values E r^2 = (v^2 + 2) / 12:
//!
//! - blind rotation, m = 1: n (k + 1) l N E d^2 s^2 + w (1 + W) E r^2, as each 1 of the small key lets the remainder of
//!   (X^a - 1) ACC through;
//! - unrolled: a step has 2^m - 1 keys, each turned by X^a - 1, which doubles its noise, and the remainder of ACC comes
//!   through, twice, unless all bits of the step are 0: n / m 2 (2^m - 1) (k + 1) l N E d^2 s^2 + 2 p (1 + W) E r^2 for p
//!   steps that are not 0, which all of them may be;
//! - key switch: k N l E d^2 s^2 + W E r^2;
//! - modulus switch: (1 + w) / (12 (2N)^2); with the mean taken off, n / 4 for w.
//!
//! Sources: Chillotti, Gama, Georgieva, Izabachene, J. Cryptology 2020, theorems 4.1 and 4.6, here with exact second
//! moments for bounds; Zhou et al., IEEE Access 2018, for unrolled keys.

use super::Gate;
use super::params::{Decomposition, Messages, ModulusSwitch, Order, Sizes};
use super::secret::ones;

/// How much of its noise a secret key lets through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Weights {
    /// 1s of the small key.
    pub small: usize,
    /// 1s of the large key.
    pub large: usize,
    /// Steps of a blind rotation whose bits of the small key are not all 0.
    pub steps: usize,
}

impl Weights {
    /// The most that keys are drawn with: half of the bits, and 1s in all steps.
    pub fn most(sizes: &Sizes) -> Self {
        let small = sizes.n.0 / 2;
        Self {
            small,
            large: sizes.large_dimension() / 2,
            steps: small.min(sizes.steps()),
        }
    }

    /// Those of a key, whose bits are one a byte. They tell of the secret.
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

    /// Whether a key of these is one that [`Weights::most`] counts.
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

/// The noise of a set.
#[derive(Clone, Copy, Debug)]
pub struct NoiseModel {
    sizes: Sizes,
    weights: Weights,
    /// Bits of q.
    bits: u32,
}

impl NoiseModel {
    /// At most, under any key that is drawn.
    pub fn new(sizes: &Sizes) -> Self {
        Self::under(sizes, Weights::most(sizes))
    }

    /// Under a key of these weights.
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

    /// E d^2.
    fn digit(d: Decomposition) -> f64 {
        let base = f64::from(d.log_base).exp2();
        (base * base + 2.0) / 12.0
    }

    /// E r^2, of the torus.
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

    /// Of a blind rotation: the noise of what is extracted after it.
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
                // The last step has what is left of the bits.
                let keys = (s.n.0 / m) as f64 * patterns(m) + patterns(s.n.0 % m);
                2.0 * keys * key + 2.0 * through
            }
        }
    }

    /// What a key switch adds.
    pub fn key_switch(&self) -> f64 {
        let s = &self.sizes;
        let terms = (s.large_dimension() * s.key_switch.levels) as f64;
        let keys = terms * Self::digit(s.key_switch) * s.lwe_std.powi(2);
        keys + self.weights.large as f64 * self.remainder(s.key_switch)
    }

    /// What the switch to multiples of 1/2N adds.
    pub fn modulus_switch(&self) -> f64 {
        let s = &self.sizes;
        let roundings = match s.switch {
            ModulusSwitch::Nearest => self.weights.small as f64,
            // Times 1/2 or -1/2, whatever the key.
            ModulusSwitch::CentredMean => s.n.0 as f64 / 4.0,
        };
        let step = 1.0 / (2 * s.degree()) as f64;
        (1.0 + roundings) * step * step / 12.0
    }

    /// Of a ciphertext that a bootstrap gives.
    pub fn bootstrapped(&self) -> f64 {
        match self.sizes.order {
            Order::BootstrapFirst => self.blind_rotation() + self.key_switch(),
            Order::KeySwitchFirst => self.blind_rotation(),
        }
    }

    /// Of a ciphertext that MUX gives: two blind rotations, one key switch.
    pub fn mux(&self) -> f64 {
        self.bootstrapped() + self.blind_rotation()
    }

    /// Of a fresh encryption under the key that ciphertexts rest under.
    pub fn fresh(&self) -> f64 {
        match self.sizes.order {
            Order::BootstrapFirst => self.sizes.lwe_std.powi(2),
            Order::KeySwitchFirst => self.sizes.glwe_std.powi(2),
        }
    }

    /// Of the phase that a table is turned by, for an operand of this variance.
    pub fn before_rotation(&self, operand: f64) -> f64 {
        let switched = match self.sizes.order {
            Order::BootstrapFirst => operand,
            Order::KeySwitchFirst => operand + self.key_switch(),
        };
        switched + self.modulus_switch()
    }

    /// The probability that a phase lands outside (`below`, `above`) of where it is, which are distances in the torus to
    /// the borders of its table entry. Entries begin half a step of 1/2N early: half a step is shifted.
    fn outside(&self, variance: f64, below: f64, above: f64) -> f64 {
        let half = 0.5 / (2 * self.sizes.degree()) as f64;
        let sigma = variance.sqrt();
        tail((below + half) / sigma) + tail((above - half) / sigma)
    }

    /// Outputs of bootstraps under one key.
    pub fn outputs(&self) -> Operands {
        Operands {
            variance: self.bootstrapped(),
            shared: self.shared(),
        }
    }

    /// Outputs of MUX under one key. Where the key switch comes last, what outputs share is that of one key switch, and else
    /// that of two blind rotations, whose sum it is.
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

    /// The probability that a gate gives the wrong bit, for operands of this noise and these bits.
    pub fn gate_failure(&self, gate: Gate, operands: Operands, [a, b]: [bool; 2]) -> f64 {
        let form = gate.form();
        let factor = f64::from(form.factor);
        let bit = |x: bool| if x { 0.125 } else { -0.125 };
        let phase = f64::from(form.eighths) / 8.0 + factor * (bit(a) + bit(b));
        let phase = phase.rem_euclid(1.0);
        let variance = self.before_rotation(operands.sum(factor, factor));
        // True in (0, 1/2), false in (1/2, 1).
        let from = if phase < 0.5 { phase } else { phase - 0.5 };
        self.outside(variance, from, 0.5 - from)
    }

    /// The probability that a table is read at another entry, for messages of `bits` bits and a phase of this variance.
    pub fn table_failure(&self, bits: u32, operand: f64) -> f64 {
        let half = 2f64.powi(-(bits as i32) - 2);
        self.outside(self.before_rotation(operand), half, half)
    }

    /// The part of [`NoiseModel::bootstrapped`] that all outputs under one key share, as digits have a mean of -1/2. (With
    /// several bits a step it is turned by the ciphertext's own exponents, and nothing is shared.)
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

    /// Of a sum of bootstraps' outputs and inputs whose factors' squares add to `norm`, at most: what outputs share counts
    /// with the square of the factors' sum, which is no more than the square of `norm`.
    pub fn sum(&self, norm: u64) -> f64 {
        let wire = self.bootstrapped().max(self.fresh());
        let norm = norm as f64;
        norm * wire + norm * norm * self.shared()
    }

    /// log2 of the probability that a table is read at another entry, where the phase is such a sum.
    pub fn sum_failure(&self, bits: u32, norm: u64) -> f64 {
        log2_of(self.table_failure(bits, self.sum(norm)))
    }

    /// The largest `norm` of [`NoiseModel::sum_failure`] for failures of at most 2^`log2`; `None` where no sum is that
    /// reliable.
    pub fn largest_norm(&self, bits: u32, log2: f64) -> Option<u64> {
        largest(|norm| self.sum_failure(bits, norm) > log2)
    }

    /// log2 of the probability that the sign of such a sum is read wrong, where without noise it is `eighths` (1 or 2) of
    /// the torus away from where the sign changes.
    pub fn sign_failure(&self, eighths: u32, norm: u64) -> f64 {
        let variance = self.before_rotation(self.sum(norm));
        let near = f64::from(eighths) / 8.0;
        // Half a step of 1/2N is to the disadvantage of what lies just below.
        log2_of(self.outside(variance, 0.5 - near, near))
    }

    /// The largest `norm` of [`NoiseModel::sign_failure`], as [`NoiseModel::largest_norm`].
    pub fn largest_sign_norm(&self, eighths: u32, log2: f64) -> Option<u64> {
        largest(|norm| self.sign_failure(eighths, norm) > log2)
    }

    /// log2 of the probability that the worst operation fails, and which that is: see
    /// [`super::Params::failure_log2`].
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
                // Fresh ones share nothing.
                let operand = self.outputs().sum(shift, 1.0);
                let operand = operand.max((1.0 + shift * shift) * self.fresh());
                let failure = self.table_failure(message_bits + carry_bits, operand);
                ("a table of two messages", log2_of(failure))
            }
        }
    }
}

/// The noise of ciphertexts under one key that two of are added.
#[derive(Clone, Copy, Debug)]
pub struct Operands {
    /// Of each.
    pub variance: f64,
    /// The part of it that is the same in all.
    pub shared: f64,
}

impl Operands {
    /// Of `a` times one and `b` times another.
    fn sum(self, a: f64, b: f64) -> f64 {
        (a * a + b * b) * self.variance + 2.0 * a * b * self.shared
    }
}

/// The largest of what does not fail, where what is larger fails too; `None` where 1 does.
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

/// log2, with what underflows taken as 2^-1022.
fn log2_of(p: f64) -> f64 {
    p.max(f64::MIN_POSITIVE).log2()
}

/// P(X > x) for a standard normal X: by its continued fraction from 3 on (Lentz), below by Simpson's rule from 3 back to x.
pub fn tail(x: f64) -> f64 {
    const KNOT: f64 = 3.0;
    let density = |x: f64| (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if x < 0.0 {
        return 1.0 - tail(-x);
    }
    if x >= KNOT {
        // density / (x + 1 / (x + 2 / (x + ...)))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tfhe::LweKey;

    #[test]
    fn signs_fail_as_gates_do() {
        let params = crate::tfhe::Params::named("boolean_p64").unwrap();
        let noise = params.noise();
        // NAND adds two, an eighth from where the sign changes; XOR twice two, two eighths.
        for (gate, eighths, norm) in [(Gate::Nand, 1, 2), (Gate::Xor, 2, 8)] {
            let inputs = [[false, false], [false, true], [true, true]];
            let each = inputs.map(|bits| noise.gate_failure(gate, noise.outputs(), bits));
            let worst = log2_of(each.into_iter().fold(0.0, f64::max));
            // A sum of which only the norm is known counts what is shared as if each factor were 1.
            let found = noise.sign_failure(eighths, norm);
            assert!(
                found >= worst && found < 0.9 * worst,
                "{gate:?}: {found}, {worst}"
            );
        }
        let most = noise.largest_sign_norm(1, -64.0).unwrap();
        assert!(noise.sign_failure(1, most) <= -64.0 && noise.sign_failure(1, most + 1) > -64.0);
        assert_eq!(noise.largest_sign_norm(1, -100_000.0), None);
    }

    /// Under uniform keys `message_2_carry_2` fails at 2^-72.8 in the mean, and under one of some 1,000 keys at 2^-68.3. Under none
    /// of the keys that are drawn does it fail more often than is said, 2^-74.2.
    #[test]
    fn failures_are_those_of_the_heaviest_key_that_is_drawn() {
        let params = crate::tfhe::Params::named("message_2_carry_2").unwrap();
        let sizes = params.sizes();
        let (n, large) = (sizes.n.0, sizes.large_dimension());
        let fails = |small: usize, large: usize| {
            let steps = small;
            let weights = Weights {
                small,
                large,
                steps,
            };
            NoiseModel::under(sizes, weights).worst().1
        };
        let said = params.failure_log2();
        assert!((said + 74.2).abs() < 0.05, "{said}");
        // Binomial(n, 1/2), a weight at a time.
        let mut chance = 2f64.powi(-(n as i32));
        let (mut mean, mut light) = (0.0, 0.0);
        for w in 0..=n {
            let failure = chance * fails(w, large / 2).exp2();
            mean += failure;
            if 2 * w <= n {
                // A heavy key is drawn as its complement.
                light += if 2 * w == n { failure } else { 2.0 * failure };
            }
            chance *= (n - w) as f64 / (w + 1) as f64;
        }
        assert!((mean.log2() + 72.8).abs() < 0.05, "{}", mean.log2());
        assert!(light.log2() < said, "{}", light.log2());
        let heavy = fails(n / 2 + 45, large / 2);
        assert!((heavy + 68.3).abs() < 0.05, "{heavy}");
        // What is counted is the most that a key has, in each of its parts.
        let most = Weights::most(sizes);
        assert!(fails(most.small, most.large) == said);
        assert!(
            fails(most.small + 1, most.large) > said && fails(most.small, most.large + 1) > said
        );
    }

    #[test]
    fn keys_are_drawn_no_heavier_than_is_counted() {
        let unrolled = |m| crate::tfhe::ParamsBuilder::toy_for_tests_only().unrolling(m);
        let odd = |m| unrolled(m).sizes(|s| s.n = crate::tfhe::LweDimension(17));
        for m in crate::tfhe::Unrolling::ALL {
            for params in [unrolled(m), odd(m)].map(|b| b.build().unwrap()) {
                let (sizes, most) = (params.sizes(), Weights::most(params.sizes()));
                let (mut at_most, mut ones) = (0, [0; 2]);
                for _ in 0..500 {
                    let mut prng = ringmill_math::Prng::from_os().unwrap();
                    let secret = crate::tfhe::SecretKey::draw(&params, &mut prng);
                    let [small, large] =
                        [LweKey::Small, LweKey::Large].map(|k| secret.expose_bits(k));
                    let weights = Weights::of(sizes, small, large);
                    assert!(weights.are_within(&most), "{weights:?} of {most:?}");
                    at_most += usize::from(weights.small == most.small);
                    // Neither end of the key has more of the 1s.
                    ones[0] += usize::from(small[0]);
                    ones[1] += usize::from(small[sizes.n.0 - 1]);
                }
                // 20 % of the keys of 16 bits have eight 1s, 37 % of those of 17 bits; within six standard deviations.
                assert!((45..260).contains(&at_most), "{at_most}");
                assert!(
                    ones.iter().all(|ones| (130..270).contains(ones)),
                    "{ones:?}"
                );
            }
        }
    }

    /// Outputs under one key share noise: two of them add to more than independent ones, and a gate fails more often.
    #[test]
    fn what_operands_share_counts() {
        for (name, order) in [
            ("boolean_p64", Order::BootstrapFirst),
            ("circuits", Order::KeySwitchFirst),
        ] {
            let noise = crate::tfhe::Params::named(name).unwrap().noise();
            assert_eq!(noise.sizes.order, order);
            let (outputs, mux) = (noise.outputs(), noise.mux_outputs());
            assert!(outputs.shared > 0.0 && outputs.shared < outputs.variance);
            let apart = 2.0 * outputs.variance;
            assert_eq!(outputs.sum(1.0, 1.0), apart + 2.0 * outputs.shared);
            assert_eq!(outputs.sum(1.0, -1.0), apart - 2.0 * outputs.shared);
            let wanted = match order {
                Order::BootstrapFirst => (noise.mux(), outputs.shared),
                Order::KeySwitchFirst => (apart + 2.0 * outputs.shared, 4.0 * outputs.shared),
            };
            assert_eq!((mux.variance, mux.shared), wanted);
        }
        let noise = crate::tfhe::Params::named("boolean_p64").unwrap().noise();
        let independent = Operands {
            shared: 0.0,
            ..noise.mux_outputs()
        };
        let failure = |of| log2_of(noise.gate_failure(Gate::Nand, of, [true, true]));
        let (counted, not) = (failure(noise.mux_outputs()), failure(independent));
        assert!(
            (0.995..0.998).contains(&(counted / not)),
            "{counted}, {not}"
        );
    }

    #[test]
    fn tails_of_the_normal_distribution() {
        // To ten digits, from the error function's tables.
        for (x, expected) in [
            (0.0, 0.5),
            (1.0, 0.158_655_253_9),
            (2.0, 0.022_750_131_95),
            (3.0, 1.349_898_032e-3),
            (6.0, 9.865_876_450e-10),
            (10.0, 7.619_853_024e-24),
            (20.0, 2.753_624_119e-89),
        ] {
            let got = tail(x);
            assert!((got / expected - 1.0).abs() < 1e-9, "{x}: {got}");
            assert!((tail(-x) - (1.0 - expected)).abs() < 1e-9);
        }
    }
}
