// SPDX-License-Identifier: Apache-2.0
//! Tests sums of errors that reach an output on several paths, with their signs.

use ringmill_schemes::ckks::noise::Reach;
use ringmill_schemes::ckks::{Factor, Slots};
use ringmill_schemes::internals::{Errors, Own, Paths};

/// Returns the variance of g e + h f in the first slot, for errors e and f of variance 1. If `same` is set, f is e.
/// `like` has the number of each error that possibly correlated errors share.
fn variance([g, h]: [f64; 2], same: bool, like: [Option<u64>; 2]) -> f64 {
    let mut paths = Paths::new(8, 8);
    let [e, f] = like.map(|like| {
        let own = Own::Random {
            variance: [1.0, 0.0, 0.0],
            reach: Reach::Ring,
            like,
        };
        paths.add(own, Errors::none()).unwrap()
    });
    let f = if same { e.clone() } else { f };
    let [left, right] = [(e, g), (f, h)].map(|(e, by)| paths.times(&e, &Factor::exact(by)));
    let sum = paths.sum(left, right);
    let reached = paths.reached(&sum, &Slots::All(1.0)).unwrap();
    let [v, ..] = reached.variance;
    v.at(0)
}

#[test]
fn the_same_errors_meet_with_signs_alike_ones_at_worst_and_others_by_variance() {
    assert_eq!(variance([3.0, -2.0], true, [None, None]), 1.0);
    assert_eq!(variance([3.0, -2.0], false, [Some(5), Some(5)]), 25.0);
    assert_eq!(variance([3.0, -2.0], false, [Some(5), Some(6)]), 13.0);
    assert_eq!(variance([3.0, -2.0], false, [None, None]), 13.0);
}

#[test]
fn turned_errors_are_of_other_slots() {
    let mut paths = Paths::new(8, 8);
    let own = Own::Random {
        variance: [1.0, 0.0, 0.0],
        reach: Reach::Ring,
        like: Some(1),
    };
    let e = paths.add(own, Errors::none()).unwrap();
    let there = paths.rotated(&e, 3);
    let back = paths.rotated(&there, -3);
    let conjugate = paths.conjugated(&back);
    let there_and_back = paths.conjugated(&conjugate);
    let once = paths.rotated(&e, 1);
    let sum = paths.sum(e, once);
    let sum = paths.sum(sum, there_and_back);
    let reached = paths.reached(&sum, &Slots::All(1.0)).unwrap();
    let [v, ..] = reached.variance;
    assert_eq!(v.at(0), 5.0);
}

/// An error and its conjugate have equal magnitudes and different phases, so the magnitudes of their factors are added.
#[test]
fn an_error_and_its_conjugate_meet_at_worst() {
    let variance = |conjugations: usize| {
        let mut paths = Paths::new(8, 8);
        let own = Own::Random {
            variance: [1.0, 0.0, 0.0],
            reach: Reach::Ring,
            like: None,
        };
        let e = paths.add(own, Errors::none()).unwrap();
        let mut other = paths.times(&e, &Factor::exact(-2.0));
        for _ in 0..conjugations {
            other = paths.conjugated(&other);
        }
        let triple = paths.times(&e, &Factor::exact(3.0));
        let sum = paths.sum(triple, other);
        let reached = paths.reached(&sum, &Slots::All(1.0)).unwrap();
        let [v, ..] = reached.variance;
        v.at(0)
    };
    assert_eq!([0, 1, 2].map(variance), [1.0, 25.0, 1.0]);
}

#[test]
fn an_operation_without_an_error_of_its_own_is_no_step() {
    let mut paths = Paths::new(8, 8);
    let own = Own::Fixed(Slots::All(0.5));
    let e = paths.add(own, Errors::none()).unwrap();
    let after = paths.add(Own::Nothing, e.clone()).unwrap();
    assert_eq!(format!("{after:?}"), format!("{e:?}"));
}
