// SPDX-License-Identifier: Apache-2.0
//! Cycles of the folded unit.

use ringmill_machines::basext::{Extension, Shape, Word, cycles};

/// Checks the rows of Tables 4.7 to 4.9: a target takes (l + 2) N / TP cycles, and less than 64 to fill the pipeline.
#[test]
fn the_papers_rows() {
    for (log_n, l) in [(16, 17), (14, 7), (12, 30)] {
        for (word, lanes) in [(Word::Bits32, [1, 16, 64]), (Word::Bits64, [1, 8, 32])] {
            for lanes in lanes {
                let shape = Shape::new(word, lanes, 8..=log_n, l, 1).unwrap();
                let printed = (l as u64 + 2) * shape.beats(log_n);
                let fill = cycles(shape, Extension::Exact, l, 1, log_n) - printed;
                assert!(fill < 64, "{shape:?}: {fill}");
            }
        }
    }
}
