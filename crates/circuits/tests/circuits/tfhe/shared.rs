// SPDX-License-Identifier: Apache-2.0
//! Tests tables that share a blind rotation.

use ringmill_circuits::tfhe::shared::{factors, flat, noise_factor, weigh};
use ringmill_circuits::tfhe::{CiphertextModulus, LookupTable, ParamsBuilder};

/// Tests that a table is the flat polynomial times its factors, for every kind of modulus, except for the rounding
/// of fractions of a prime.
#[test]
fn tables_are_sums_of_turns() {
    for modulus in [
        CiphertextModulus::Torus32,
        CiphertextModulus::Torus64,
        CiphertextModulus::Prime { bits: 32 },
    ] {
        let params = ParamsBuilder::toy_circuits_for_tests_only().modulus(modulus);
        let params = params.build().unwrap();
        let q = params.coefficients();
        let entries: Vec<i64> = (0..16).map(|i| (i * i * 5 + 3) % 33 - 16).collect();
        let table = LookupTable::of_halves(&params, &entries).unwrap();
        let n = params.sizes().degree();
        let (mut turned, mut out) = (vec![0; n], vec![0; n]);
        weigh(&params, &table, &flat(&params), &mut turned, &mut out).unwrap();
        let sum: u64 = factors(&entries).map(i64::unsigned_abs).sum();
        for (x, y) in out.iter().zip(table.polynomial()) {
            assert!(q.centred(q.sub(*x, *y)).unsigned_abs() <= 1 + sum / 2);
        }
    }
    assert_eq!(noise_factor(&[1; 16]), 4);
    assert_eq!(noise_factor(&[0, 0, 2, 0]), 8);
    assert_eq!(noise_factor(&[i64::MAX / 4, -1, 0, 0]), u64::MAX);
}
