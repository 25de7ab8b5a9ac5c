// SPDX-License-Identifier: Apache-2.0
//! Multiplies by a constant in 52-bit arithmetic (AVX-512 IFMA), for moduli of 51 bits.

use std::arch::x86_64::*;

use super::{Factor, LazyMul, correct, correct_many, splat};
use crate::Modulus;

/// 52-bit arithmetic (AVX-512 IFMA) modulo q < 2^51. A product is below 2q, and 52 bits hold no
/// more. So both inputs of a butterfly are first brought below 2q, and sums use the whole word of
/// 64 bits.
pub(crate) struct Ifma51;

/// The constants of a modulus q for the 52-bit arithmetic of [`Ifma51`], one in each lane.
#[derive(Clone, Copy)]
pub(crate) struct Ifma51Context {
    /// The constant 2^52 - q, which stands for -q: its products are those with -q modulo 2^52.
    minus_q: __m512i,
    /// The mask 2^52 - 1, which selects the low 52 bits of a lane.
    mask: __m512i,
}

impl LazyMul for Ifma51 {
    const BOUND: u64 = 2;
    const WIDE_RANGE: bool = false;
    const FACTORS_52: bool = true;
    /// A constant factor w modulo q in each lane, and its quotient floor(w 2^52 / q).
    type Constant = (__m512i, __m512i);
    type Form = Factor;
    type Context = Ifma51Context;

    #[inline(always)]
    unsafe fn context(q: Modulus) -> Ifma51Context {
        // SAFETY: the caller's promise.
        unsafe {
            Ifma51Context {
                minus_q: splat((1 << 52) - q.value()),
                mask: splat((1 << 52) - 1),
            }
        }
    }

    #[inline(always)]
    unsafe fn constant(value: __m512i, quotient: __m512i) -> (__m512i, __m512i) {
        (value, quotient)
    }

    #[inline(always)]
    unsafe fn broadcast(w: &Factor) -> (__m512i, __m512i) {
        // SAFETY: the caller's promise.
        unsafe { (splat(w.value), splat(w.factor)) }
    }

    #[inline(always)]
    unsafe fn mul(x: __m512i, w: (__m512i, __m512i), context: Ifma51Context) -> __m512i {
        // SAFETY: the caller's promise.
        let [product] = unsafe { Self::mul_many([x], [w], context) };
        product
    }

    #[inline(always)]
    unsafe fn mul_many<const K: usize>(
        mut x: [__m512i; K],
        w: [(__m512i, __m512i); K],
        context: Ifma51Context,
    ) -> [__m512i; K] {
        // SAFETY: the caller's promise.
        unsafe {
            let zero = _mm512_setzero_si512();
            let mut quotient = x;
            for k in 0..K {
                quotient[k] = _mm512_madd52hi_epu64(zero, x[k], w[k].1);
            }
            for k in 0..K {
                x[k] = _mm512_madd52lo_epu64(zero, x[k], w[k].0);
            }
            for k in 0..K {
                x[k] = _mm512_madd52lo_epu64(x[k], quotient[k], context.minus_q);
            }
            for x in &mut x {
                *x = _mm512_and_si512(*x, context.mask);
            }
            x
        }
    }

    #[inline(always)]
    unsafe fn butterflies<const K: usize>(
        mut x: [__m512i; K],
        y: [__m512i; K],
        w: [(__m512i, __m512i); K],
        bound: __m512i,
        context: Ifma51Context,
    ) -> ([__m512i; K], [__m512i; K]) {
        // SAFETY: the caller's promise. y is below 4q.
        unsafe {
            let mut t = Self::mul_many(correct_many(y, bound), w, context);
            for k in 0..K {
                let other = _mm512_sub_epi64(_mm512_add_epi64(x[k], bound), t[k]);
                x[k] = _mm512_add_epi64(x[k], t[k]);
                t[k] = other;
            }
            (x, t)
        }
    }

    /// Does nothing, because the sums that [`LazyMul::sum_difference`] returns in this arithmetic are below 2q already.
    #[inline(always)]
    unsafe fn reduce_sums<const K: usize>(
        x: [__m512i; K],
        _bound: __m512i,
        _context: Ifma51Context,
    ) -> [__m512i; K] {
        x
    }

    #[inline(always)]
    unsafe fn sum_difference<const K: usize>(
        mut x: [__m512i; K],
        mut y: [__m512i; K],
        bound: __m512i,
        _context: Ifma51Context,
    ) -> ([__m512i; K], [__m512i; K]) {
        // SAFETY: the caller's promise. A negative difference is a huge number, and takes 2q.
        unsafe {
            for k in 0..K {
                let sum = _mm512_add_epi64(x[k], y[k]);
                let difference = _mm512_sub_epi64(x[k], y[k]);
                x[k] = correct(sum, bound);
                y[k] = _mm512_min_epu64(difference, _mm512_add_epi64(difference, bound));
            }
            (x, y)
        }
    }
}
