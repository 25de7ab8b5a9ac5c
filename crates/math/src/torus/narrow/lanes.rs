// SPDX-License-Identifier: Apache-2.0
//! Operations on vectors of 32-bit words, for AVX2 and for AVX-512, so that one loop serves both.
//!
//! Everything is `inline(always)` and `unsafe`: the loop around it must enable the vector's features.

use std::arch::x86_64::*;

use super::key::BLOCK;

/// A vector of words of 32 bits. It also serves as a vector of half as many lanes of 64 bits, whose
/// low halves are the even words and whose high halves are the odd words.
pub(super) trait Vector: Copy {
    /// The number of words in one vector.
    const LANES: usize;

    /// Loads a vector of words of 32 bits from memory.
    ///
    /// # Safety
    /// p must be readable for a vector. The processor must have the vector's features, as for all
    /// functions of this trait.
    unsafe fn load(p: *const u32) -> Self;
    /// Stores a vector of words of 32 bits to memory.
    ///
    /// # Safety
    /// p must be writable for a vector.
    unsafe fn store(p: *mut u32, x: Self);
    unsafe fn words(x: u32) -> Self;
    unsafe fn doubles(x: u64) -> Self;
    unsafe fn add_words(self, y: Self) -> Self;
    unsafe fn add(self, y: Self) -> Self;
    /// Returns the 64-bit products of the even words of two vectors, as unsigned numbers.
    unsafe fn mul(self, y: Self) -> Self;
    /// Returns the 64-bit products of the even words of two vectors, as signed numbers.
    unsafe fn mul_signed(self, y: Self) -> Self;
    /// Returns the odd words, moved to the even places below them. The odd places become 0.
    unsafe fn odd(self) -> Self;
    /// Returns a vector with the odd words of `odd` at the odd places, and the odd words of `even`
    /// at the even places below them.
    unsafe fn join_odd(even: Self, odd: Self) -> Self;
    /// Returns x - m in each word with x >= m, else x.
    unsafe fn correct(self, m: Self) -> Self;
    /// Returns a vector in which the word at place i is word number `index[i]` modulo 16 of the
    /// sixteen words at p.
    ///
    /// # Safety
    /// p must be readable for sixteen words.
    unsafe fn pick(p: *const u32, index: Self) -> Self;
}

impl Vector for __m512i {
    const LANES: usize = 16;

    #[inline(always)]
    unsafe fn load(p: *const u32) -> Self {
        // SAFETY: the caller's promise.
        unsafe { _mm512_loadu_si512(p.cast()) }
    }

    #[inline(always)]
    unsafe fn store(p: *mut u32, x: Self) {
        // SAFETY: the caller's promise.
        unsafe { _mm512_storeu_si512(p.cast(), x) }
    }

    #[inline(always)]
    unsafe fn words(x: u32) -> Self {
        // SAFETY: the caller's promise.
        unsafe { _mm512_set1_epi32(x as i32) }
    }

    #[inline(always)]
    unsafe fn doubles(x: u64) -> Self {
        // SAFETY: the caller's promise.
        unsafe { _mm512_set1_epi64(x as i64) }
    }

    #[inline(always)]
    unsafe fn add_words(self, y: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { _mm512_add_epi32(self, y) }
    }

    #[inline(always)]
    unsafe fn add(self, y: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { _mm512_add_epi64(self, y) }
    }

    #[inline(always)]
    unsafe fn mul(self, y: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { _mm512_mul_epu32(self, y) }
    }

    #[inline(always)]
    unsafe fn mul_signed(self, y: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { _mm512_mul_epi32(self, y) }
    }

    #[inline(always)]
    unsafe fn odd(self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { _mm512_srli_epi64::<32>(self) }
    }

    #[inline(always)]
    unsafe fn join_odd(even: Self, odd: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { _mm512_mask_shuffle_epi32::<0b11_11_01_01>(odd, 0x5555, even) }
    }

    #[inline(always)]
    unsafe fn correct(self, m: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { _mm512_min_epu32(self, _mm512_sub_epi32(self, m)) }
    }

    #[inline(always)]
    unsafe fn pick(p: *const u32, index: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { _mm512_permutexvar_epi32(index, Self::load(p)) }
    }
}

impl Vector for __m256i {
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn load(p: *const u32) -> Self {
        // SAFETY: the caller's promise.
        unsafe { _mm256_loadu_si256(p.cast()) }
    }

    #[inline(always)]
    unsafe fn store(p: *mut u32, x: Self) {
        // SAFETY: the caller's promise.
        unsafe { _mm256_storeu_si256(p.cast(), x) }
    }

    #[inline(always)]
    unsafe fn words(x: u32) -> Self {
        // SAFETY: the caller's promise.
        unsafe { _mm256_set1_epi32(x as i32) }
    }

    #[inline(always)]
    unsafe fn doubles(x: u64) -> Self {
        // SAFETY: the caller's promise.
        unsafe { _mm256_set1_epi64x(x as i64) }
    }

    #[inline(always)]
    unsafe fn add_words(self, y: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { _mm256_add_epi32(self, y) }
    }

    #[inline(always)]
    unsafe fn add(self, y: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { _mm256_add_epi64(self, y) }
    }

    #[inline(always)]
    unsafe fn mul(self, y: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { _mm256_mul_epu32(self, y) }
    }

    #[inline(always)]
    unsafe fn mul_signed(self, y: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { _mm256_mul_epi32(self, y) }
    }

    #[inline(always)]
    unsafe fn odd(self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { _mm256_srli_epi64::<32>(self) }
    }

    #[inline(always)]
    unsafe fn join_odd(even: Self, odd: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { _mm256_blend_epi32::<0xaa>(even.odd(), odd) }
    }

    #[inline(always)]
    unsafe fn correct(self, m: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { _mm256_min_epu32(self, _mm256_sub_epi32(self, m)) }
    }

    #[inline(always)]
    unsafe fn pick(p: *const u32, index: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            let low = _mm256_permutevar8x32_epi32(Self::load(p), index);
            let high = _mm256_permutevar8x32_epi32(Self::load(p.add(BLOCK / 2)), index);
            // The sign of a lane is bit 3 of its index: which half.
            let upper = _mm256_castsi256_ps(_mm256_slli_epi32::<28>(index));
            _mm256_castps_si256(_mm256_blendv_ps(
                _mm256_castsi256_ps(low),
                _mm256_castsi256_ps(high),
                upper,
            ))
        }
    }
}
