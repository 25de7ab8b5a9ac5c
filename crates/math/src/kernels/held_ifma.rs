// SPDX-License-Identifier: Apache-2.0
//! Modular arithmetic on sixteen words of 32 bits at a time, modulo q < 2^32 (AVX-512 with 52-bit
//! multiply-add).
//!
//! A vector of sixteen products is two vectors of eight lanes of 64 bits: the products of the even
//! 32-bit lanes, and those of the odd ones. With k = bits of q and s = max(k - 7, 0), a product P <
//! 2^2k is cut to C = P >> s < 2^39. The quotient is estimated as C floor(2^(52+s) / q) >> 52,
//! whose constant is at most 2^51. It is short of P / q by less than 1 + 2^-6 + 2^-13. The three
//! parts are for the last floor, for the cut (2^s / q, or 0 if s is 0) and for the floor in the
//! constant (C / 2^52). So the remainder is below 2q.

use std::arch::x86_64::*;

use super::fused::Store;
use super::held_loops::{self, Binary, Difference, Lanes, Sum, Unary, level, quotient};
use crate::simd::{correct, splat};
use crate::{Modulus, Residues, Shoup};

level!("avx512f,avx512dq,avx512ifma", __m512i, products Product, constants Scaled, serves any);

fn any(_: Modulus) -> bool {
    true
}

/// The mask that selects the odd 32-bit lanes of a vector.
const ODD: __mmask16 = 0xaaaa;

impl Lanes for __m512i {
    const LANES: usize = 16;

    #[inline(always)]
    unsafe fn load(p: *const u32) -> Self {
        // SAFETY: the caller's promise, as in all functions here.
        unsafe { _mm512_loadu_si512(p.cast()) }
    }

    #[inline(always)]
    unsafe fn put<const STREAM: bool>(self, p: *mut u32) {
        // SAFETY: see `load`.
        unsafe {
            match STREAM {
                true => _mm512_stream_si512(p.cast(), self),
                false => _mm512_storeu_si512(p.cast(), self),
            }
        }
    }

    #[inline(always)]
    unsafe fn narrowed(p: *const u64) -> Self {
        // SAFETY: see `load`.
        unsafe {
            let low = _mm512_cvtepi64_epi32(_mm512_loadu_si512(p.cast()));
            let high = _mm512_cvtepi64_epi32(_mm512_loadu_si512(p.add(8).cast()));
            _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
        }
    }

    #[inline(always)]
    unsafe fn widened(self, p: *mut u64) {
        // SAFETY: see `load`.
        unsafe {
            let low = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(self));
            let high = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64::<1>(self));
            _mm512_storeu_si512(p.cast(), low);
            _mm512_storeu_si512(p.add(8).cast(), high);
        }
    }

    #[inline(always)]
    unsafe fn splat(x: u32) -> Self {
        // SAFETY: see `load`.
        unsafe { _mm512_set1_epi32(x as i32) }
    }

    #[inline(always)]
    unsafe fn sum(self, other: Self, q: Self) -> Self {
        // SAFETY: see `load`. q - b is not 0.
        unsafe {
            let rest = _mm512_sub_epi32(q, other);
            let large = _mm512_cmpge_epu32_mask(self, rest);
            let whole = _mm512_add_epi32(self, other);
            _mm512_mask_sub_epi32(whole, large, self, rest)
        }
    }

    #[inline(always)]
    unsafe fn difference(self, other: Self, q: Self) -> Self {
        // SAFETY: see `load`.
        unsafe {
            let less = _mm512_cmplt_epu32_mask(self, other);
            let rest = _mm512_sub_epi32(self, other);
            _mm512_mask_add_epi32(rest, less, rest, q)
        }
    }
}

/// Returns the odd 32-bit lanes of x, each in a lane of 64 bits.
#[inline(always)]
unsafe fn odd(x: __m512i) -> __m512i {
    // SAFETY: the caller enables AVX-512 F.
    unsafe { _mm512_srli_epi64::<32>(x) }
}

/// Joins the words of the even 32-bit lanes and those of the odd ones, which are in lanes of 64
/// bits, in one vector. All are below 2^32.
#[inline(always)]
unsafe fn joined(even: __m512i, odd: __m512i) -> __m512i {
    // SAFETY: the caller enables AVX-512 F.
    unsafe { _mm512_mask_blend_epi32(ODD, even, _mm512_slli_epi64::<32>(odd)) }
}

/// The constants that reduce products of two residues modulo q < 2^32, for words of 32 bits.
#[derive(Clone, Copy)]
struct Product {
    q: __m512i,
    /// The constant floor(2^(52+s) / q) by which a product's quotient by q is estimated, where s is
    /// the shift `cut`.
    ratio: __m512i,
    /// The shift s = max(k - 7, 0) by which a product is cut before its quotient is estimated. k is the number of bits
    /// of q.
    cut: __m128i,
}

impl Product {
    #[inline(always)]
    unsafe fn new(q: Modulus) -> Self {
        let cut = q.bits().saturating_sub(7);
        let ratio = ((1u128 << (52 + cut)) / u128::from(q.value())) as u64;
        // SAFETY: the caller enables AVX-512 F.
        unsafe {
            Self {
                q: splat(q.value()),
                ratio: splat(ratio),
                cut: _mm_cvtsi64_si128(cut.into()),
            }
        }
    }

    /// Returns in each 64-bit lane the product modulo q of the low halves of the lanes of a and b.
    #[inline(always)]
    unsafe fn product(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller enables AVX-512 F and IFMA.
        unsafe {
            let product = _mm512_mul_epu32(a, b);
            let cut = _mm512_srl_epi64(product, self.cut);
            let quotient = _mm512_madd52hi_epu64(_mm512_setzero_si512(), cut, self.ratio);
            let rest = _mm512_sub_epi64(product, _mm512_mul_epu32(quotient, self.q));
            correct(rest, self.q)
        }
    }
}

impl Binary for Product {
    type V = __m512i;

    #[inline(always)]
    unsafe fn of(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { joined(self.product(a, b), self.product(odd(a), odd(b))) }
    }
}

/// The multiplication by a constant w modulo q < 2^32, with its quotient W = floor(2^32 w / q). For
/// a < 2^32, a w minus floor(a W / 2^32) q is below 2q.
#[derive(Clone, Copy)]
struct Scaled {
    q: __m512i,
    value: __m512i,
    quotient: __m512i,
}

impl Scaled {
    #[inline(always)]
    unsafe fn new(q: Modulus, w: Shoup) -> Self {
        // SAFETY: the caller enables AVX-512 F.
        unsafe {
            Self {
                q: splat(q.value()),
                value: splat(w.value),
                quotient: splat(quotient(w)),
            }
        }
    }

    #[inline(always)]
    unsafe fn product(self, a: __m512i) -> __m512i {
        // SAFETY: the caller enables AVX-512 F.
        unsafe {
            let quotient = _mm512_srli_epi64::<32>(_mm512_mul_epu32(a, self.quotient));
            let product = _mm512_mul_epu32(a, self.value);
            let rest = _mm512_sub_epi64(product, _mm512_mul_epu32(quotient, self.q));
            correct(rest, self.q)
        }
    }
}

impl Unary for Scaled {
    type V = __m512i;

    #[inline(always)]
    unsafe fn of(self, a: __m512i) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { joined(self.product(a), self.product(odd(a))) }
    }
}
