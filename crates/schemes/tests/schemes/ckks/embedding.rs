// SPDX-License-Identifier: Apache-2.0
//! Tests the canonical embedding that the CKKS encoder uses, against its definition.

use std::f64::consts::PI;
use std::sync::Arc;

use num_bigint::BigInt;
use num_complex::Complex64;
use ringmill_schemes::ckks::{Encoder, Level, Params};

use super::plaintext;

/// Computes all slots of a polynomial by their definition, in O(n^2) operations.
fn direct(coefficients: &[f64]) -> Vec<Complex64> {
    let n2 = coefficients.len();
    let mut exponent = 1usize;
    let slot = |_| {
        let at = |(j, &c): (usize, &f64)| {
            Complex64::from_polar(c, PI / n2 as f64 * (exponent * j % (2 * n2)) as f64)
        };
        let sum = coefficients.iter().enumerate().map(at).sum();
        exponent = exponent * 3 % (2 * n2);
        sum
    };
    (0..n2 / 2).map(slot).collect()
}

/// Checks decoding and encoding of vectors of `n` slots, for parameters of any ring degree.
fn check(params: &Arc<Params>, n: usize) {
    let encoder = Encoder::new(params.clone());
    let (level, one) = (Level(1), 2f64.powi(40));
    let coefficients: Vec<f64> = (0..2 * n)
        .map(|j| ((j * j * 37 + 11 * j) % 101) as f64 - 50.0)
        .collect();
    // In the full ring, such a polynomial is one in a power of X.
    let apart = params.degree() / (2 * n);
    let mut whole = vec![BigInt::ZERO; params.degree()];
    for (place, &c) in whole.iter_mut().step_by(apart).zip(&coefficients) {
        *place = BigInt::from(c as i64);
    }
    let plain = plaintext(params, level, 1.0, &whole);
    let slots = encoder.decode(&plain, n).unwrap();
    assert_eq!(slots.len(), n);
    for (a, b) in slots.iter().zip(direct(&coefficients)) {
        assert!((a - b).norm() < 1e-8, "n = {n}: {a} {b}");
    }
    let plain = encoder.encode(&slots, level, 2.0 * one).unwrap();
    let back = encoder.coefficients(&plain).unwrap();
    assert_eq!(back.len(), params.degree());
    for (at, a) in back.iter().enumerate() {
        let b = match at % apart {
            0 => coefficients[at / apart],
            _ => 0.0,
        };
        assert!((a / one - 2.0 * b).abs() < 1e-9, "n = {n}: {a} {b}");
    }
}

#[test]
fn agrees_with_the_definition() {
    for log_n in 3..=8 {
        let params = Params::builder(log_n).prime_bits(&[50, 40], &[50]);
        let params = params.allow_insecure_parameters_for_tests_only();
        let params = params.build().unwrap();
        for log in 0..log_n {
            check(&params, 1 << log);
        }
    }
}
