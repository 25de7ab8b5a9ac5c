// SPDX-License-Identifier: Apache-2.0
//! Tests which errors of the CKKS noise model count as independent.

use std::collections::BTreeSet;

use proptest::prelude::*;
use ringmill_schemes::ckks::noise::{Reach, Sources};
use ringmill_schemes::internals::Registry;

/// Returns the pairs of a source's number and a rotation, in the order in which `Debug` shows them.
fn pairs(of: &Sources) -> Vec<(u64, u64)> {
    let shown = format!("{of:?}");
    assert!(shown.contains("Pairs"), "few pairs: {shown}");
    let numbers = shown.split(|c: char| !c.is_ascii_digit());
    let numbers: Vec<u64> = numbers.filter_map(|number| number.parse().ok()).collect();
    let blocks = numbers.chunks(2).map(|block| (block[0], block[1]));
    let of_block = |(key, rotations): (u64, u64)| {
        let bits = (0..64).filter(move |bit| rotations >> bit & 1 == 1);
        bits.map(move |bit| (key >> 32, 64 * u64::from(key as u32) + bit))
    };
    blocks.flat_map(of_block).collect()
}

#[test]
fn a_sum_over_rotations_is_of_independent_errors() {
    let mut registry = Registry::new(16, 4);
    let mut x = registry.fresh(Reach::Ring);
    for steps in [8, 4, 2, 1] {
        let turned = registry.turned(&x, steps);
        assert!(x.disjoint(&turned));
        x = registry.union(&x, &turned).0;
    }
    // The sum has all rotations, so a further rotation has some in common with it.
    let turned = registry.turned(&x, 5);
    assert!(!x.disjoint(&turned));

    let encoded = registry.fresh(Reach::Vector);
    assert!(!encoded.disjoint(&registry.turned(&encoded, 4)));
    assert!(encoded.disjoint(&registry.turned(&encoded, -3)));
    assert!(encoded.disjoint(&x) && Sources::none().disjoint(&encoded));
}

#[test]
fn turned_pairs_stay_sorted_and_come_round() {
    for (ring, vector) in [(16, 4), (64, 64), (128, 2), (1024, 256)] {
        turned_pairs(ring, vector);
    }
}

fn turned_pairs(ring: usize, vector: usize) {
    let mut registry = Registry::new(ring, vector);
    let (a, b) = (registry.fresh(Reach::Ring), registry.fresh(Reach::Vector));
    let mut x = registry.union(&a, &b).0;
    for steps in [3, 14, -5, 1, 90, 700] {
        let turned = registry.turned(&x, steps);
        x = registry.union(&x, &turned).0;
    }
    let before = pairs(&x);
    assert!(before.is_sorted() && before.len() > 12);
    for steps in [-7, 0, 2, 15, 16, 63, 64, 65, 321, 1000] {
        let turned = registry.turned(&x, steps);
        let after = pairs(&turned);
        assert!(after.is_sorted());
        let lengths = [0, 1].map(|odd| if odd == 1 { vector } else { ring } as i64);
        let expected = before.iter().map(|&(source, rotation)| {
            let length = lengths[source as usize % 2];
            (source, (rotation as i64 + steps).rem_euclid(length) as u64)
        });
        assert_eq!(after, Vec::from_iter(BTreeSet::from_iter(expected)));
        assert_eq!(registry.turned(&turned, -steps), x);
    }
}

/// Returns a strategy for lists of a source's number and a rotation's number of slots.
fn turns() -> impl Strategy<Value = Vec<(usize, i64)>> {
    proptest::collection::vec((0..4usize, 0..256i64), 0..40)
}

proptest! {
    #[test]
    fn a_union_has_the_pairs_of_both_and_says_whether_any_is_common(a in turns(), b in turns()) {
        let mut registry = Registry::new(256, 16);
        let all: Vec<Sources> = (0..4).map(|_| registry.fresh(Reach::Ring)).collect();
        let [x, y] = [a, b].map(|turns| {
            turns.into_iter().fold(Sources::none(), |sum, (one, steps)| {
                let turned = registry.turned(&all[one], steps);
                registry.union(&sum, &turned).0
            })
        });
        let (sum, disjoint) = registry.union(&x, &y);
        let [x_pairs, y_pairs] = [&x, &y].map(|x| BTreeSet::from_iter(pairs(x)));
        let both: Vec<(u64, u64)> = x_pairs.union(&y_pairs).copied().collect();
        prop_assert_eq!(pairs(&sum), both);
        prop_assert_eq!(disjoint, x_pairs.is_disjoint(&y_pairs));
        prop_assert_eq!(disjoint, x.disjoint(&y));
    }
}

#[test]
fn what_is_alike_is_one_source() {
    let mut registry = Registry::new(16, 4);
    let [a, b, c] = [7, 7, 8].map(|like| registry.of(like, Reach::Ring));
    assert!(!a.disjoint(&b) && a.disjoint(&c));
    assert!(a.disjoint(&registry.turned(&b, 1)));
}

#[test]
fn past_the_budget_everything_is_correlated() {
    let mut registry = Registry::new(16, 16);
    registry.budget = 5;
    let (a, b) = (registry.fresh(Reach::Ring), registry.fresh(Reach::Ring));
    let both = registry.union(&a, &b).0;
    assert!(!both.disjoint(&a));
    let c = registry.fresh(Reach::Ring);
    let lost = registry.union(&both, &c).0;
    let lost = registry.union(&lost, &c).0;
    assert!(!lost.disjoint(&registry.fresh(Reach::Ring)));
    assert!(lost.disjoint(&Sources::none()));
}
