// SPDX-License-Identifier: Apache-2.0
//! Kernels with 52-bit multiply-add (AVX-512 IFMA), eight coefficients at a time.
//!
//! Sums of products are faster than with AVX-512 alone for any modulus: seven multiply-adds add a whole 64 x 64 product
//! to three accumulators. Single products have reductions of their own for moduli up to 50 bits and from 54 bits on.
//! Between these sizes they use the reduction of sums. Each function computes the coefficients that fill whole vectors
//! of eight and returns their number.

pub(super) mod products;

use std::arch::x86_64::*;

use super::avx512::WideReducer;
use super::loops::{self, Sums};
use super::narrow::{NarrowReducer, SumReducer};
use super::sums::LAZY_TERMS;
use crate::simd::{Ifma as Ifma52, IfmaWide, LANES, TIGHT, load, splat, store};
use crate::{Modulus, Shoup};
use products::{Barrett, Multiplier, WideBarrett};

type Ifma = Ifma52<TIGHT>;

/// A sum of products in each lane, as s0 + s1 2^52 + s2 2^104. Each part is far below 2^64 for up
/// to 32 products.
#[derive(Clone, Copy)]
pub(crate) struct Accumulator {
    pub s0: __m512i,
    pub s1: __m512i,
    pub s2: __m512i,
}

impl Accumulator {
    #[inline(always)]
    pub unsafe fn new(start: __m512i) -> Self {
        // SAFETY: the caller enables AVX-512 F.
        let zero = unsafe { _mm512_setzero_si512() };
        Self {
            s0: start,
            s1: zero,
            s2: zero,
        }
    }

    /// Adds x * y to the sum in each lane; `y_high` is y >> 52. Multiply-add reads the low 52 bits
    /// of its factors, so x and y need no mask.
    #[inline(always)]
    pub unsafe fn add(&mut self, x: __m512i, y: __m512i, y_high: __m512i) {
        // SAFETY: the caller enables AVX-512 IFMA.
        unsafe {
            let x_high = _mm512_srli_epi64::<52>(x);
            self.s0 = _mm512_madd52lo_epu64(self.s0, x, y);
            self.s1 = _mm512_madd52hi_epu64(self.s1, x, y);
            self.s2 = _mm512_madd52hi_epu64(self.s2, x, y_high);
            self.s1 = _mm512_madd52lo_epu64(self.s1, x, y_high);
            self.s2 = _mm512_madd52hi_epu64(self.s2, x_high, y);
            self.s1 = _mm512_madd52lo_epu64(self.s1, x_high, y);
            self.s2 = _mm512_madd52lo_epu64(self.s2, x_high, y_high);
        }
    }

    /// Adds x * y to the sum in each lane, for x and y below 2^52.
    #[inline(always)]
    pub unsafe fn add_short(&mut self, x: __m512i, y: __m512i) {
        // SAFETY: the caller enables AVX-512 IFMA.
        unsafe {
            self.s0 = _mm512_madd52lo_epu64(self.s0, x, y);
            self.s1 = _mm512_madd52hi_epu64(self.s1, x, y);
        }
    }

    /// Returns the sum of products in each lane as two words: high, low.
    #[inline(always)]
    pub unsafe fn words(self) -> (__m512i, __m512i) {
        // SAFETY: the caller enables AVX-512 F.
        unsafe {
            let low = _mm512_add_epi64(self.s0, _mm512_slli_epi64::<52>(self.s1));
            let high = _mm512_add_epi64(
                _mm512_srli_epi64::<12>(self.s1),
                _mm512_slli_epi64::<40>(self.s2),
            );
            let carry = _mm512_cmplt_epu64_mask(low, self.s0);
            (_mm512_mask_add_epi64(high, carry, high, splat(1)), low)
        }
    }
}

pub(super) unsafe fn dot(
    q: Modulus,
    out: *mut u64,
    terms: &[(&[u64], &[u64])],
    len: usize,
) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        match NarrowReducer::fits(q) {
            true => dot_narrow(q, out, terms, len),
            false => dot_wide(q, out, terms, len),
        }
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn dot_narrow(q: Modulus, out: *mut u64, terms: &[(&[u64], &[u64])], len: usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe { loops::dot(Summed(NarrowReducer::new(q)), out, terms, len) }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn dot_wide(q: Modulus, out: *mut u64, terms: &[(&[u64], &[u64])], len: usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe { loops::dot(Summed(WideReducer::new(q)), out, terms, len) }
}

/// Sums of products of residues, added up in 52-bit parts, with the constants that reduce a sum to a residue.
#[derive(Clone, Copy)]
struct Summed<R>(R);

impl<R: SumReducer> Sums for Summed<R> {
    type V = __m512i;
    type Sum = Accumulator;

    #[inline(always)]
    unsafe fn start(self, residue: __m512i) -> Accumulator {
        // SAFETY: the caller's promise.
        unsafe { Accumulator::new(residue) }
    }

    #[inline(always)]
    unsafe fn add(self, mut sum: Accumulator, a: __m512i, b: __m512i) -> Accumulator {
        // SAFETY: the caller's promise.
        unsafe { sum.add(a, b, _mm512_srli_epi64::<52>(b)) };
        sum
    }

    #[inline(always)]
    unsafe fn reduce(self, sum: Accumulator) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { self.0.reduce_sum(sum) }
    }
}

/// The number of vectors of coefficients that one loop iteration computes, so that each constant is loaded once for all
/// of them.
const UNROLL: usize = 4;

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) unsafe fn dot_scalars(
    q: Modulus,
    out: *mut u64,
    limbs: &[&[u64]],
    constants: &[Shoup],
    len: usize,
) -> usize {
    let unrolled = len - len % (UNROLL * LANES);
    let done = len - len % LANES;
    // SAFETY: the pointer and every slice are valid for len words (caller).
    unsafe {
        let reducer = WideReducer::new(q);
        for i in (0..unrolled).step_by(UNROLL * LANES) {
            dot_scalars_at::<UNROLL>(reducer, out, limbs, constants, i);
        }
        for i in (unrolled..done).step_by(LANES) {
            dot_scalars_at::<1>(reducer, out, limbs, constants, i);
        }
    }
    done
}

/// Computes out = the sum of w_k * a_k mod q over limbs a_k and constants w_k, as [`dot_scalars`]
/// does, for `V` vectors of coefficients from coefficient i on.
#[inline(always)]
unsafe fn dot_scalars_at<const V: usize>(
    reducer: WideReducer,
    out: *mut u64,
    limbs: &[&[u64]],
    constants: &[Shoup],
    i: usize,
) {
    // SAFETY: the pointer and every slice are valid from i on for V vectors; the caller enables AVX-512 IFMA.
    unsafe {
        let mut sums = [_mm512_setzero_si512(); V];
        for (limbs, constants) in limbs.chunks(LAZY_TERMS).zip(constants.chunks(LAZY_TERMS)) {
            let mut accumulators = [Accumulator::new(sums[0]); V];
            for v in 1..V {
                accumulators[v] = Accumulator::new(sums[v]);
            }
            for (a, w) in limbs.iter().zip(constants) {
                let w = splat(w.value);
                let w_high = _mm512_srli_epi64::<52>(w);
                for (v, accumulator) in accumulators.iter_mut().enumerate() {
                    accumulator.add(load(a.as_ptr().add(i + v * LANES)), w, w_high);
                }
            }
            for (sum, accumulator) in sums.iter_mut().zip(accumulators) {
                let (high, low) = accumulator.words();
                *sum = reducer.reduce(high, low);
            }
        }
        for (v, sum) in sums.into_iter().enumerate() {
            store(out.add(i + v * LANES), sum);
        }
    }
}

/// Computes out = a b mod q, coefficient by coefficient. A q of 51 to 53 bits must be no power of two
/// ([`NarrowReducer::fits`]).
///
/// # Safety
/// The processor must have AVX-512 F, DQ and IFMA; pointers and slices must be valid for `len` words. The same holds
/// for all functions here.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) unsafe fn mul(
    q: Modulus,
    out: *mut u64,
    a: *const u64,
    b: *const u64,
    len: usize,
) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        match q.bits() {
            ..=50 => loops::mul(Barrett::new(q), out, a, b, len),
            51..54 => loops::mul(NarrowReducer::new(q), out, a, b, len),
            _ => loops::mul(WideBarrett::new(q), out, a, b, len),
        }
    }
}

/// Computes out = acc + a b mod q, coefficient by coefficient. A q of 51 to 53 bits must be no power of two
/// ([`NarrowReducer::fits`]).
///
/// # Safety
/// As for [`mul`]: the processor must have AVX-512 F, DQ and IFMA; the pointers must be valid for `len` words.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) unsafe fn mac(
    q: Modulus,
    out: *mut u64,
    acc: *const u64,
    a: *const u64,
    b: *const u64,
    len: usize,
) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        match q.bits() {
            ..=50 => loops::mac(Barrett::new(q), out, acc, a, b, len),
            51..54 => loops::mac(NarrowReducer::new(q), out, acc, a, b, len),
            _ => loops::mac(WideBarrett::new(q), out, acc, a, b, len),
        }
    }
}

/// Computes out = a w mod q, coefficient by coefficient, for a limb a and a prepared constant w.
///
/// # Safety
/// As for [`mul`]: the processor must have AVX-512 F, DQ and IFMA; the pointers must be valid for `len` words.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) unsafe fn mul_shoup(
    q: Modulus,
    out: *mut u64,
    a: *const u64,
    w: Shoup,
    len: usize,
) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        if q.bits() <= 50 {
            loops::mul_constant(Multiplier::<Ifma>::new(q, w), out, a, len)
        } else {
            loops::mul_constant(Multiplier::<IfmaWide<false>>::new(q, w), out, a, len)
        }
    }
}
