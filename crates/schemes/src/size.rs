// SPDX-License-Identifier: Apache-2.0
//! Computes sizes in bytes of the contents of files. A size beyond all memory becomes the largest number. No file has
//! that size, so it is refused as too long and never wraps to a short one.
#![deny(clippy::arithmetic_side_effects)]

/// Returns the number of bytes of `count` words of 64 bits, or the largest number if it would overflow.
pub fn of_words(count: usize) -> usize {
    count.saturating_mul(8)
}

/// Returns the sum of the sizes `parts`, or the largest number if it would overflow.
pub fn sum<const K: usize>(parts: [usize; K]) -> usize {
    parts.into_iter().fold(0, usize::saturating_add)
}
