// SPDX-License-Identifier: Apache-2.0
//! Reduces sums of products of residues that are in 52-bit parts. There is a general reduction, and a shorter one for
//! moduli of 50 to 54 bits that are no power of two.

use std::arch::x86_64::*;

use super::avx512::WideReducer;
use super::ifma::Accumulator;
use crate::Modulus;
use crate::simd::{correct, splat};

/// A reduction modulo q of a sum of at most 32 products of residues, plus one residue, in 52-bit
/// parts.
pub(crate) trait SumReducer: Copy {
    /// Returns in each lane the residue below q of the sum `sum`.
    ///
    /// # Safety
    /// The processor must have AVX-512 F, DQ and IFMA.
    unsafe fn reduce_sum(self, sum: Accumulator) -> __m512i;
}

impl SumReducer for WideReducer {
    #[inline(always)]
    unsafe fn reduce_sum(self, sum: Accumulator) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe {
            let (high, low) = sum.words();
            self.reduce(high, low)
        }
    }
}

/// A reduction of a sum modulo a q of 50 to 54 bits that is no power of two, in two steps whose quotients are single
/// 52-bit products.
///
/// With k = bits of q, 50 <= k <= 54, a sum T of a residue and 32 products of residues is at most
/// 32 (q-1)^2 + q - 1 < 2^(2k+5). Let f = k - 46.
///
/// - Q1 = floor(floor(T / 2^(2k-47)) floor(2^(k+51) / q) / 2^52), both factors below 2^52. T / (2^f q) exceeds it by
///   less than 3: 2^(k-1) / q < 1 for the first floor, 1 for the constant's, 1 for the last. So R = T - Q1 2^f q is
///   below 3 2^f q < 2^64, and known from its low word.
/// - Q2 = floor(floor(R / 2^(k-6)) floor(2^(k+46) / q) / 2^52) is short of R / q by less than 1 + 2^-5 + 2^-30, for the
///   last floor, the first and the constant's. So R - Q2 q is below 2q.
#[derive(Clone, Copy)]
pub(crate) struct NarrowReducer {
    q: __m512i,
    /// The constant 2^f q, with f = k - 46 and k = bits of q. The first of the two steps of the
    /// reduction subtracts a multiple of it.
    multiple: __m512i,
    /// The constant floor(2^(k+51) / q), with k = bits of q, that estimates the quotient in the
    /// first step of the reduction.
    ratio: __m512i,
    /// The constant floor(2^(k+46) / q), with k = bits of q, that estimates the quotient in the
    /// second step of the reduction.
    short_ratio: __m512i,
    /// The shifts 151 - 2k and 2k - 99, with k = bits of q, of the upper parts of a sum T. Their
    /// results add up to T / 2^(2k-47).
    up: __m512i,
    down: __m512i,
    /// The shift k - 6, with k = bits of q, by which the second step of the reduction cuts its
    /// number.
    short: __m512i,
}

impl NarrowReducer {
    /// Returns whether the reduction is right for the modulus q: it has 50 to 54 bits and is no
    /// power of two. For a power of two, one of the constants would have 53 bits.
    pub fn fits(q: Modulus) -> bool {
        (50..=54).contains(&q.bits()) && !q.value().is_power_of_two()
    }

    /// Prepares the reduction of sums of products modulo q, a modulus that [`NarrowReducer::fits`].
    ///
    /// # Safety
    /// The processor must have AVX-512 F.
    #[inline(always)]
    pub unsafe fn new(q: Modulus) -> Self {
        let (k, value) = (q.bits(), u128::from(q.value()));
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                q: splat(q.value()),
                multiple: splat(q.value() << (k - 46)),
                ratio: splat(((1u128 << (k + 51)) / value) as u64),
                short_ratio: splat(((1u128 << (k + 46)) / value) as u64),
                up: splat(u64::from(151 - 2 * k)),
                down: splat(u64::from(2 * k - 99)),
                short: splat(u64::from(k - 6)),
            }
        }
    }
}

impl SumReducer for NarrowReducer {
    #[inline(always)]
    unsafe fn reduce_sum(self, Accumulator { s0, s1, s2 }: Accumulator) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe {
            let zero = _mm512_setzero_si512();
            let middle = _mm512_add_epi64(s1, _mm512_srli_epi64::<52>(s0));
            let top = _mm512_add_epi64(
                _mm512_sllv_epi64(s2, self.up),
                _mm512_srlv_epi64(middle, self.down),
            );
            let quotient = _mm512_madd52hi_epu64(zero, top, self.ratio);
            let low = _mm512_add_epi64(s0, _mm512_slli_epi64::<52>(s1));
            let rest = _mm512_sub_epi64(low, _mm512_mullo_epi64(quotient, self.multiple));
            let cut = _mm512_srlv_epi64(rest, self.short);
            let quotient = _mm512_madd52hi_epu64(zero, cut, self.short_ratio);
            let rest = _mm512_sub_epi64(rest, _mm512_mullo_epi64(quotient, self.q));
            correct(rest, self.q)
        }
    }
}
