// SPDX-License-Identifier: Apache-2.0
//! Each polynomial that tests for zero is 1 at zero, and 0 at all other values of the range.

use ringmill_compiler::exact::IntegerRange;
use ringmill_compiler::internals::Way;
use ringmill_math::Modulus;

/// Returns the value at x of the polynomial that tests for zero, modulo `q`.
fn value(way: &Way, x: i128, q: Modulus) -> u64 {
    let x = x.rem_euclid(q.value().into()) as u64;
    let at = |c: &[u64], x: u64| c.iter().rev().fold(0, |sum, &c| q.add(q.mul(sum, x), c));
    match way {
        Way::Power => q.sub(1, q.pow(x, q.value() - 1)),
        Way::Roots(c) => at(c, x),
        Way::SquaredRoots(c) => at(c, q.mul(x, x)),
    }
}

#[test]
fn every_way_is_one_at_zero_alone() {
    for t in [65_537u64, 786_433, 1_032_193] {
        let q = Modulus::new(t).unwrap();
        for (low, high) in [
            (0, 1),
            (-1, 1),
            (-1, 0),
            (0, 15),
            (-15, 15),
            (-3, 200),
            (-255, 255),
            (5, 9),
            (-9, -5),
            (0, 0),
            (-1025, 1025),
            (-30_000, 30_000),
        ] {
            let range = IntegerRange::new(low, high).unwrap();
            let ways = [
                Some(Way::Power),
                Way::by_roots(range, q).map(|(way, ..)| way),
            ];
            for way in ways.iter().flatten() {
                for x in low..=high {
                    let expected = u64::from(x == 0);
                    assert_eq!(value(way, x, q), expected, "{x} in {range} modulo {t}");
                }
            }
        }
    }
}

#[test]
fn short_ranges_have_polynomials_and_long_ones_powers() {
    let q = Modulus::new(65_537).unwrap();
    let way = |low, high| Way::cheapest(IntegerRange::new(low, high).unwrap(), q);
    assert!(matches!(way(-1, 1), Way::SquaredRoots(c) if c == [1, 65_536]));
    assert!(matches!(way(0, 1), Way::Roots(c) if c == [1, 65_536]));
    assert!(matches!(way(-255, 255), Way::SquaredRoots(c) if c.len() == 256));
    assert_eq!(way(-1000, 1000), Way::Power);
    assert_eq!(way(-32_768, 32_768), Way::Power);
}
