// SPDX-License-Identifier: Apache-2.0
//! Tests BGV's correction factors, and the integers that make two of them equal.

use ringmill_math::Modulus;
use ringmill_schemes::bgv::{Balance, Factor};

#[test]
fn balanced_factors_agree_and_are_small() {
    for t in [65537u64, 97, 1_032_193, (1 << 59) - 55, 9, 16] {
        let t = Modulus::new(t).unwrap();
        let mut state = 7u64;
        let mut unit = || {
            loop {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(99);
                if let Ok(factor) = Factor::new((state >> 3) % t.value(), t) {
                    return factor;
                }
            }
        };
        for _ in 0..200 {
            let (a, b) = (unit(), unit());
            let Balance { by: [x, y], factor } = Factor::balance(a, b, t).unwrap();
            assert_eq!(t.mul(x, a.value()), factor.value());
            assert_eq!(t.mul(y, b.value()), factor.value());
            assert!(Factor::new(factor.value(), t).is_ok());
            let size = |x: u64| u128::from(x.min(t.neg(x)));
            let ratio = t.mul(a.inverse(t).unwrap(), b.value());
            assert!(size(x) + size(y) <= size(ratio) + 1);
            // For a prime t every pair of the algorithm has units, and one pair has both numbers below the square root
            // of t.
            if t.value() > 16 {
                let sum = size(x) + size(y);
                assert!(sum * sum <= 4 * u128::from(t.value()), "{x} {y}");
            }
        }
    }
}

#[test]
fn a_phase_that_dominates_is_left_alone() {
    let t = Modulus::new(1_032_193).unwrap();
    let (a, b) = (Factor::unchecked(12_345), Factor::unchecked(678_901));
    for (log2, left) in [([60.0, 20.0], 0), ([20.0, 60.0], 1)] {
        let balance = Factor::balance_phases(a, b, t, log2).unwrap();
        let by = balance.by[left];
        assert_eq!(by.min(t.neg(by)), 1);
        assert_eq!(t.mul(balance.by[1], b.value()), balance.factor.value());
    }
    let even = Factor::balance_phases(a, b, t, [30.0, 30.0]).unwrap();
    assert_eq!(even, Factor::balance(a, b, t).unwrap());
    let same = Factor::balance_phases(a, a, t, [9.0, 2.0]).unwrap();
    assert_eq!((same.by, same.factor), ([1, 1], a));
}

#[test]
fn equal_factors_need_nothing() {
    let t = Modulus::new(97).unwrap();
    let a = Factor::new(5, t).unwrap();
    let balance = Factor::balance(a, a, t).unwrap();
    assert_eq!((balance.by, balance.factor), ([1, 1], a));
    assert!(Factor::new(0, t).is_err() && Factor::new(97, t).is_err());
    assert!(Factor::new(6, Modulus::new(9).unwrap()).is_err());
}
