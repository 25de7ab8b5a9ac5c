// SPDX-License-Identifier: Apache-2.0
//! Tests the encoding of complex vectors as CKKS plaintexts.

use std::sync::Arc;

use num_bigint::BigInt;
use num_complex::Complex64;
use num_traits::ToPrimitive;
use ringmill_schemes::ckks::encoder::scalar_residues;
use ringmill_schemes::ckks::{CkksError, Encoder, Level, Params};
use ringmill_schemes::rlwe::RlweError;

fn params(bits: &[u32]) -> Arc<Params> {
    Params::builder(8)
        .prime_bits(bits, &[50])
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap()
}

#[test]
fn every_slot_count_round_trips_and_repeats() {
    let params = params(&[50, 40, 40]);
    let encoder = Encoder::new(params.clone());
    for log in 0..8 {
        let n = 1usize << log;
        let values: Vec<_> = (0..n)
            .map(|i| Complex64::new(i as f64 - 3.25, 0.5 * i as f64))
            .collect();
        for level in 0..3 {
            let plain = encoder
                .encode(&values, Level(level), 2f64.powi(36))
                .unwrap();
            let decoded = encoder.decode(&plain, 128).unwrap();
            for (i, z) in decoded.iter().enumerate() {
                assert!(
                    (z - values[i % n]).norm() < 1e-7,
                    "n {n} level {level} slot {i}: {z}"
                );
            }
        }
    }
}

#[test]
fn values_beyond_64_bits_are_exact_to_double_precision() {
    let params = params(&[50, 50, 50, 50]);
    let encoder = Encoder::new(params.clone());
    let scale = 2f64.powi(150);
    let plain = encoder.encode_real(&[3.0, -1e10], Level(3), scale).unwrap();
    let decoded = encoder.decode_real(&plain, 2).unwrap();
    assert!(
        (decoded[0] - 3.0).abs() < 1e-4 && (decoded[1] + 1e10).abs() < 1e-4,
        "{decoded:?}"
    );
    let constant = encoder.encode_real(&[-7.0], Level(3), scale).unwrap();
    let coefficients = encoder.coefficients(&constant).unwrap();
    assert_eq!(coefficients[0], -7.0 * scale);
    assert!(coefficients[1..].iter().all(|&c| c == 0.0));
    for x in [
        0.0,
        1.0,
        -1.0,
        12345.0,
        -(2f64.powi(63)),
        2f64.powi(120) + 2f64.powi(80),
        0.49f64.round(),
    ] {
        let residues = scalar_residues(&params, x, Level(3), 1.0).unwrap();
        assert_eq!(residues.len(), 4);
        for (&q, residue) in params.reducers().iter().zip(residues) {
            let exact = BigInt::from(x as i128) % q.value();
            let exact = ((exact + q.value()) % q.value()).to_u64().unwrap();
            assert_eq!(residue, exact, "{x}");
        }
    }
}

#[test]
fn bad_vectors_are_refused() {
    let params = params(&[50, 40]);
    let encoder = Encoder::new(params.clone());
    let scale = params.default_scale();
    let encode = |v: &[f64], level, scale| encoder.encode_real(v, level, scale);
    assert!(matches!(
        encode(&[1.0; 3], Level(1), scale),
        Err(CkksError::Slots { got: 3, max: 128 })
    ));
    assert!(matches!(
        encode(&[], Level(1), scale),
        Err(CkksError::Slots { .. })
    ));
    assert!(matches!(
        encode(&[1.0; 256], Level(1), scale),
        Err(CkksError::Slots { .. })
    ));
    assert!(matches!(
        encode(&[0.0, f64::NAN], Level(1), scale),
        Err(CkksError::NotFinite { slot: 1, .. })
    ));
    assert!(matches!(
        encode(&[f64::INFINITY], Level(1), scale),
        Err(CkksError::NotFinite { .. })
    ));
    assert!(matches!(
        encode(&[1e40], Level(1), scale),
        Err(CkksError::TooLarge {
            level: Level(1),
            ..
        })
    ));
    assert!(matches!(
        encode(&[1e308; 2], Level(1), scale),
        Err(CkksError::TooLarge { .. })
    ));
    assert!(matches!(
        encode(&[1e300; 2], Level(1), 1e20),
        Err(CkksError::TooLarge { .. })
    ));
    assert!(matches!(
        encode(&[1.0], Level(1), f64::NAN),
        Err(CkksError::Scale { .. })
    ));
    assert!(matches!(
        encode(&[1.0], Level(1), -1.0),
        Err(CkksError::Scale { .. })
    ));
    assert!(matches!(
        encode(&[1.0], Level(0), 2f64.powi(51)),
        Err(CkksError::Scale { .. })
    ));
    assert!(matches!(
        encode(&[1.0], Level(2), scale),
        Err(CkksError::Rlwe(RlweError::Level {
            got: Level(2),
            max: Level(1)
        }))
    ));
    assert!(scalar_residues(&params, f64::NAN, Level(1), scale).is_err());
    assert!(scalar_residues(&params, 1e60, Level(1), scale).is_err());
    let plain = encode(&[1.0], Level(1), scale).unwrap();
    assert!(encoder.decode(&plain, 0).is_err() && encoder.decode(&plain, 256).is_err());
}
