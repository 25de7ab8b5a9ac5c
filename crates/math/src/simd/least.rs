// SPDX-License-Identifier: Apache-2.0
//! Computes the lesser of two words by a comparison of doubles.

use std::arch::asm;
use std::arch::x86_64::*;

/// Returns x - m in each lane with x >= m, else x, for x < 2 m <= 2^52. The result is that of
/// [`super::correct`], but from the unit that adds doubles.
///
/// The bits of doubles that are at least 0 compare as integers do. So if x - m >= 0, it is the
/// lesser of x and x - m as a double. A negative x - m > -2^52 has the bits of a double that is no
/// number, for which the instruction returns its second operand, x.
///
/// # Safety
/// The processor must have AVX-512 F, and [`compares_words`] must return true on this thread.
#[inline(always)]
pub unsafe fn lesser(x: __m512i, m: __m512i) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe {
        let difference = _mm512_castsi512_pd(_mm512_sub_epi64(x, m));
        _mm512_castpd_si512(_mm512_min_pd(difference, _mm512_castsi512_pd(x)))
    }
}

/// The bit of the vector units' control register that makes denormal doubles count as zeros.
const DENORMALS_ARE_ZEROS: u32 = 1 << 6;
/// The bits of the vector units' control register that mask the signals for denormal operands and
/// for operands that are no numbers.
const NO_SIGNALS: u32 = 0b11 << 7;

/// Returns whether this thread compares words as [`lesser`] needs it. Words below 2^52 are denormal
/// doubles. A host program may have set denormal doubles to count as zeros, or to raise signals.
/// Libraries built for fast arithmetic do so when they are loaded.
#[inline]
pub fn compares_words() -> bool {
    let mut control = 0u32;
    // SAFETY: stores 32 bits to a variable of 32 bits.
    unsafe {
        asm!("stmxcsr [{}]", in(reg) &raw mut control, options(nostack, preserves_flags));
    }
    control & (DENORMALS_ARE_ZEROS | NO_SIGNALS) == NO_SIGNALS
}
