// SPDX-License-Identifier: Apache-2.0
//! Tests the probability of failure of bootstrapping, and other numbers that it needs, against their definitions.

use ringmill_schemes::bgv::bootstrap::log2_chance;
use ringmill_schemes::bgv::{PlainModulus, PrimePower};

#[test]
fn the_bound_is_above_what_happens_and_near_it() {
    // 2^20 sums of 5 and of 17 numbers, from a generator that gives the same numbers on every run.
    let mut state = 1u64;
    let mut uniform = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    for (terms, bound) in [(5, 1.5), (17, 3.0), (17, 3.6)] {
        let tries = 1 << 20;
        let sum = |_| (0..terms).map(|_| uniform()).sum::<f64>().abs() >= bound;
        let hits = (0..tries).map(sum).filter(|&hit| hit).count();
        let found = (hits as f64 / tries as f64).log2();
        let said = log2_chance(1.0, terms, 1, bound);
        assert!(
            said >= found - 0.1 && said <= found + 4.5,
            "{terms} {bound}: {found} {said}"
        );
    }
    assert_eq!(log2_chance(1.0, 3, 10, 0.1), 0.0);
    assert!((log2_chance(2.0, 9, 64, 6.0) - log2_chance(1.0, 9, 64, 3.0)).abs() < 1e-6);
}

#[test]
fn powers_are_told_from_other_integers() {
    let of = |t: u64| PrimePower::of(PlainModulus::new(t).unwrap());
    for t in 2..3000u64 {
        let mut p = (2..=t).find(|p| t.is_multiple_of(*p)).unwrap();
        let (mut power, mut exponent) = (1, 0);
        while power < t {
            (power, exponent) = (power * p, exponent + 1);
        }
        if power != t || p == 2 {
            p = 0;
        }
        let expected = (p > 0).then_some((p, exponent));
        assert_eq!(of(t).map(|x| (x.prime(), x.exponent())), expected, "{t}");
    }
    for (p, r) in [
        (3u64, 37u32),
        (5, 25),
        (127, 8),
        (65537, 3),
        ((1 << 29) - 3, 2),
        ((1 << 59) - 55, 1),
    ] {
        assert_eq!(of(p.pow(r)), Some(PrimePower::new(p, r).unwrap()));
        assert_eq!(of(p.pow(r) - 1), None);
    }
    assert!(
        PrimePower::new(3, 38).is_err()
            && PrimePower::new(3, 0).is_err()
            && PrimePower::new(1, 3).is_err()
    );
    assert!(PrimePower::new(3, 99).is_err() && PrimePower::new(0, 1).is_err());
}
