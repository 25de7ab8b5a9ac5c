// SPDX-License-Identifier: Apache-2.0
//! Sizes of what files hold. One that is beyond all memory stays at the largest number, which no file has: it is refused as too long,
//! and never wraps to a short one.
#![deny(clippy::arithmetic_side_effects)]

/// Bytes of so many words of 64 bits.
pub fn of_words(count: usize) -> usize {
    count.saturating_mul(8)
}

/// The sum of the parts.
pub fn sum<const K: usize>(parts: [usize; K]) -> usize {
    parts.into_iter().fold(0, usize::saturating_add)
}
