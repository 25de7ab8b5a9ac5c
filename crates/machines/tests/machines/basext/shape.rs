// SPDX-License-Identifier: Apache-2.0
//! Ranges of a shape's parameters.

use ringmill_machines::basext::{Shape, Word};

#[test]
fn ranges() {
    let of = |word, lanes, low, high, l, k| Shape::new(word, lanes, low..=high, l, k).is_ok();
    assert!(of(Word::Bits32, 64, 8, 16, 64, 64));
    assert!(of(Word::Bits64, 32, 16, 16, 1, 1));
    assert!(!of(Word::Bits64, 64, 8, 16, 64, 64));
    assert!(!of(Word::Bits32, 3, 8, 16, 64, 64));
    assert!(!of(Word::Bits32, 0, 8, 16, 64, 64));
    assert!(!of(Word::Bits32, 1, 7, 16, 64, 64));
    assert!(!of(Word::Bits32, 1, 8, 17, 64, 64));
    assert!(!of(Word::Bits32, 1, 9, 8, 64, 64));
    assert!(!of(Word::Bits32, 1, 8, 8, 0, 64));
    assert!(!of(Word::Bits32, 1, 8, 8, 64, 65));
}
