// SPDX-License-Identifier: Apache-2.0
//! Prefetches memory that a loop reads soon. A processor prefetches by itself along a few streams within a page;
//! operations on blocks of many limbs have more streams and longer steps.

/// The bytes of a cache line.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// The number of words of a limb from which on prefetching gains. Shorter limbs are in the
/// second-level cache already, so that prefetching them only costs time.
pub const FAR: usize = 1 << 15;

/// Prefetches the cache lines that hold `words`, which a loop reads soon.
#[inline]
pub fn ahead<T>(words: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for line in words.chunks(LINE / size_of::<T>().max(1)) {
        // SAFETY: a hint on an address, by an instruction that every x86-64 processor has.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = words;
}
