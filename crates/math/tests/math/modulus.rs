// SPDX-License-Identifier: Apache-2.0
//! Tests modular arithmetic against big integers, and on all inputs for small moduli.

use crate::common;

use num_bigint::{BigInt, BigUint};
use proptest::prelude::*;
use ringmill_math::Modulus;

fn big(x: u64) -> BigUint {
    BigUint::from(x)
}

fn modulus() -> impl Strategy<Value = Modulus> {
    // All bit lengths are equally likely; some moduli are at the ends of the range.
    let of_bits =
        (2u32..=61, any::<u64>()).prop_map(|(bits, x)| (1 << (bits - 1)) | (x >> (65 - bits)));
    prop_oneof![10 => of_bits, 1 => Just(2u64), 1 => Just((1 << 61) - 1), 1 => (1u32..=60).prop_map(|b| 1 << b)]
        .prop_map(|q| Modulus::new(q).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn operations_agree_with_big_integers(q in modulus(), x: u64, y: u64, wide: u128, e: u64, signed: i64) {
        let m = q.value();
        let (a, b) = (x % m, y % m);
        prop_assert_eq!(big(q.reduce(x)), big(x) % m);
        prop_assert_eq!(big(q.reduce_wide(wide)), BigUint::from(wide) % m);
        prop_assert_eq!(q.divide_wide(wide), (wide / u128::from(m)) as u64);
        prop_assert_eq!(big(q.add(a, b)), (big(a) + b) % m);
        prop_assert_eq!(big(q.sub(a, b)), (big(a) + m - b) % m);
        prop_assert_eq!(big(q.neg(a)), (big(m) - a) % m);
        prop_assert_eq!(big(q.mul(a, b)), big(a) * b % m);
        prop_assert_eq!(big(q.mul(x, y)), big(x) * y % m);
        prop_assert_eq!(big(q.mul_shoup(x, q.shoup(y))), big(x) * y % m);
        prop_assert_eq!(big(q.pow(x, e)), big(x).modpow(&big(e), &big(m)));
        let expected = ((BigInt::from(signed) % m) + m) % m;
        prop_assert_eq!(BigInt::from(q.from_i64(signed)), expected);
        let c = q.centred(a);
        prop_assert_eq!(q.from_i64(c), a);
        prop_assert!(2 * i128::from(c) <= i128::from(m) && 2 * i128::from(c) > -i128::from(m));
        match (q.inv(a), big(a).modinv(&big(m))) {
            (Ok(i), Some(expected)) => prop_assert_eq!(big(i), expected),
            (Err(_), None) => {}
            (ours, theirs) => prop_assert!(false, "{:?} against {:?}", ours, theirs),
        }
    }
}

#[test]
fn reduction_is_exact_at_its_edges() {
    for q in common::any_moduli() {
        let m = u128::from(q.value());
        for k in [0, 1, 2, m - 1, m, m + 1, u128::MAX / m, u128::MAX / m / 2] {
            for d in [0, 1] {
                for x in [
                    (k * m).wrapping_sub(d),
                    (k * m).wrapping_add(d),
                    u128::MAX - d,
                    (u128::from(u64::MAX)) - d,
                ] {
                    assert_eq!(u128::from(q.reduce_wide(x)), x % m);
                    assert_eq!(q.divide_wide(x), (x / m) as u64);
                    assert_eq!(u128::from(q.reduce(x as u64)), x as u64 as u128 % m);
                }
            }
        }
    }
}

#[test]
fn every_pair_at_small_moduli() {
    for m in [2u64, 3, 17, 97, 257] {
        let q = Modulus::new(m).unwrap();
        for a in 0..m {
            assert_eq!(q.neg(a), (m - a) % m);
            assert_eq!(q.centred(a).rem_euclid(m as i64) as u64, a);
            if a > 0 && [2, 3, 17, 97, 257].contains(&m) {
                assert_eq!(q.mul(q.inv(a).unwrap(), a), 1);
            }
            for b in 0..m {
                assert_eq!(q.add(a, b), (a + b) % m);
                assert_eq!(q.sub(a, b), (a + m - b) % m);
                assert_eq!(q.mul(a, b), a * b % m);
                assert_eq!(q.mul_shoup(a, q.shoup(b)), a * b % m);
            }
        }
        assert!(q.inv(0).is_err());
    }
}

#[test]
fn moduli_out_of_range_are_refused() {
    for q in [0, 1, 1 << 61, u64::MAX] {
        assert!(Modulus::new(q).is_err());
    }
    assert_eq!(Modulus::new((1 << 61) - 1).unwrap().bits(), 61);
    assert_eq!(Modulus::new(2).unwrap().bits(), 2);
    assert_eq!(Modulus::new(1 << 54).unwrap().bits(), 55);
}
