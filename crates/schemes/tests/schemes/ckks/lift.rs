// SPDX-License-Identifier: Apache-2.0
//! Tests the lift of residues to centred coefficients in doubles.

use std::sync::Arc;

use num_bigint::BigInt;
use num_traits::ToPrimitive;
use ringmill_math::RnsBasis;
use ringmill_schemes::ckks::{Encoder, Params};

use super::{plaintext, residues};

/// Makes parameters whose polynomials are one block of the lift, with ciphertext primes of these sizes in bits.
fn params(sizes: &[u32]) -> Arc<Params> {
    let params = Params::builder(9).prime_bits(sizes, &[60]);
    let params = params.allow_insecure_parameters_for_tests_only();
    params.build().unwrap()
}

/// Returns the doubles that the encoder gives for coefficients with the values `integers`, in one block.
fn centred(encoder: &Encoder, integers: &[BigInt]) -> Vec<f64> {
    let params = encoder.params();
    let plain = plaintext(params, params.max_level(), 1.0, integers);
    let mut values = encoder.coefficients(&plain).unwrap();
    assert!(values[integers.len()..].iter().all(|&x| x == 0.0));
    values.truncate(integers.len());
    values
}

#[test]
fn agrees_with_big_integers() {
    for sizes in [&[50, 40, 41][..], &[60, 54, 54, 54], &[30, 60], &[45]] {
        let params = params(sizes);
        let encoder = Encoder::new(params.clone());
        let moduli = &params.reducers()[..sizes.len()];
        let basis = RnsBasis::new(moduli.to_vec()).unwrap();
        let product: BigInt = moduli.iter().map(|q| BigInt::from(q.value())).product();
        let half = &product >> 1u32;
        let mut integers = vec![half.clone(), -&half, &half - 1, 1 - &half];
        let mut weight = BigInt::from(1);
        for q in moduli {
            for x in [&weight - 1, weight.clone(), (&weight * q.value()) >> 1u32] {
                integers.extend([&x - 1, x.clone(), &x + 1, -x.clone(), 1 - x]);
            }
            weight *= q.value();
        }
        let mut state = BigInt::from(0x9e37_79b9_7f4a_7c15u64);
        for k in 0..2000u32 {
            state = (&state * &state + k) % &product;
            integers.push((&state - &half) >> (k % 200));
        }
        integers.retain(|x| -&half <= *x && *x <= half);
        let blocks = integers.chunks(params.degree());
        let values = blocks.flat_map(|block| centred(&encoder, block));
        for (x, ours) in integers.iter().zip(values) {
            let exact = x.to_f64().unwrap();
            assert!((ours - exact).abs() <= exact.abs() * 1e-15, "{x}: {ours}");
            let one = std::slice::from_ref(x);
            assert_eq!(basis.compose_centred(&residues(moduli, one)).unwrap(), *x);
            // Alone in a block, the integer becomes the same double, whichever way the lift takes.
            assert_eq!(centred(&encoder, one), [ours], "{x}");
        }
    }
}

#[test]
fn both_ways_give_the_same_doubles() {
    let params = params(&[60, 54, 54]);
    let encoder = Encoder::new(params.clone());
    let half = BigInt::from(params.moduli()[0] / 2);
    let mut integers = vec![half.clone(), -&half];
    integers.extend((0..500u64).map(|k| {
        let x = BigInt::from(k.wrapping_mul(0x9e37_79b9_7f4a_7c15) as i64);
        (x % &half) >> (k % 61)
    }));
    let first = centred(&encoder, &integers);
    for (x, value) in integers.iter().zip(&first) {
        assert_eq!(x.to_i64().unwrap() as f64, *value);
    }
    // One integer beyond q_0 / 2 makes the lift take the other way for its whole block.
    let beyond: BigInt = &half + 1;
    integers.push(beyond.clone());
    let mixed = centred(&encoder, &integers);
    assert_eq!(
        mixed.split_last(),
        Some((&beyond.to_f64().unwrap(), &first[..]))
    );
}
