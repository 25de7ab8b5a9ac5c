// SPDX-License-Identifier: Apache-2.0
//! Multiplies by a constant modulo the Solinas prime p = 2^52 - 2^12 + 1.

use std::arch::x86_64::*;

use super::{Factor, LazyMul, correct, splat};
use crate::Modulus;

/// 52-bit arithmetic (AVX-512 IFMA) modulo p = 2^52 - 2^12 + 1. The identity 2^52 = 2^12 - 1 mod p
/// takes the place of a quotient: the upper half of a product is multiplied by 4095 and added. So
/// are the bits of that product above 52.
///
/// A number y that is multiplied by a constant w may have 64 bits: those above 52 are multiplied by
/// 2^52 w mod p. With y = y1 2^52 + y0 the upper half of the product is at most (2^52 - 2^12 - 1) +
/// (2^12 - 2) < 2^52, so that it can be multiplied again. The product is the sum of three numbers
/// of 52 bits and one of 24, below 4p. Numbers therefore need no correction between stages. p has a
/// root of unity for up to 2^11 points, after whose stages forward values are below 45 p < 2^58.
pub(crate) struct Solinas;

impl Solinas {
    /// The modulus 2^52 - 2^12 + 1.
    pub(crate) const P: u64 = crate::modmul::Solinas52::P;
}

/// The constants of the arithmetic modulo p = 2^52 - 2^12 + 1, one in each lane.
#[derive(Clone, Copy)]
pub(crate) struct SolinasContext {
    /// The constant 2^52 mod p, by which the bits of a number above the low 52 are multiplied.
    fold: __m512i,
    /// The mask 2^52 - 1, which selects the low 52 bits of a lane.
    mask: __m512i,
    /// The constant 2^9 p, which is above every sum after six inverse stages. It is added to the
    /// differences in inverse butterflies to make them positive.
    above: __m512i,
}

impl SolinasContext {
    /// Reduces any 64-bit x to a number below 2^52 + 2^24 that is congruent to x modulo p.
    #[inline(always)]
    unsafe fn fold<const K: usize>(self, mut x: [__m512i; K]) -> [__m512i; K] {
        for x in &mut x {
            // SAFETY: the caller enables AVX-512 IFMA.
            unsafe {
                let high = _mm512_srli_epi64::<52>(*x);
                *x = _mm512_madd52lo_epu64(_mm512_and_si512(*x, self.mask), high, self.fold);
            }
        }
        x
    }
}

impl LazyMul for Solinas {
    const BOUND: u64 = 4;
    const WIDE_RANGE: bool = true;
    const FACTORS_52: bool = true;
    /// A constant factor w in each lane, and 2^52 w mod p.
    type Constant = (__m512i, __m512i);
    type Form = Factor;
    type Context = SolinasContext;

    #[inline(always)]
    unsafe fn context(q: Modulus) -> SolinasContext {
        debug_assert_eq!(q.value(), Self::P);
        // SAFETY: the caller's promise.
        unsafe {
            SolinasContext {
                fold: splat((1 << 12) - 1),
                mask: splat((1 << 52) - 1),
                above: splat(Self::P << 9),
            }
        }
    }

    #[inline(always)]
    unsafe fn constant(value: __m512i, factor: __m512i) -> (__m512i, __m512i) {
        (value, factor)
    }

    #[inline(always)]
    unsafe fn broadcast(w: &Factor) -> (__m512i, __m512i) {
        // SAFETY: the caller's promise.
        unsafe { (splat(w.value), splat(w.factor)) }
    }

    #[inline(always)]
    unsafe fn mul(x: __m512i, w: (__m512i, __m512i), context: SolinasContext) -> __m512i {
        // SAFETY: the caller's promise.
        let [product] = unsafe { Self::mul_many([x], [w], context) };
        product
    }

    #[inline(always)]
    unsafe fn mul_many<const K: usize>(
        x: [__m512i; K],
        w: [(__m512i, __m512i); K],
        context: SolinasContext,
    ) -> [__m512i; K] {
        // SAFETY: the caller's promise.
        unsafe {
            let zero = _mm512_setzero_si512();
            let (mut low, mut high, mut above) = (x, x, x);
            for k in 0..K {
                above[k] = _mm512_srli_epi64::<52>(x[k]);
            }
            for k in 0..K {
                high[k] = _mm512_madd52hi_epu64(zero, x[k], w[k].0);
            }
            for k in 0..K {
                low[k] = _mm512_madd52lo_epu64(zero, x[k], w[k].0);
            }
            for k in 0..K {
                high[k] = _mm512_madd52hi_epu64(high[k], above[k], w[k].1);
            }
            for k in 0..K {
                low[k] = _mm512_madd52lo_epu64(low[k], above[k], w[k].1);
            }
            for k in 0..K {
                above[k] = _mm512_madd52hi_epu64(zero, high[k], context.fold);
            }
            for k in 0..K {
                low[k] = _mm512_madd52lo_epu64(low[k], high[k], context.fold);
            }
            for k in 0..K {
                low[k] = _mm512_madd52lo_epu64(low[k], above[k], context.fold);
            }
            low
        }
    }

    #[inline(always)]
    unsafe fn halve_range<const SECOND: bool, const K: usize>(
        x: [__m512i; K],
        _bound: __m512i,
        _context: SolinasContext,
    ) -> [__m512i; K] {
        x
    }

    #[inline(always)]
    unsafe fn reduce_fully<const K: usize>(
        x: [__m512i; K],
        q: __m512i,
        _bound: __m512i,
        context: SolinasContext,
    ) -> [__m512i; K] {
        // SAFETY: the caller's promise.
        unsafe { Self::reduce_products(x, q, context) }
    }

    #[inline(always)]
    unsafe fn reduce_products<const K: usize>(
        x: [__m512i; K],
        q: __m512i,
        context: SolinasContext,
    ) -> [__m512i; K] {
        // SAFETY: the caller's promise.
        unsafe {
            let mut x = context.fold(x);
            for x in &mut x {
                *x = correct(*x, q);
            }
            x
        }
    }

    /// Leaves the sums of inverse butterflies as they are, because they may double until
    /// [`LazyMul::settle`] reduces them.
    #[inline(always)]
    unsafe fn reduce_sums<const K: usize>(
        x: [__m512i; K],
        _bound: __m512i,
        _context: SolinasContext,
    ) -> [__m512i; K] {
        x
    }

    #[inline(always)]
    unsafe fn above(_bound: __m512i, context: SolinasContext) -> __m512i {
        context.above
    }

    /// Reduces the sums of the first inverse stages, six at most, to numbers below 2^52 + 2^24. Six more stages at most
    /// follow. Results of the first stage are below 4p and each later stage doubles sums, so they are at most 2^7 p.
    #[inline(always)]
    unsafe fn settle<const K: usize>(x: [__m512i; K], context: SolinasContext) -> [__m512i; K] {
        // SAFETY: the caller's promise.
        unsafe { context.fold(x) }
    }
}
