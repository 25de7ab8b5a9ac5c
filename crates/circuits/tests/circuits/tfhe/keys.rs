// SPDX-License-Identifier: Apache-2.0
//! Tests keys: secret bits, masks that never repeat, the width of the noise, and the messages that rows encrypt.

use std::collections::HashSet;

use ringmill_circuits::tfhe::{
    CiphertextModulus, Client, GlweRank, LweDimension, LweKey, Params, Unrolling,
};

use super::setup::{Setup, toy};

/// Returns the phase of a row of a bootstrapping key from the definition: the body less the sum of the mask polynomials
/// times the ring key's polynomials.
fn phase(params: &Params, client: &Client, row: &[u64]) -> Vec<u64> {
    let (q, n) = (params.coefficients(), params.sizes().degree());
    let large = params.sizes().large_dimension();
    let mut phase = row[large..].to_vec();
    for (mask, bits) in row[..large]
        .chunks(n)
        .zip(client.secret().expose_bits(LweKey::Large).chunks(n))
    {
        for (i, _) in bits.iter().enumerate().filter(|(_, b)| **b == 1) {
            for (j, &x) in mask.iter().enumerate() {
                let at = (i + j) % n;
                phase[at] = match i + j < n {
                    true => q.sub(phase[at], x),
                    false => q.add(phase[at], x),
                };
            }
        }
    }
    phase
}

/// Checks that the mean and the variance of the errors lie within six standard errors of a Gaussian of width `sigma`.
fn is_gaussian(errors: &[f64], sigma: f64) {
    let n = errors.len() as f64;
    let mean = errors.iter().sum::<f64>() / n;
    let variance = errors.iter().map(|e| e * e).sum::<f64>() / n;
    assert!(mean.abs() < 6.0 * sigma / n.sqrt(), "mean {mean}");
    let ratio = variance / (sigma * sigma);
    assert!(
        (ratio - 1.0).abs() < 6.0 * (2.0 / n).sqrt(),
        "variance {ratio}"
    );
}

#[test]
fn rows_of_a_bootstrapping_key_encrypt_the_patterns() {
    for (unrolling, modulus) in [
        (Unrolling::One, CiphertextModulus::Torus32),
        (Unrolling::Two, CiphertextModulus::Prime { bits: 30 }),
        (Unrolling::Three, CiphertextModulus::Torus64),
    ] {
        let params = toy()
            .unrolling(unrolling)
            .modulus(modulus)
            .sizes(|s| {
                s.n = LweDimension(7);
                s.k = GlweRank(2);
                s.log_degree = 7;
                s.glwe_std = 2f64.powi(-24);
            })
            .allow_any_failure_rate_for_tests_only()
            .build()
            .unwrap();
        let (q, s) = (params.coefficients(), params.sizes());
        let setup = Setup::new(params.clone(), 7);
        let small = setup.client.secret().expose_bits(LweKey::Small);
        let large = setup.client.secret().expose_bits(LweKey::Large);
        let (mut errors, mut masks) = (Vec::new(), HashSet::new());
        let mut at = 0;
        for bits in small.chunks(unrolling.m()) {
            for u in 1usize..1 << bits.len() {
                let chosen = bits
                    .iter()
                    .enumerate()
                    .all(|(t, &b)| usize::from(b) == u >> t & 1);
                for row in 0..s.rows() {
                    let mut words = vec![0; (s.k.0 + 1) * s.degree()];
                    setup.bootstrap.row(&params, at, row, &mut words).unwrap();
                    for mask in words[..s.large_dimension()].chunks(s.degree()) {
                        assert!(masks.insert(mask.to_vec()), "a mask twice");
                    }
                    let (c, j) = (row / s.bootstrap.levels, row % s.bootstrap.levels);
                    let weight = params.bootstrap_gadget().weight(j) * u64::from(chosen);
                    let found = phase(&params, &setup.client, &words);
                    for (i, x) in found.into_iter().enumerate() {
                        let message = match large.get(c * s.degree() + i) {
                            Some(&bit) => q.neg(weight * u64::from(bit)),
                            None if i == 0 => weight,
                            None => 0,
                        };
                        errors.push(q.centred(q.sub(x, message)) as f64);
                    }
                }
                at += 1;
            }
        }
        is_gaussian(&errors, s.glwe_std * 2f64.powi(q.bits() as i32));
    }
}

#[test]
fn rows_of_a_key_switching_key_encrypt_the_large_key() {
    for modulus in [
        CiphertextModulus::Torus32,
        CiphertextModulus::Torus64,
        CiphertextModulus::Prime { bits: 30 },
    ] {
        let params = toy().modulus(modulus).build().unwrap();
        let (q, s) = (params.coefficients(), params.sizes());
        let setup = Setup::new(params.clone(), 8);
        let bits = setup.client.secret().expose_bits(LweKey::Large);
        let rows = setup.switch.rows(&params).unwrap();
        // A mask with one coefficient, minus the weight of digit j, has one digit, -1. So the key switch returns row j
        // of that coefficient.
        let mut errors = Vec::new();
        let mut masks = HashSet::new();
        let mut out = vec![0; s.n.0 + 1];
        let mut mask = vec![0; s.large_dimension()];
        for (i, &bit) in bits.iter().enumerate().step_by(3) {
            for j in 0..s.key_switch.levels {
                let weight = params.key_switch_gadget().weight(j);
                mask[i] = q.neg(weight);
                rows.switch(params.key_switch_gadget(), &mask, 0, &mut out)
                    .unwrap();
                assert!(masks.insert(out[..s.n.0].to_vec()), "a mask twice");
                let x = ringmill_circuits::tfhe::LweCiphertext::new(
                    &params,
                    LweKey::Small,
                    out.clone(),
                )
                .unwrap();
                let phase = setup.client.phase_with_its_noise(&x).unwrap();
                let message = weight * u64::from(bit);
                errors.push(q.centred(q.sub(phase, message)) as f64);
            }
            mask[i] = 0;
        }
        is_gaussian(&errors, s.lwe_std * 2f64.powi(q.bits() as i32));
    }
}

#[test]
fn secrets_are_uniform_bits_and_are_not_printed() {
    let params = toy().sizes(|s| s.n = LweDimension(4096));
    let params = params
        .allow_any_failure_rate_for_tests_only()
        .build()
        .unwrap();
    let client = Client::from_seed_for_reproducible_tests_only(params, [9; 32]).unwrap();
    let bits = client.secret().expose_bits(LweKey::Small);
    let ones = bits.iter().filter(|&&b| b == 1).count() as f64;
    assert!(bits.iter().all(|&b| b < 2));
    assert!((ones - 2048.0).abs() < 6.0 * 32.0, "{ones}");
    assert_eq!(format!("{:?}", client.secret()), "SecretKey(TFHE)");
}

#[test]
fn two_keys_of_one_secret_share_no_seed() {
    let setup = Setup::new(toy().build().unwrap(), 10);
    let again = setup.client.bootstrap_key().unwrap();
    assert_ne!(again.seed(), setup.bootstrap.seed());
    assert_ne!(again.seed(), setup.switch.seed());
    assert_ne!(again.bodies(), setup.bootstrap.bodies());
}
