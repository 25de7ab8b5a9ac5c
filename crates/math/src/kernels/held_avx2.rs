// SPDX-License-Identifier: Apache-2.0
//! Modular arithmetic on eight words of 32 bits at a time (AVX2).
//!
//! A vector of eight products is two vectors of four lanes of 64 bits: the products of the even
//! 32-bit lanes, and those of the odd ones. They are reduced as in [`super::short`].

use std::arch::x86_64::*;

use super::fused::Store;
use super::held_loops::{self, Binary, Difference, Lanes, Sum, Unary, level};
use super::loops::{ByConstant, Products};
use super::short::{Multiplier, Reducer, fits};
use crate::{Modulus, Residues, Shoup};

level!("avx2", __m256i, products Product, constants Scaled, serves fits);

/// Returns all ones in each lane in which a is at least b as an unsigned number, and zeros elsewhere.
#[inline(always)]
unsafe fn at_least(a: __m256i, b: __m256i) -> __m256i {
    // SAFETY: the caller enables AVX2.
    unsafe { _mm256_cmpeq_epi32(_mm256_max_epu32(a, b), a) }
}

impl Lanes for __m256i {
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn load(p: *const u32) -> Self {
        // SAFETY: the caller's promise, as in all functions here.
        unsafe { _mm256_loadu_si256(p.cast()) }
    }

    #[inline(always)]
    unsafe fn put<const STREAM: bool>(self, p: *mut u32) {
        // SAFETY: see `load`.
        unsafe {
            match STREAM {
                true => _mm256_stream_si256(p.cast(), self),
                false => _mm256_storeu_si256(p.cast(), self),
            }
        }
    }

    #[inline(always)]
    unsafe fn narrowed(p: *const u64) -> Self {
        // SAFETY: see `load`. The low halves of the first two words of each, of the last two of each; then in order.
        unsafe {
            let x = _mm256_castsi256_ps(_mm256_loadu_si256(p.cast()));
            let y = _mm256_castsi256_ps(_mm256_loadu_si256(p.add(4).cast()));
            let low = _mm256_castps_pd(_mm256_shuffle_ps::<0b10_00_10_00>(x, y));
            _mm256_castpd_si256(_mm256_permute4x64_pd::<0b11_01_10_00>(low))
        }
    }

    #[inline(always)]
    unsafe fn widened(self, p: *mut u64) {
        // SAFETY: see `load`.
        unsafe {
            let low = _mm256_cvtepu32_epi64(_mm256_castsi256_si128(self));
            let high = _mm256_cvtepu32_epi64(_mm256_extracti128_si256::<1>(self));
            _mm256_storeu_si256(p.cast(), low);
            _mm256_storeu_si256(p.add(4).cast(), high);
        }
    }

    #[inline(always)]
    unsafe fn splat(x: u32) -> Self {
        // SAFETY: see `load`.
        unsafe { _mm256_set1_epi32(x as i32) }
    }

    #[inline(always)]
    unsafe fn sum(self, other: Self, q: Self) -> Self {
        // SAFETY: see `load`. q - b is not 0.
        unsafe {
            let rest = _mm256_sub_epi32(q, other);
            let less = _mm256_sub_epi32(self, rest);
            let whole = _mm256_add_epi32(self, other);
            _mm256_blendv_epi8(whole, less, at_least(self, rest))
        }
    }

    #[inline(always)]
    unsafe fn difference(self, other: Self, q: Self) -> Self {
        // SAFETY: see `load`.
        unsafe {
            let lift = _mm256_andnot_si256(at_least(self, other), q);
            _mm256_add_epi32(_mm256_sub_epi32(self, other), lift)
        }
    }
}

/// Returns the odd 32-bit lanes of x, each in a lane of 64 bits.
#[inline(always)]
unsafe fn odd(x: __m256i) -> __m256i {
    // SAFETY: the caller enables AVX2.
    unsafe { _mm256_srli_epi64::<32>(x) }
}

/// Joins the words of the even 32-bit lanes and those of the odd ones, which are in lanes of 64
/// bits, in one vector. All are below 2^32.
#[inline(always)]
unsafe fn joined(even: __m256i, odd: __m256i) -> __m256i {
    // SAFETY: the caller enables AVX2.
    unsafe { _mm256_or_si256(even, _mm256_slli_epi64::<32>(odd)) }
}

/// The constants that reduce a product of two residues modulo q < 2^32, for residues in words of 32
/// bits.
#[derive(Clone, Copy)]
struct Product(Reducer<__m256i>);

impl Product {
    /// Prepares the reduction of products modulo q, which must be a modulus that [`fits`] (below 2^32, no power of
    /// two).
    #[inline(always)]
    unsafe fn new(q: Modulus) -> Self {
        // SAFETY: the caller enables AVX2.
        Self(unsafe { Reducer::new(q) })
    }
}

impl Binary for Product {
    type V = __m256i;

    #[inline(always)]
    unsafe fn of(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the caller's promise. Products read the low halves of their lanes.
        unsafe { joined(self.0.mul(a, b), self.0.mul(odd(a), odd(b))) }
    }
}

/// The multiplication of residues in words of 32 bits by a constant modulo q < 2^32.
#[derive(Clone, Copy)]
struct Scaled(Multiplier);

impl Scaled {
    #[inline(always)]
    unsafe fn new(q: Modulus, w: Shoup) -> Self {
        // SAFETY: the caller enables AVX2.
        Self(unsafe { Multiplier::new(q, w) })
    }
}

impl Unary for Scaled {
    type V = __m256i;

    #[inline(always)]
    unsafe fn of(self, a: __m256i) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe { joined(self.0.mul(a), self.0.mul(odd(a))) }
    }
}
