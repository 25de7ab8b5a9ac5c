// SPDX-License-Identifier: Apache-2.0
//! Tests numbers that are stored for each slot.

use ringmill_schemes::ckks::Slots;

#[test]
fn periods_meet_and_equal_numbers_are_one() {
    let short = Slots::each(vec![1.0, 2.0]);
    let long = Slots::each(vec![10.0, 20.0, 30.0, 40.0]);
    let sum = short.plus(&long);
    assert_eq!(sum, Slots::each(vec![11.0, 22.0, 31.0, 42.0]));
    assert_eq!(sum.rotated(1).at(0), 22.0);
    assert_eq!(sum.rotated(-1).at(0), 42.0);
    assert_eq!(Slots::each(vec![3.0; 8]), Slots::All(3.0));
    assert_eq!(long.times(&Slots::ZERO), Slots::ZERO);
    assert_eq!(long.largest(2), 20.0);
    assert_eq!(Slots::each(Vec::new()).at(5), 0.0);
}
