// SPDX-License-Identifier: Apache-2.0
//! Functions on the bits of an index, such as their reversal.

/// Returns `i` with its low `width` bits in reversed order; higher bits are dropped. `width` 0 gives 0; widths
/// over 64 act as 64.
///
/// ```
/// assert_eq!(ringmill_math::bits::bit_reverse(0b001, 3), 0b100);
/// ```
#[inline]
pub fn bit_reverse(i: usize, width: u32) -> usize {
    match width {
        0 => 0,
        w if w >= usize::BITS => i.reverse_bits(),
        w => i.reverse_bits() >> (usize::BITS - w),
    }
}

/// Returns the base-2 logarithm of `n`, or `None` if `n` is no power of two.
#[inline]
pub fn exact_log2(n: usize) -> Option<u32> {
    n.is_power_of_two().then(|| n.trailing_zeros())
}
