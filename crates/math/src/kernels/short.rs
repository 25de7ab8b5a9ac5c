// SPDX-License-Identifier: Apache-2.0
//! Computes products of residues below 2^32 with AVX2, four in one instruction. A product of residues above 2^32 takes
//! four such instructions.
//!
//! Let k = bits of q, k <= 32, q no power of two, and M the largest multiple of q up to 2^(31+k). A sum S < 2^(31+k) +
//! M is first reduced by M unless it is below M. Then S < 2^(31+k), as [`ShortReducer`] takes it.

use std::arch::x86_64::*;

use super::fused::PairTerm;
use super::loops::{self, ByConstant, Products, vectors};
use crate::simd::short::{Short, ShortReducer, ratio};
use crate::simd256::{LANES, correct, load, splat, store};

pub(super) use crate::simd::short::fits;
use crate::{Modulus, Residues, Shoup};

/// The number of words of 64 bits by which prefetching is ahead of the loop over a switching key. It is so small that
/// prefetched words are not evicted from the cache before they are read.
const KEY_AHEAD: usize = 64;

/// The constants that reduce a sum of a few products modulo q < 2^32.
#[derive(Clone, Copy)]
pub(super) struct Reducer<V> {
    /// The constant M that is first subtracted from large sums: the largest multiple of q up to 2^(31+k), with k = bits
    /// of q.
    multiple: V,
    remainder: ShortReducer<V>,
}

/// Returns the largest multiple of q up to 2^(31+k), with k = bits of q. It is subtracted first
/// from sums that are larger.
fn multiple(q: Modulus) -> u64 {
    let half = 1u64 << (31 + q.bits());
    half - half % q.value()
}

/// Returns the number of products of residues modulo q that a sum may have besides one residue, so that [`Reducer`] can
/// reduce it. It is at most 2^20 and at least one: with k = bits of q and M the largest multiple of q up to 2^(31+k),
/// (q - 1)^2 + q - 1 < q^2 < 2^(31+k) + M.
pub(super) fn terms(q: Modulus) -> usize {
    let top = u128::from(q.value() - 1);
    let room = (1u128 << (31 + q.bits())) + u128::from(multiple(q)) - 1 - top;
    (room / (top * top).max(1)).min(1 << 20) as usize
}

impl<V: Short> Reducer<V> {
    /// Prepares the reduction of sums of products modulo q, a modulus that [`fits`].
    ///
    /// # Safety
    /// As for [`Short`]: the processor must have the vector's instructions.
    #[inline(always)]
    pub unsafe fn new(q: Modulus) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                multiple: V::splat(multiple(q)),
                remainder: ShortReducer::new(q.value(), q.bits(), ratio(q)),
            }
        }
    }

    /// Returns the residue modulo q of a sum of at most [`terms`] products of residues and one
    /// residue, in each lane.
    ///
    /// # Safety
    /// As for [`Short`]: the processor must have the vector's instructions.
    #[inline(always)]
    pub unsafe fn reduce(self, sum: V) -> V {
        // SAFETY: the caller's promise. The difference from M is negative, as a signed number, or wraps, exactly where the sum is
        // below M.
        unsafe { self.remainder.reduce(sum.correct(self.multiple)) }
    }
}

impl Products for Reducer<__m256i> {
    type V = __m256i;

    #[inline(always)]
    unsafe fn mul(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe { self.reduce(_mm256_mul_epu32(a, b)) }
    }

    #[inline(always)]
    unsafe fn mac(self, acc: __m256i, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe { self.reduce(_mm256_add_epi64(acc, _mm256_mul_epu32(a, b))) }
    }
}

/// A constant factor w modulo q < 2^32, with its quotient W = floor(2^32 w / q). For a < 2^32, a w
/// minus floor(a W / 2^32) q is below 2q.
#[derive(Clone, Copy)]
pub(super) struct Multiplier {
    q: __m256i,
    value: __m256i,
    quotient: __m256i,
}

impl Multiplier {
    /// Prepares the multiplication of four residues by the constant w modulo q: puts w, its quotient and q into every lane.
    ///
    /// # Safety
    /// The processor must have AVX2.
    #[inline(always)]
    pub unsafe fn new(q: Modulus, w: Shoup) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                q: splat(q.value()),
                value: splat(w.value),
                quotient: splat(w.quotient >> 32),
            }
        }
    }
}

impl ByConstant for Multiplier {
    type V = __m256i;

    #[inline(always)]
    unsafe fn mul(self, a: __m256i) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe {
            let quotient = _mm256_srli_epi64::<32>(_mm256_mul_epu32(a, self.quotient));
            let product = _mm256_mul_epu32(a, self.value);
            let rest = _mm256_sub_epi64(product, _mm256_mul_epu32(quotient, self.q));
            correct(rest, self.q)
        }
    }
}

loops::products!("avx2", products Reducer::<__m256i>, constants Multiplier);

/// Computes out = the sum of a_k * b_k mod q over the pairs of limbs (a_k, b_k) in `products`, for
/// the coefficients that fill whole vectors. Returns their number.
///
/// # Safety
/// The processor must have AVX2; pointers and slices must be valid for `len` words; q must be one that [`fits`].
#[target_feature(enable = "avx2")]
pub(super) unsafe fn dot(
    q: Modulus,
    out: *mut u64,
    products: &[(&[u64], &[u64])],
    len: usize,
) -> usize {
    // SAFETY: the features are enabled here; the rest is the caller's promise.
    unsafe {
        let (reducer, terms) = (Reducer::new(q), terms(q));
        vectors!(len, i => {
            let mut residue = splat(0);
            for group in products.chunks(terms) {
                let mut sum = residue;
                for (a, b) in group {
                    let product = _mm256_mul_epu32(load(a.as_ptr().add(i)), load(b.as_ptr().add(i)));
                    sum = _mm256_add_epi64(sum, product);
                }
                residue = reducer.reduce(sum);
            }
            store(out.add(i), residue)
        })
    }
}

/// Loads four residues, from coefficient i on, of the limb that multiplies limbs of a switching
/// key. It prefetches nothing, because this limb is in the cache already.
#[inline(always)]
unsafe fn shared_four(limb: Residues<'_>, i: usize) -> __m256i {
    // SAFETY: the limb has them (caller); the caller enables AVX2.
    unsafe {
        match limb {
            Residues::Wide(words) => load(words.as_ptr().add(i)),
            Residues::Short(words) => {
                _mm256_cvtepu32_epi64(_mm_loadu_si128(words.as_ptr().add(i).cast()))
            }
        }
    }
}

/// Loads four residues of a limb of a switching key from coefficient i on, and prefetches the
/// limb's later residues.
#[inline(always)]
unsafe fn four(limb: Residues<'_>, i: usize) -> __m256i {
    // SAFETY: the limb has them (caller); the caller enables AVX2.
    unsafe {
        match limb {
            Residues::Wide(words) => {
                let p = words.as_ptr().add(i);
                _mm_prefetch::<_MM_HINT_T0>(p.wrapping_add(KEY_AHEAD).cast());
                load(p)
            }
            Residues::Short(words) => {
                let p = words.as_ptr().add(i);
                _mm_prefetch::<_MM_HINT_T0>(p.wrapping_add(2 * KEY_AHEAD).cast());
                _mm256_cvtepu32_epi64(_mm_loadu_si128(p.cast()))
            }
        }
    }
}

/// Computes two sums of products that share their first factors, as [`super::dot_pair`] does, for the coefficients that
/// fill whole vectors of four. Returns their number.
///
/// # Safety
/// The processor must have AVX2; every pointer and slice must be valid for `len` words; q must be one that [`fits`].
#[target_feature(enable = "avx2")]
pub(super) unsafe fn dot_pair(
    q: Modulus,
    [out_a, out_b]: [*mut u64; 2],
    products: &[PairTerm<'_>],
    carry: bool,
    len: usize,
) -> usize {
    // SAFETY: the features are enabled here; the rest is the caller's promise.
    unsafe {
        let (reducer, terms) = (Reducer::new(q), terms(q));
        vectors!(len, i => {
            let (mut a, mut b) = (splat(0), splat(0));
            if carry {
                (a, b) = (load(out_a.add(i)), load(out_b.add(i)));
            }
            for group in products.chunks(terms) {
                for &(shared, first, second) in group {
                    let x = shared_four(shared, i);
                    a = _mm256_add_epi64(a, _mm256_mul_epu32(x, four(first, i)));
                    b = _mm256_add_epi64(b, _mm256_mul_epu32(x, four(second, i)));
                }
                (a, b) = (reducer.reduce(a), reducer.reduce(b));
            }
            store(out_a.add(i), a);
            store(out_b.add(i), b);
        })
    }
}
