// SPDX-License-Identifier: Apache-2.0
//! Computes sums of products with 52-bit multiply-add, eight positions at a time, in two instructions a product for any
//! prime p below 2^52.
//!
//! For `rows` rows and `cols` columns of a gadget ciphertext, the least time is 2 rows cols
//! multiply-adds for each eight positions, two in a cycle. Each column is reduced once.

use std::arch::x86_64::*;

use super::key::{AHEAD, LINE};
use super::{KeyRows, KeyShape};
use crate::Modulus;
use crate::kernels::avx512::WideReducer;
use crate::kernels::ifma::Accumulator;
use crate::kernels::narrow::{NarrowReducer, SumReducer};
use crate::simd::{LANES, correct, load, splat, store};

/// The reduction modulo p <= 2^32 of sums of up to 32 products of residues.
///
/// With such residues the sum is s0 + s1 2^52 with s0 < 2^57 and s1 < 2^17, and the bits of s0 from
/// bit 52 on go to s1. As R = 2^52 mod p < 2^32, x = (s0 mod 2^52) + s1 R is below 2^53 and
/// congruent to the sum. The quotient floor(x / 2) floor(2^53 / p) / 2^52 is short of x / p by less
/// than 3, so that the remainder comes out below 3p.
#[derive(Clone, Copy)]
struct SmallReducer {
    p: __m512i,
    minus_p: __m512i,
    mask: __m512i,
    fold: __m512i,
    ratio: __m512i,
}

impl SmallReducer {
    /// Puts the constants of the reduction modulo p into every lane of vectors.
    ///
    /// # Safety
    /// The processor must have AVX-512 F. p is above 2 and at most 2^32.
    #[inline(always)]
    unsafe fn new(p: Modulus) -> Self {
        let value = p.value();
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                p: splat(value),
                minus_p: splat((1 << 52) - value),
                mask: splat((1 << 52) - 1),
                fold: splat((1 << 52) % value),
                ratio: splat((1 << 53) / value),
            }
        }
    }
}

impl SumReducer for SmallReducer {
    #[inline(always)]
    unsafe fn reduce_sum(self, Accumulator { s0, s1, .. }: Accumulator) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe {
            let above = _mm512_add_epi64(s1, _mm512_srli_epi64::<52>(s0));
            let x = _mm512_madd52lo_epu64(_mm512_and_si512(s0, self.mask), above, self.fold);
            let zero = _mm512_setzero_si512();
            let quotient = _mm512_madd52hi_epu64(zero, _mm512_srli_epi64::<1>(x), self.ratio);
            let rest = _mm512_madd52lo_epu64(x, quotient, self.minus_p);
            let rest = _mm512_and_si512(rest, self.mask);
            correct(correct(rest, self.p), self.p)
        }
    }
}

/// The words from which vectors are loaded: 32 or 64 bits.
trait Word: Copy {
    /// Loads eight residues into the 64-bit lanes of a vector.
    ///
    /// # Safety
    /// p must be readable for 8 words; the processor must have AVX-512 F.
    unsafe fn load(p: *const Self) -> __m512i;
}

impl Word for u32 {
    #[inline(always)]
    unsafe fn load(p: *const u32) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { _mm512_cvtepu32_epi64(_mm256_loadu_si256(p.cast())) }
    }
}

impl Word for u64 {
    #[inline(always)]
    unsafe fn load(p: *const u64) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { load(p) }
    }
}

/// K sums of products, one for each of K columns of a gadget ciphertext, in each lane. The products
/// of one row share a factor, a digit.
#[derive(Clone, Copy)]
struct Sums<const K: usize> {
    low: [__m512i; K],
    high: [__m512i; K],
}

impl<const K: usize> Sums<K> {
    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: the caller enables AVX-512 F.
        let zero = [unsafe { _mm512_setzero_si512() }; K];
        Self {
            low: zero,
            high: zero,
        }
    }

    #[inline(always)]
    unsafe fn add(&mut self, column: usize, x: __m512i, y: __m512i) {
        // SAFETY: the caller enables AVX-512 IFMA.
        unsafe {
            self.low[column] = _mm512_madd52lo_epu64(self.low[column], x, y);
            self.high[column] = _mm512_madd52hi_epu64(self.high[column], x, y);
        }
    }

    #[inline(always)]
    unsafe fn reduce<R: SumReducer>(self, reducer: R, column: usize) -> __m512i {
        let parts = Accumulator {
            s0: self.low[column],
            s1: self.high[column],
            // SAFETY: the caller enables AVX-512 F.
            s2: unsafe { _mm512_setzero_si512() },
        };
        // SAFETY: the caller enables AVX-512 F, DQ and IFMA.
        unsafe { reducer.reduce_sum(parts) }
    }
}

/// Runs a function with the reduction of fewest instructions that is right modulo p.
macro_rules! with_reducer {
    ($p:expr, $reducer:ident => $body:expr) => {
        if $p.bits() <= 32 && $p.value() > 2 {
            let $reducer = SmallReducer::new($p);
            $body
        } else if NarrowReducer::fits($p) {
            let $reducer = NarrowReducer::new($p);
            $body
        } else {
            let $reducer = WideReducer::new($p);
            $body
        }
    };
}

/// Computes out(c) = the sum over rows r of digits(r) key(r, c) mod p for each column c of a gadget
/// ciphertext, eight positions at a time. `out` has a polynomial for each column.
///
/// # Safety
/// The processor must have AVX-512 F, DQ and IFMA.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) unsafe fn accumulate(
    p: Modulus,
    shape: KeyShape,
    digits: &[u64],
    key: KeyRows<'_>,
    out: &mut [u64],
) {
    // SAFETY: the features are enabled here.
    unsafe {
        with_reducer!(p, reducer => match key {
            KeyRows::Narrow(key) => by_columns(reducer, shape, digits, key, out),
            KeyRows::Wide(key) => by_columns(reducer, shape, digits, key, out),
        })
    }
}

/// Computes the sums of all columns of a gadget ciphertext, up to four columns at a time. The sums of four columns fit
/// into registers.
#[inline(always)]
unsafe fn by_columns<R: SumReducer, W: Word>(
    reducer: R,
    shape: KeyShape,
    digits: &[u64],
    key: &[W],
    out: &mut [u64],
) {
    let (n, rows, cols) = (shape.n(), shape.rows(), shape.cols());
    assert!(digits.len() >= rows * n && key.len() >= shape.words() && out.len() >= cols * n);
    // SAFETY: the lengths, just checked, and columns below `cols`; the caller enables the features.
    unsafe {
        let mut first = 0;
        while first < cols {
            let now = (cols - first).min(4);
            match now {
                1 => columns::<R, W, 1>(reducer, shape, digits, key, out, first),
                2 => columns::<R, W, 2>(reducer, shape, digits, key, out, first),
                3 => columns::<R, W, 3>(reducer, shape, digits, key, out, first),
                _ => columns::<R, W, 4>(reducer, shape, digits, key, out, first),
            }
            first += now;
        }
    }
}

/// Computes the sums of the columns `first` to `first` + K - 1 of a gadget ciphertext, at every position.
#[inline(always)]
unsafe fn columns<R: SumReducer, W: Word, const K: usize>(
    reducer: R,
    shape: KeyShape,
    digits: &[u64],
    key: &[W],
    out: &mut [u64],
    first: usize,
) {
    let (n, rows, cols) = (shape.n(), shape.rows(), shape.cols());
    let (digits, out) = (digits.as_ptr(), out.as_mut_ptr());
    let mut key = key.as_ptr();
    for i in (0..n).step_by(LANES) {
        // SAFETY: i + 8 <= n, which is a multiple of 8; the pointers are valid for rows n, n rows cols and cols n words
        // (caller), first + K <= cols.
        unsafe {
            let mut sums = Sums::<K>::zero();
            for r in 0..rows {
                for line in 0..(cols * LANES * size_of::<W>()).div_ceil(LINE) {
                    let ahead = key.cast::<i8>().wrapping_add(AHEAD + line * LINE);
                    _mm_prefetch::<_MM_HINT_T1>(ahead);
                }
                let digit = load(digits.add(r * n + i));
                for c in 0..K {
                    sums.add(c, digit, W::load(key.add((first + c) * LANES)));
                }
                key = key.add(cols * LANES);
            }
            for c in 0..K {
                store(out.add((first + c) * n + i), sums.reduce(reducer, c));
            }
        }
    }
}

/// Computes out(c) = the sum over u of weights(u) sums(u, c) mod p for each column c, eight
/// positions at a time. Here u numbers the gadget ciphertexts of a step of a blind rotation. `out`
/// has a polynomial for each column.
///
/// # Safety
/// The processor must have AVX-512 F, DQ and IFMA.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) unsafe fn combine(
    p: Modulus,
    [n, terms, cols]: [usize; 3],
    weights: &[u64],
    sums: &[u64],
    out: &mut [u64],
) {
    assert!(weights.len() >= terms * n && sums.len() >= terms * cols * n && out.len() >= cols * n);
    assert!(n.is_multiple_of(LANES));
    let (weights, sums, out) = (weights.as_ptr(), sums.as_ptr(), out.as_mut_ptr());
    // SAFETY: the lengths, just checked; the features are enabled here.
    unsafe {
        with_reducer!(p, reducer => for c in 0..cols {
            for i in (0..n).step_by(LANES) {
                let mut sum = Sums::<1>::zero();
                for u in 0..terms {
                    sum.add(0, load(weights.add(u * n + i)), load(sums.add((u * cols + c) * n + i)));
                }
                store(out.add(c * n + i), sum.reduce(reducer, 0));
            }
        })
    }
}
