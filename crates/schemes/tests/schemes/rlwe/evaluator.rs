// SPDX-License-Identifier: Apache-2.0
//! Tests the decomposition of a rotation into rotations by powers of two.

use ringmill_schemes::internals::powers_of_two;

#[test]
fn steps_are_sums_of_few_powers_of_two() {
    assert!(powers_of_two(0).is_empty());
    assert_eq!(powers_of_two(7), [-1, 8]);
    assert_eq!(powers_of_two(-7), [1, -8]);
    assert_eq!(powers_of_two(11), [-1, -4, 16]);
    for step in (-300..300).chain([(1 << 40) - 1]) {
        let powers = powers_of_two(step);
        assert_eq!(powers.iter().sum::<i64>(), step);
        let adjacent = powers
            .windows(2)
            .any(|w| w[1].unsigned_abs() < 4 * w[0].unsigned_abs());
        assert!(!adjacent, "{step}: {powers:?}");
    }
}
