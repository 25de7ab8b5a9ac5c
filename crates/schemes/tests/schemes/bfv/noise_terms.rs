// SPDX-License-Identifier: Apache-2.0
//! Tests each term of BFV's noise model against its definition, in plain arithmetic.

use std::f64::consts::{LN_2, PI};
use std::sync::Arc;

use ringmill_schemes::bfv::noise::{Noise, NoiseModel};
use ringmill_schemes::bfv::{Level, Multiplication, Params};
use ringmill_schemes::exact::ExactParams;

use super::setup::params;

/// Returns the bound on the invariant noise that the model predicts. It is 1/2 for a budget of 0.
fn norm(noise: Noise) -> f64 {
    (-1.0 - noise.budget()).exp2()
}

fn assert_is(noise: Noise, expected: f64, what: &str) {
    let off = (norm(noise).log2() - expected.log2()).abs();
    assert!(off < 1e-9, "{what}: {}, not {expected}", norm(noise));
}

fn product(primes: &[u64]) -> f64 {
    primes.iter().map(|&q| q as f64).product()
}

fn check(params: &Arc<Params>, multiplication: Multiplication, operations: usize) {
    let model = NoiseModel::new(params, operations);
    let n = params.degree() as f64;
    let t = params.plain_modulus().value() as f64;
    // A dozen polynomials for each operation and for the encryption, in sixteen directions, fail with a probability of
    // 2^-40 together.
    let chances = n * 12.0 * (operations as f64 + 1.0) * 16.0;
    let deviations = (40.0 * LN_2 + chances.ln()).sqrt() / (PI / 16.0).cos();
    let random = |variance: f64| deviations * (n * variance).sqrt();
    let secret = deviations * params.secret_distribution().mean_square(n).sqrt();
    let sigma = params.error_distribution().std_dev();
    let rounding = random(1.0 / 12.0) * (1.0 + secret);
    let special = product(params.special_moduli());
    for level in Level::LOWEST.to(params.max_level()) {
        let invariant = |error: f64| error * t / params.log_q(level).exp2();
        let message = invariant(n / 2.0);
        let fresh = model.fresh(level);
        let errors = random(sigma * sigma);
        let keyed = errors * (random(2.0 / 3.0) + 1.0 + secret) / special;
        let expected = invariant(keyed + rounding + errors) + message;
        assert_is(fresh, expected, "fresh");

        let v = norm(fresh);
        let other = model.times_integer(fresh, 3);
        assert_is(other, 3.0 * v, "multiple");
        assert_is(model.times_integer(fresh, 0), v, "no multiple");
        assert_is(model.sum(fresh, other), 4.0 * v, "sum");
        assert_is(model.plus_plain(fresh, level), v + message, "plain sum");
        assert_is(
            model.times_plain(fresh),
            v * n * t / 2.0,
            "product with a plaintext",
        );

        let whole = t * random(1.0 / 12.0) * (1.0 + secret);
        let crossed = v * whole + 3.0 * v * whole + 3.0 * v * v;
        let rounded = match multiplication {
            Multiplication::Hps | Multiplication::HpsFriendly => random(1.0 / 12.0),
            Multiplication::Behz | Multiplication::BehzPrime => n * (level.primes() as f64 + 2.0),
        };
        let powers = 1.0 + secret + secret * secret;
        let expected = crossed + invariant(rounded * powers);
        assert_is(model.product(fresh, other, level), expected, "product");

        let mut decomposed = 0.0;
        for digit in 0..params.digits_at(level) {
            let primes = &params.cipher_moduli()[params.digit(digit, level)];
            let size = primes.len() as f64 * product(primes) / special;
            decomposed += size * (n / PI + random(1.0 / 12.0)) * errors;
        }
        let off = (params.special_count() as f64 - 1.0) * n * (1.0 + secret);
        let expected = v + invariant(decomposed + rounding + off);
        assert_is(model.switched(fresh, level), expected, "key switch");
        // One rounding for each prime of the levels above, and each divided by the primes below it alone.
        let divided = (level.0..params.max_level().0).map(|l| params.log_q(Level(l)).exp2());
        let expected = v + divided.map(|q| rounding * t / q).sum::<f64>();
        assert_is(model.mod_switched(fresh, level), expected, "division");
    }
}

#[test]
fn each_term_is_its_definition() {
    // Small primes, so that each term shows in a sum.
    for special in [&[24][..], &[24, 24]] {
        for multiplication in [
            Multiplication::Behz,
            Multiplication::BehzPrime,
            Multiplication::Hps,
            Multiplication::HpsFriendly,
        ] {
            let params = params(6, 257, &[20, 22, 24, 20], special, multiplication);
            check(&params, multiplication, 1);
            check(&params, multiplication, 1000);
        }
    }
}
