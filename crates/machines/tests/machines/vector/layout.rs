// SPDX-License-Identifier: Apache-2.0
//! The layout of limbs: chunks are read and written without conflicts, and automorphisms move each value to its place.

use std::collections::HashSet;

use ringmill_isa::vector::Shape;
use ringmill_machines::vector::layout::{Layout, Orientation};

fn shape(log_n: u8, log_radix: u8, log_lanes: u8) -> Shape {
    Shape {
        log_n,
        log_radix,
        log_lanes,
        chunks: 64,
        registers: 16,
        distant: 64,
    }
}

fn free(layout: Layout, words: impl Iterator<Item = (usize, usize)>) {
    let mut taken = HashSet::new();
    for (row, column) in words {
        let word = layout.word(row, column);
        assert!(taken.insert((word.bank, word.sub_bank)), "{row} {column}");
    }
    assert_eq!(taken.len(), layout.lanes());
}

/// Checks all chunks of many layouts, and the words that automorphisms write at once, for conflicts.
#[test]
fn every_access_is_without_conflict() {
    let sizes = [(2, 2), (2, 3), (3, 4), (4, 5), (4, 6), (4, 7), (8, 11)];
    let rings = |(radix, lanes): (u8, u8)| {
        (lanes.max(radix + 1)..=2 * radix).map(move |n| (n, radix, lanes))
    };
    for (log_n, log_radix, log_lanes) in sizes.into_iter().flat_map(rings) {
        let layout = Layout::new(shape(log_n, log_radix, log_lanes));
        let columns = layout.columns();
        let chunks = (1usize << log_n) / layout.lanes();
        let mut places = HashSet::new();
        for row in 0..layout.rows() {
            for column in 0..columns {
                places.insert(layout.word(row, column));
            }
        }
        assert_eq!(places.len(), 1 << log_n);
        for chunk in 0..chunks {
            for how in [Orientation::Rows, Orientation::Columns] {
                let words = layout.words(how, chunk);
                free(layout, words.iter().map(|at| (at / columns, at % columns)));
            }
            let order = 2u64 << log_n;
            let all = (1..order).step_by(if log_radix == 8 { 7346 } else { 2 });
            for g in all.map(|g| g | 1) {
                let words = layout.words(Orientation::Rows, chunk);
                let turned = words
                    .iter()
                    .map(|at| layout.turned(g, at / columns, at % columns));
                free(layout, turned);
            }
        }
    }
}

/// Compares every automorphism of small rings with its definition on exponents of psi.
#[test]
fn every_automorphism_is_what_it_says() {
    for (log_n, log_radix, log_lanes) in [(4, 2, 3), (6, 3, 4), (8, 4, 5), (7, 4, 6)] {
        let layout = Layout::new(shape(log_n, log_radix, log_lanes));
        let n = 1u64 << log_n;
        for g in (1..2 * n).step_by(2) {
            let mut seen = HashSet::new();
            for k in 0..n {
                // The result at psi^(2k+1) comes from psi^(g(2k+1)).
                let from = (g * (2 * k + 1) % (2 * n) - 1) / 2;
                let (source, target) =
                    (layout.of_value(from as usize), layout.of_value(k as usize));
                let columns = layout.columns();
                let (row, column) = layout.turned(g, source / columns, source % columns);
                assert_eq!(row * columns + column, target);
                seen.insert(target);
            }
            assert_eq!(seen.len() as u64, n);
        }
    }
}
