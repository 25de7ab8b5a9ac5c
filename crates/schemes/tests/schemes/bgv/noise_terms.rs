// SPDX-License-Identifier: Apache-2.0
//! Tests each term of BGV's noise model against its definition, in plain arithmetic.

use std::f64::consts::LN_2;
use std::sync::Arc;

use ringmill_schemes::bgv::{
    ExactParams, Level, Noise, NoiseModel, Params, PlainModulus, SecretDistribution,
};

use super::setup::params;

/// The numbers of which the terms of the noise model consist, computed from the parameters.
struct Terms {
    model: NoiseModel,
    params: Arc<Params>,
    n: f64,
    t: f64,
    tail: f64,
    sigma: f64,
    /// The factors by which products with the secret (`secret`) and with a ternary polynomial (`ternary`) grow. `sum`
    /// is the sum of the absolute values of the secret's coefficients.
    secret: f64,
    ternary: f64,
    sum: f64,
}

impl Terms {
    fn of(params: Arc<Params>, operations: usize) -> Self {
        let n = params.degree() as f64;
        let tail = (2.0 * LN_2 * (41.0 + (n * operations as f64).log2())).sqrt();
        let ternary = tail * (n * 2.0 / 3.0).sqrt();
        let (secret, sum) = match params.secret_distribution() {
            SecretDistribution::Ternary => (ternary, n),
            SecretDistribution::SparseTernary { weight } => {
                let weight = f64::from(weight);
                (weight.min(tail * weight.sqrt()), weight)
            }
            SecretDistribution::Gaussian => (
                1.05 * tail * 3.2 * n.sqrt(),
                1.5 * (n * n * 3.2 * 3.2).sqrt(),
            ),
            SecretDistribution::Binary => (n, n),
        };
        Self {
            model: NoiseModel::of_program(&params, operations),
            n,
            t: params.plain_modulus().value() as f64,
            tail,
            sigma: params.error_distribution().std_dev(),
            secret,
            ternary: ternary.min(n),
            sum,
            params,
        }
    }

    fn remainder(&self, primes: f64) -> f64 {
        match self.params.primes_alone() {
            false => self.t - 1.0 + primes,
            true => self.t * primes,
        }
    }

    /// Returns the bound on the error that a division of two polynomials by `primes` primes makes.
    fn rounding(&self, primes: f64) -> f64 {
        self.remainder(primes) * (1.0 + self.secret)
    }

    /// Returns the bound on t times a sum of N products with errors of keys, for factors up to 1.
    fn errors(&self) -> f64 {
        self.t * self.tail * self.sigma * self.n.sqrt()
    }

    fn special(&self) -> f64 {
        product(self.params.special_moduli())
    }

    /// Returns the square root of the sum of the squares of the digits' bounds.
    fn digits(&self, level: Level) -> f64 {
        let bounds = (0..self.params.digits_at(level)).map(|digit| {
            let primes = &self.params.moduli()[self.params.digit(digit, level)];
            product(primes) * primes.len() as f64
        });
        bounds.map(|bound| bound * bound).sum::<f64>().sqrt()
    }
}

fn product(primes: &[u64]) -> f64 {
    primes.iter().map(|&q| q as f64).product()
}

fn assert_is(noise: Noise, expected: f64, what: &str) {
    let off = (noise.log2() - expected.log2()).abs();
    assert!(off < 1e-9, "{what}: {noise:?}, not {}", expected.log2());
}

/// Returns parameter sets with small primes, so that each term is visible in a sum. The last set divides modulo primes
/// alone, and it has two primes in a digit.
fn sets() -> Vec<Arc<Params>> {
    let built = |t: u64, cipher: &[u32], special: &[u32], secret, alone: bool| {
        let mut builder = Params::builder(6, PlainModulus::new(t).unwrap())
            .prime_bits(cipher, special)
            .secret(secret);
        if alone {
            builder = builder.divide_modulo_primes_alone();
        }
        builder
            .allow_insecure_parameters_for_tests_only()
            .build()
            .unwrap()
    };
    let sparse = SecretDistribution::SparseTernary { weight: 16 };
    vec![
        params(6, 257, &[20, 22, 24, 20], &[24]),
        params(6, 7681, &[20, 22, 24, 20], &[24, 24]),
        built(257, &[20; 3], &[20], SecretDistribution::Gaussian, false),
        built(257, &[20; 4], &[20; 2], sparse, true),
    ]
}

#[test]
fn each_term_is_its_definition() {
    for (params, operations) in sets().into_iter().zip([1, 2, 1000, 5]) {
        let s = Terms::of(params, operations);
        let model = &s.model;
        let message = s.t / 2.0;
        let special = s.params.special_count() as f64;

        let error = match s.params.error_distribution().std_dev() {
            sigma if sigma > 3.21 => 21.0,
            sigma => s.tail * sigma,
        };
        let errors = s.t * error * (s.ternary + 1.0 + s.secret) / s.special();
        let fresh = model.fresh();
        assert_is(fresh, message + errors + s.rounding(special), "fresh");
        let symmetric = model.fresh_symmetric();
        assert_is(symmetric, message + s.t * error, "symmetric");
        assert_is(model.floor(), message + s.rounding(1.0), "floor");

        let (a, b) = (fresh.log2().exp2(), symmetric.log2().exp2());
        assert_is(model.add(fresh, symmetric), a + b, "sum");
        assert_is(model.add_plain(fresh), a + message, "plain sum");
        assert_is(
            model.mul_plain(fresh),
            a * s.n * message,
            "product with a plaintext",
        );
        assert_is(model.mul_known(fresh, 3.0), 3.0 * a, "known product");
        assert_is(model.mul_known(fresh, 0.0), a, "product with nothing");
        assert_is(model.mul_integer(fresh, 5), 5.0 * a, "multiple");
        assert_is(model.mul_integer(fresh, 0), a, "no multiple");
        assert_is(model.divide_exactly(fresh, 4), a / 4.0, "exact quotient");
        assert_is(model.mul(fresh, symmetric), a * b * s.n, "product");

        let primes = s.params.cipher_moduli();
        for level in Level::LOWEST.to(s.params.max_level()) {
            let dropped = |count: usize| product(&primes[level.primes() - count..level.primes()]);
            let large = model.mul(fresh, fresh);
            let whole = large.log2().exp2();
            let switched = whole + s.digits(level) * s.errors() / s.special();
            let rounded = s.rounding(special);
            assert_is(
                model.switch_key(large, level),
                switched + rounded,
                "key switch",
            );
            for polys in 1..=3 {
                let grown = match polys {
                    1 => 1.0,
                    2 => 1.0 + s.secret,
                    _ => 1.0 + s.secret + s.secret * s.sum,
                };
                let expected = whole / dropped(1) + s.remainder(1.0) * grown;
                assert_is(
                    model.mod_switch(large, level, polys),
                    expected,
                    "one division",
                );
            }
            for count in 0..level.primes() {
                let divided = switched / dropped(count) + s.rounding(special + count as f64);
                assert_is(
                    model.switch_key_by(large, level, count),
                    divided,
                    "key switch that drops primes",
                );
                let divided = match count {
                    0 => whole,
                    _ => whole / dropped(count) + s.rounding(count as f64),
                };
                assert_is(
                    model.mod_switch_by(large, level, count),
                    divided,
                    "divisions",
                );
            }

            let q = s.params.modulus(level);
            let room = model.room(large, level);
            let expected = s.params.log_q(level) - 2.0 - large.log2();
            assert!((room - expected).abs() < 1e-5, "{room} {expected}");
            let bits = (large.log2().floor() + 1.0) as u64;
            let budget = (q.bits().saturating_sub(bits + 1)) as u32;
            let expected = if room <= 0.0 { 0 } else { budget };
            assert_eq!(model.budget(large, level), expected);
        }
    }
}

#[test]
fn a_bootstraps_terms_are_their_definitions() {
    for params in sets() {
        let s = Terms::of(params, 1);
        let fresh = s.model.fresh();
        let half = s.t / 2.0 + 2.0;
        let small = half * (1.0 + 12.0);
        let expected = small + half * s.errors();
        assert_is(s.model.raised(12), expected, "raised");
        // The encapsulation key has as many special primes as the level has primes.
        let level = Level::LOWEST;
        let q = s.params.cipher_moduli()[0] as f64;
        let p = s.params.special_moduli()[0] as f64;
        let secret = (s.tail * 12f64.sqrt()).min(12.0);
        let expected = fresh.log2().exp2() + q * s.errors() / p + s.remainder(1.0) * (1.0 + secret);
        assert_is(
            s.model.encapsulate(fresh, level, 12),
            expected,
            "encapsulated",
        );
    }
}
