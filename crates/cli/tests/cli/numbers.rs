// SPDX-License-Identifier: Apache-2.0
//! Tests of ranges, bounds and random values, for whole and for real numbers.

use ringmill_cli::internals::{Room, bounded, random, range, unsaid};
use ringmill_compiler::Numbers;
use ringmill_compiler::ckks::InputRange;
use ringmill_compiler::exact::IntegerRange;
use ringmill_schemes::bfv::Bfv;
use ringmill_schemes::ckks::Ckks;

#[test]
fn random_whole_numbers_reach_both_ends_and_no_further() {
    let room = Room::new(200, None);
    for (low, high) in [
        (0, 1),
        (-3, 4),
        (i128::from(i64::MIN), i128::from(i64::MAX)),
    ] {
        let ends = IntegerRange::new(low, high);
        let of = |input, bound| random::<Bfv>(7, input, room, ends.as_ref(), bound).unwrap();
        let values = of(0, None);
        assert_eq!(values, of(0, Some(5.0)));
        assert_ne!(values, of(1, None));
        assert!(values.iter().all(|&x| (low..=high).contains(&x.into())));
        if high < 10 {
            assert!(values.iter().any(|&x| i128::from(x) == low));
            assert!(values.iter().any(|&x| i128::from(x) == high));
        }
    }
    let unsaid = random::<Bfv>(7, 0, Room::new(50, None), None, None).unwrap();
    assert!(unsaid.iter().all(|x| x.abs() <= 1));
}

#[test]
fn ranges_and_bounds_are_whole() {
    let whole = Numbers::Whole;
    assert_eq!(range::<Bfv>(" -5", "7"), IntegerRange::new(-5, 7));
    for (low, high) in [("0", "1.0"), ("", "1"), ("0", "inf"), ("7", "-5")] {
        assert_eq!(range::<Bfv>(low, high), None, "{low}:{high}");
    }
    assert_eq!(bounded::<Bfv>(9.0).ok(), IntegerRange::new(-9, 9));
    for bound in [0.5, 2f64.powi(53), f64::NAN, -1.0] {
        assert!(bounded::<Bfv>(bound).is_err(), "{bound}");
    }
    let refused = unsaid(&["x", "y"], whole, false);
    assert!(refused.is_err_and(|e| e.to_string().contains("--range x=LOW:HIGH")));
}

#[test]
fn ranges_of_real_numbers_are_finite_and_in_order() {
    let (lowest, highest) = (-1.0, 2.5);
    let real = InputRange::Real { lowest, highest };
    assert_eq!(range::<Ckks>(" -1", "2.5"), Some(real));
    for (low, high) in [("1", "-1"), ("0", "inf"), ("nan", "1"), ("", "1")] {
        assert_eq!(range::<Ckks>(low, high), None, "{low}:{high}");
    }
}
