// SPDX-License-Identifier: Apache-2.0
//! Multiplies numbers below 2^32 in 64-bit lanes, one instruction for a vector of 256 or 512 bits, and reduces sums of
//! such products.

use std::arch::x86_64::*;

use crate::{Modulus, simd, simd256};

/// A vector of 64-bit lanes, of 256 or 512 bits.
///
/// # Safety
/// For every function, the processor must have AVX2, or AVX-512 F for the wider vector. For loads and stores, the
/// pointer must be valid for a vector.
pub(crate) trait Short: Copy {
    const LANES: usize;
    unsafe fn load(p: *const u64) -> Self;
    unsafe fn store(self, p: *mut u64);
    unsafe fn splat(x: u64) -> Self;
    /// Returns a vector with the signed number x in the low half of each 64-bit lane.
    unsafe fn signed(x: i32) -> Self;
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn sub(self, other: Self) -> Self;
    unsafe fn and(self, other: Self) -> Self;
    /// Returns in each 64-bit lane the product of the lanes' low halves, as unsigned numbers. The
    /// function `mul_signed` takes them as signed numbers.
    unsafe fn mul(self, other: Self) -> Self;
    unsafe fn mul_signed(self, other: Self) -> Self;
    /// Returns the high 32 bits of each 64-bit lane, in its low half.
    unsafe fn high(self) -> Self;
    unsafe fn right(self, bits: __m128i) -> Self;
    /// Returns x - m in each lane with x >= m, else x. The difference x - m must be at least -2^63 and below 2^63.
    unsafe fn correct(self, m: Self) -> Self;
}

macro_rules! short {
    ($vector:ty, $module:ident, [$($name:ident($($arg:ident),*) = $instruction:ident;)*], $signed:ident, $high:ident, $right:ident) => {
        impl Short for $vector {
            const LANES: usize = $module::LANES;
            #[inline(always)]
            unsafe fn load(p: *const u64) -> Self {
                // SAFETY: the caller's promise, as in all functions here.
                unsafe { $module::load(p) }
            }
            #[inline(always)]
            unsafe fn store(self, p: *mut u64) {
                // SAFETY: as above.
                unsafe { $module::store(p, self) }
            }
            #[inline(always)]
            unsafe fn splat(x: u64) -> Self {
                // SAFETY: as above.
                unsafe { $module::splat(x) }
            }
            #[inline(always)]
            unsafe fn signed(x: i32) -> Self {
                // SAFETY: as above.
                unsafe { $signed(x) }
            }
            $(
                #[inline(always)]
                unsafe fn $name(self, $($arg: Self),*) -> Self {
                    // SAFETY: as above.
                    unsafe { $instruction(self, $($arg),*) }
                }
            )*
            #[inline(always)]
            unsafe fn high(self) -> Self {
                // SAFETY: as above.
                unsafe { $high::<32>(self) }
            }
            #[inline(always)]
            unsafe fn right(self, bits: __m128i) -> Self {
                // SAFETY: as above.
                unsafe { $right(self, bits) }
            }
            #[inline(always)]
            unsafe fn correct(self, m: Self) -> Self {
                // SAFETY: as above.
                unsafe { $module::correct(self, m) }
            }
        }
    };
}

short!(
    __m256i, simd256,
    [
        add(other) = _mm256_add_epi64;
        sub(other) = _mm256_sub_epi64;
        and(other) = _mm256_and_si256;
        mul(other) = _mm256_mul_epu32;
        mul_signed(other) = _mm256_mul_epi32;
    ],
    _mm256_set1_epi32, _mm256_srli_epi64, _mm256_srl_epi64
);
short!(
    __m512i, simd,
    [
        add(other) = _mm512_add_epi64;
        sub(other) = _mm512_sub_epi64;
        and(other) = _mm512_and_si512;
        mul(other) = _mm512_mul_epu32;
        mul_signed(other) = _mm512_mul_epi32;
    ],
    _mm512_set1_epi32, _mm512_srli_epi64, _mm512_srl_epi64
);

/// Returns whether [`ShortReducer`] can reduce modulo q: q has at most 32 bits and is no power of two.
pub(crate) fn fits(q: Modulus) -> bool {
    q.bits() <= 32 && !q.value().is_power_of_two()
}

/// Returns the constant m = floor(2^(31+k) / q) of [`ShortReducer`], with k = bits of q.
pub(crate) fn ratio(q: Modulus) -> u64 {
    ((1u128 << (31 + q.bits())) / u128::from(q.value())) as u64
}

/// The reduction modulo q of numbers S below 2^(31+k), with k = bits of q, k <= 32, q no power of
/// two.
///
/// Let c = floor(S / 2^(k-1)) < 2^32 and m = floor(2^(31+k) / q) < 2^32. The quotient floor(c m /
/// 2^32) is at most S / q < 2^32 and short of it by less than 3. The three parts are 2^(k-1) / q <
/// 1 for the cut of S, c / 2^32 < 1 for the cut of the constant, and 1 for the last floor. So the
/// remainder is below 3q < 2^34 before it is corrected.
#[derive(Clone, Copy)]
pub(crate) struct ShortReducer<V> {
    q: V,
    two_q: V,
    /// The constant m = floor(2^(31+k) / q), with k = bits of q, by which the quotient of a number
    /// is estimated.
    ratio: V,
    /// The shift k - 1, with k = bits of q, by which a number is cut before its quotient is
    /// estimated.
    cut: __m128i,
}

impl<V: Short> ShortReducer<V> {
    /// Prepares the reduction modulo a q that [`fits`] and has `bits` bits. `ratio` is the constant
    /// that the function [`ratio`] returns for q.
    ///
    /// # Safety
    /// As for [`Short`]: the processor must have the vector's instructions.
    #[inline(always)]
    pub(crate) unsafe fn new(q: u64, bits: u32, ratio: u64) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                q: V::splat(q),
                two_q: V::splat(2 * q),
                ratio: V::splat(ratio),
                cut: _mm_cvtsi64_si128(i64::from(bits) - 1),
            }
        }
    }

    /// Returns the residue modulo q, in each lane, of a sum below 2^(31+k), with k = bits of q.
    ///
    /// # Safety
    /// As for [`Short`]: the processor must have the vector's instructions.
    #[inline(always)]
    pub(crate) unsafe fn reduce(self, sum: V) -> V {
        // SAFETY: the caller's promise.
        unsafe {
            let quotient = sum.right(self.cut).mul(self.ratio).high();
            let rest = sum.sub(quotient.mul(self.q));
            rest.correct(self.two_q).correct(self.q)
        }
    }
}
