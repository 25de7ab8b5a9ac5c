// SPDX-License-Identifier: Apache-2.0
//! Tests functions on the bits of an index.

use ringmill_math::bits::{bit_reverse, exact_log2};

#[test]
fn reversal_is_an_involution_and_drops_high_bits() {
    for w in 0..12u32 {
        for i in 0..1usize << w {
            assert_eq!(bit_reverse(bit_reverse(i, w), w), i);
            assert_eq!(bit_reverse(i | 1 << 20, w), bit_reverse(i, w));
        }
    }
    assert_eq!(exact_log2(1 << 14), Some(14));
    assert_eq!(exact_log2(12), None);
    assert_eq!(exact_log2(0), None);
}
