// SPDX-License-Identifier: Apache-2.0
//! The pipelined unit of mixed-radix digits: its cycles, and the sources that it takes at most.

use ringmill_machines::basext::{BasextError, RADIX_MAX_L as MAX_L, Radix, Shape, Word};

/// Checks counts by hand for N = 256 and TP = 4. The smaller unit has three stages of 8 cycles.
#[test]
fn cycles_of_small_jobs() {
    let of = |max_l| Radix::new(Shape::new(Word::Bits32, 4, 8..=9, max_l, 3).unwrap());
    let unit = of(3).unwrap();
    assert_eq!(unit.cells(), 6);
    assert_eq!(unit.cycles(3, 2, 8, 1), 3 * 64 + 2 * 256 + 24 + 5);
    assert_eq!(unit.cycles(1, 3, 9, 2), 2 * (128 + 3 * 512) + 24 + 5);
    assert!(of(MAX_L).is_ok());
}

#[test]
fn many_sources_are_refused() {
    let shape = Shape::new(Word::Bits64, 1, 8..=8, MAX_L + 1, 1).unwrap();
    let error = Radix::new(shape).unwrap_err();
    assert!(
        matches!(error, BasextError::Shape { got: 18, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("takes 1 to 17"), "{error}");
}
