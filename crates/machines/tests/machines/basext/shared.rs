// SPDX-License-Identifier: Apache-2.0
//! The shared unit: its multiplier-cycles, its rows and its batches.

use ringmill_machines::basext::{Extension, Shape, Shared, Word};

fn unit(l: usize, k: usize, batch: usize) -> Shared {
    let shape = Shape::new(Word::Bits64, 1, 8..=12, l, k).unwrap();
    Shared::new(shape, batch).unwrap()
}

/// Checks that in a stream the multiplier-cycles are at most 1.15 times the products. This holds for every l = k from 7
/// on with a batch of all targets, and for the batches of two and three rounds that are used.
#[test]
fn multiplier_cycles_are_near_their_floor() {
    let rounds_of_one = (7..=64).map(|l| (l, l));
    for (l, batch) in rounds_of_one.chain([(30, 15), (30, 10)]) {
        let (taken, floor) = unit(l, l, batch).multiplier_cycles(l, l, 100);
        assert!(
            taken <= 1.15 * floor,
            "l = k = {l}, {batch}: {taken} of {floor}"
        );
        assert!(taken >= floor, "l = k = {l}, {batch}: {taken} of {floor}");
    }
}

/// Checks counts of rows by hand.
#[test]
fn rows_of_small_jobs() {
    let unit = unit(5, 3, 2);
    // There are two rounds of six rows, and the last has one target.
    assert_eq!(unit.rows(Extension::Exact, 5, 3, 1), 12);
    assert_eq!(unit.rows(Extension::Fast, 5, 3, 1), 10);
    // There is one round of six rows, and one row more for the second target.
    assert_eq!(unit.rows(Extension::Exact, 5, 2, 1), 7);
    assert_eq!(unit.rows(Extension::Exact, 5, 2, 4), 25);
    // With one source a round of two targets has two rows, in a fast extension, too.
    assert_eq!(unit.rows(Extension::Exact, 1, 3, 1), 4);
    assert_eq!(unit.rows(Extension::Fast, 1, 3, 1), 4);
    assert_eq!(unit.rows(Extension::Fast, 1, 1, 1), 2);
}

#[test]
fn batches_out_of_range() {
    let shape = Shape::new(Word::Bits32, 1, 8..=8, 5, 3).unwrap();
    for (batch, fits) in [(0, false), (1, true), (3, true), (4, false)] {
        assert_eq!(Shared::new(shape, batch).is_ok(), fits, "{batch}");
    }
}
