// SPDX-License-Identifier: Apache-2.0
//! Tests the budgets for limbs that seeds and constants expand to.

use ringmill_cpu::internals::Expands;

#[test]
fn budgets_are_what_was_asked_for_or_what_memory_leaves() {
    let expands = Expands {
        all: 100,
        largest: 10,
        within: 20,
    };
    assert_eq!(expands.budget(Some(3), 0, 1000), Some(3));
    assert_eq!(expands.budget(None, 0, 100), None);
    assert_eq!(expands.budget(None, 60, 40), None);
    assert_eq!(expands.budget(None, 60, 39), Some(99));
    assert_eq!(expands.budget(None, 0, 10), Some(10));
    // There is no budget if memory does not hold even the largest limb. The run is then refused for
    // the whole amount.
    assert_eq!(expands.budget(None, 0, 9), None);
    assert_eq!(expands.under(None, 1), 100);
    assert_eq!(expands.under(Some(30), 1), 30);
    assert_eq!(expands.under(Some(30), 2), 40);
    assert_eq!(expands.under(Some(30), 8), 100);
    let more = expands.and_constants((50, 15));
    assert_eq!((more.under(None, 1), more.largest), (150, 15));
    assert_eq!(more.under(Some(5), 1), 35);
}
