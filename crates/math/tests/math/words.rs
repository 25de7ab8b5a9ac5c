// SPDX-License-Identifier: Apache-2.0
//! Tests arithmetic modulo powers of two against wide integers.

use crate::common;

use num_bigint::BigUint;
use ringmill_math::kernels::{self, words};
use ringmill_math::{AnyModulus, MathError, Modulus, WordModulus};

const N: usize = 32;

fn limb(q: WordModulus, seed: u64) -> Vec<u64> {
    let mut limb: Vec<u64> = common::numbers(seed)
        .take(N)
        .map(|x| x & q.mask())
        .collect();
    limb[..3].copy_from_slice(&[0, q.mask(), q.mask() / 2 + 1]);
    limb
}

#[test]
fn every_word_operation() {
    for bits in [1, 2, 32, 60, 61, 63, 64] {
        let q = WordModulus::new(bits).unwrap();
        assert_eq!(q.bits(), bits);
        let m = 1u128 << bits;
        let (a, b) = (limb(q, 1), limb(q, 2));
        let w = b[7];
        let check = |out: &[u64], f: &dyn Fn(u128, u128) -> u128| {
            for (i, &x) in out.iter().enumerate() {
                assert_eq!(
                    u128::from(x),
                    f(a[i].into(), b[i].into()) % m,
                    "2^{bits}, {i}"
                );
            }
        };
        let mut out = vec![7; N];
        words::add(q, &mut out, &a, &b).unwrap();
        check(&out, &|a, b| a + b);
        words::sub(q, &mut out, &a, &b).unwrap();
        check(&out, &|a, b| a + m - b);
        words::neg(q, &mut out, &a).unwrap();
        check(&out, &|a, _| m - a);
        words::mul_scalar(q, &mut out, &a, w).unwrap();
        check(&out, &|a, _| a * u128::from(w));
        words::add_scalar(q, &mut out, &a, w).unwrap();
        check(&out, &|a, _| a + u128::from(w));
        words::add_scalar_assign(q, &mut out, w);
        check(&out, &|a, _| a + 2 * u128::from(w));
        words::reduce(q.into(), &mut out, &[u64::MAX; N]).unwrap();
        check(&out, &|_, _| u64::MAX.into());
        let p = Modulus::new((1 << 61) - 1).unwrap();
        words::reduce(p.into(), &mut out, &a).unwrap();
        let expected: Vec<u64> = a.iter().map(|a| a % p.value()).collect();
        assert_eq!(out, expected);
        assert!(matches!(
            words::add(q, &mut out, &a[1..], &b),
            Err(MathError::Length { .. })
        ));
        // A `Modulus` of the same value, if there is one, gives the same results.
        if bits < 61 {
            let p = Modulus::new(1 << bits).unwrap();
            let mut other = vec![0; N];
            for g in [1, 3, 2 * N as u64 - 1] {
                words::auto_coeff(q, g, &mut out, &a).unwrap();
                kernels::auto_coeff(p, g, &mut other, &a).unwrap();
                assert_eq!(out, other);
            }
        }
        let any = AnyModulus::from(q);
        assert_eq!(any.to_string(), format!("2^{bits}"));
        let big = BigUint::from(u128::MAX) * 3u32 + 5u32;
        assert_eq!(BigUint::from(any.reduce_big(&big)), big % BigUint::from(m));
        assert_eq!(
            u128::from(any.mul(a[5], w)),
            u128::from(a[5]) * u128::from(w) % m
        );
        assert_eq!(u128::from(any.neg(a[5])), (m - u128::from(a[5])) % m);
        assert!(any.below_61().is_err());
    }
    for bits in [0, 65, u32::MAX] {
        assert!(matches!(
            WordModulus::new(bits),
            Err(MathError::OutOfRange { .. })
        ));
    }
}

#[test]
fn an_automorphism_of_words_is_undone_by_its_inverse() {
    let q = WordModulus::new(64).unwrap();
    let a = limb(q, 9);
    let (mut there, mut back) = (vec![0; N], vec![0; N]);
    // 3 * 43 = 1 mod 64.
    words::auto_coeff(q, 3, &mut there, &a).unwrap();
    words::auto_coeff(q, 43, &mut back, &there).unwrap();
    assert_eq!(back, a);
    // x^31 becomes x^93 = x^29 (x^64 = 1).
    assert_eq!(there[29], a[31]);
    // x^11 becomes x^33 = -x.
    assert_eq!(there[1], a[11].wrapping_neg());
}
