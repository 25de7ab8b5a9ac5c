// SPDX-License-Identifier: Apache-2.0
//! Tests encodings, parameters and noise of CKKS.

mod embedding;
mod encoder;
mod flooding;
mod lift;
mod noise;
mod params_builder;

use num_bigint::BigInt;
use num_traits::ToPrimitive;
use ringmill_math::{Modulus, NttPlan};
use ringmill_schemes::ckks::{Level, Params, Plaintext};

/// Returns the residues of `integers` modulo each modulus, one limb after another.
fn residues(moduli: &[Modulus], integers: &[BigInt]) -> Vec<u64> {
    let of = |q: &Modulus, x: &BigInt| {
        let q = BigInt::from(q.value());
        ((x % &q + &q) % &q).to_u64().unwrap()
    };
    moduli
        .iter()
        .flat_map(|q| integers.iter().map(move |x| of(q, x)))
        .collect()
}

/// Makes the plaintext whose polynomial has these coefficients, followed by zeros.
fn plaintext(params: &Params, level: Level, scale: f64, coefficients: &[BigInt]) -> Plaintext {
    let moduli = &params.reducers()[..level.primes()];
    let mut coefficients = coefficients.to_vec();
    coefficients.resize(params.degree(), BigInt::ZERO);
    let mut limbs = residues(moduli, &coefficients);
    for (&q, limb) in moduli.iter().zip(limbs.chunks_exact_mut(params.degree())) {
        let ntt = NttPlan::shared(q, params.ring()).unwrap();
        ntt.forward(limb).unwrap();
    }
    Plaintext::new(params, level, scale, limbs).unwrap()
}
