// SPDX-License-Identifier: Apache-2.0
//! Computes the floors of sums of fractions ([`super::fraction`]) for eight coefficients at a time (AVX-512, with and
//! without IFMA).

use std::arch::x86_64::*;

use super::BLOCK;
use super::fraction::{CloseCalls, Fraction, FractionSum};
use crate::kernels::Backend;
use crate::simd::{LANES, load, mul_wide, splat, store};

/// Computes the floors of sums of fractions, as [`FractionSum::counts`] does, for the coefficients that fill whole
/// vectors of eight. Returns their number, which is 0 on backends without AVX-512.
pub(super) fn counts(
    sum: &FractionSum,
    y: &[u64],
    alpha: &mut [u64],
    close: &mut CloseCalls,
) -> usize {
    let done = alpha.len() - alpha.len() % LANES;
    if sum.fractions.is_empty() || done == 0 {
        return 0;
    }
    // Bounds are checked here, once.
    let y = &y[..(sum.fractions.len() - 1) * BLOCK + done];
    let alpha = &mut alpha[..done];
    // SAFETY: the backend in force has its features; row i of y is valid for `done` words.
    unsafe {
        match Backend::current() {
            Backend::Scalar | Backend::Avx2 => return 0,
            Backend::Avx512 => wide(sum, y.as_ptr(), alpha, close),
            Backend::Avx512Ifma => ifma(sum, y.as_ptr(), alpha, close),
        }
    }
    done
}

#[target_feature(enable = "avx512f,avx512dq")]
unsafe fn wide(sum: &FractionSum, y: *const u64, alpha: &mut [u64], close: &mut CloseCalls) {
    // SAFETY: the caller's promise; the features are enabled here.
    unsafe {
        count_vectors(sum, y, alpha, close, |total, x, ratio| {
            let (high, low) = mul_wide(x, ratio);
            let product =
                _mm512_or_si512(_mm512_slli_epi64::<12>(high), _mm512_srli_epi64::<52>(low));
            _mm512_add_epi64(total, product)
        });
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn ifma(sum: &FractionSum, y: *const u64, alpha: &mut [u64], close: &mut CloseCalls) {
    // SAFETY: the caller's promise; the features are enabled here.
    unsafe {
        count_vectors(sum, y, alpha, close, |total, x, ratio| {
            _mm512_madd52hi_epu64(total, x, ratio)
        });
    }
}

/// Computes the floors of sums of fractions with the function `add`, where `add(total, x, ratio)` is total + floor(x
/// ratio / 2^52) for 52-bit factors.
#[inline(always)]
unsafe fn count_vectors(
    sum: &FractionSum,
    y: *const u64,
    alpha: &mut [u64],
    close: &mut CloseCalls,
    add: impl Fn(__m512i, __m512i, __m512i) -> __m512i,
) {
    // SAFETY: the rows of y are as long as alpha, a multiple of the vector, and the features are enabled (caller).
    unsafe {
        let (offset, threshold) = (splat(sum.offset), splat(sum.close));
        let whole = splat((1 << Fraction::BITS) - 1);
        for (vector, alpha) in alpha.chunks_exact_mut(LANES).enumerate() {
            let c = vector * LANES;
            let mut total = offset;
            for (i, fraction) in sum.fractions.iter().enumerate() {
                let left = _mm_cvtsi64_si128(i64::from(fraction.left));
                let right = _mm_cvtsi64_si128(i64::from(fraction.right));
                let y = load(y.add(i * BLOCK + c));
                let x = _mm512_srl_epi64(_mm512_sll_epi64(y, left), right);
                total = add(total, x, splat(fraction.ratio));
            }
            let calls = _mm512_cmpge_epu64_mask(_mm512_and_si512(total, whole), threshold);
            close[c / 64] |= u64::from(calls) << (c % 64);
            let counts = _mm512_srli_epi64::<{ Fraction::BITS }>(total);
            store(alpha.as_mut_ptr(), counts);
        }
    }
}
