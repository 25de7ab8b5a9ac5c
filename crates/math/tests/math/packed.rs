// SPDX-License-Identifier: Apache-2.0
//! Tests packed integers against a string of bits, for every width and for counts that end within a byte.

use ringmill_math::packed::{pack, packed_bytes, unpack};

/// Returns a number that follows another one in a fixed sequence without a pattern.
fn next(x: u64) -> u64 {
    x.wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407)
}

#[test]
fn packed_integers_are_a_string_of_bits() {
    let mut x = 1;
    for bits in 0..=64 {
        for count in (0..20).chain([63, 64, 65, 128]) {
            let words: Vec<u64> = (0..count)
                .map(|_| {
                    x = next(x);
                    u64::MAX.checked_shr(64 - bits).unwrap_or(0) & (x ^ x >> 32)
                })
                .collect();
            let mut packed = vec![7];
            pack(bits, &words, &mut packed);
            assert_eq!(packed.remove(0), 7);
            assert_eq!(packed.len(), packed_bytes(count, bits));
            let bit = |at: usize| u64::from(packed[at / 8] >> (at % 8) & 1);
            for (i, &word) in words.iter().enumerate() {
                let from = i * bits as usize;
                let read = (0..bits as usize).fold(0, |sum, k| sum | bit(from + k) << k);
                assert_eq!(read, word, "{bits} bits, integer {i} of {count}");
            }
            // The last byte ends in zeros.
            assert!((count * bits as usize..8 * packed.len()).all(|at| bit(at) == 0));
            let mut again = vec![u64::MAX; count];
            unpack(bits, &packed, &mut again);
            assert_eq!(again, words, "{bits} bits");
        }
    }
}

#[test]
fn missing_bytes_are_zeros_and_sizes_do_not_wrap() {
    let mut words = [1; 3];
    unpack(12, &[0xff], &mut words);
    assert_eq!(words, [0xff, 0, 0]);
    assert_eq!(packed_bytes(usize::MAX, 64), usize::MAX);
    assert_eq!(packed_bytes(9, 3), 4);
}
