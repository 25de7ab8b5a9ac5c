// SPDX-License-Identifier: Apache-2.0
//! Multiplies by a constant in 52-bit arithmetic (AVX-512 IFMA), for moduli below 2^50.

use std::arch::x86_64::*;

use super::{Factor, LazyMul, correct, lesser, splat};
use crate::Modulus;

/// The `RANGE` of the arithmetic [`Ifma`] that serves any q < 2^50. Forward stages reduce numbers
/// by a test of the top bit, inverse stages by multiplications.
pub(crate) const TIGHT: u8 = 0;
/// The `RANGE` of the arithmetic [`Ifma`] for q < 2^46. A transform of 2^17 points has 17 forward
/// stages, after which a number is below 35 q < 2^52 without any correction.
pub(crate) const ROOMY: u8 = 1;
/// The `RANGE` of the arithmetic [`Ifma`] for q < 2^34. Neither forward nor inverse stages need a
/// correction, though inverse stages double sums up to 17 times.
pub(crate) const SMALL: u8 = 2;
/// The `RANGE` of the arithmetic [`Ifma`] for any q < 2^50 that keeps numbers in range by
/// [`lesser`] instead of multiplications or tests of bits. It takes one more instruction, on units
/// that do not multiply. The processor decides which is faster. Zen 4 has tests of bits and least
/// integers on the units that multiply, and least doubles on the others. The caller has checked
/// that [`lesser`] works ([`compares_words`]).
pub(crate) const SPREAD: u8 = 3;
/// The `RANGE` of the arithmetic [`Ifma`] for q < 2^34 that computes the double of x in a butterfly
/// by two additions instead of a multiplication. It takes one more instruction, but fewer on the
/// units that multiply. Zen 4 has one multiplication a cycle, and two additions beside it.
pub(crate) const SMALL_SPREAD: u8 = 4;

/// Returns whether `range` is one of the values of [`Ifma`]'s `RANGE` for q < 2^34.
const fn is_small(range: u8) -> bool {
    matches!(range, SMALL | SMALL_SPREAD)
}

/// 52-bit arithmetic (AVX-512 IFMA) modulo q, for q < 2^50 and factors below 2^52. `RANGE` says how
/// many bits q leaves free, and how numbers are kept in range.
///
/// Butterflies compute modulo 2^52. Multiply-add reads only the low 52 bits of its factors, so
/// inputs and outputs may have any bits above. `TIGHT` forward stages first make these 52 bits a
/// number below 2^51, by a test of the top bit, which subtracts 2q <= 2^51. `SPREAD` stages make a
/// number below 2q. The sum with a product below 2q is then below 2^52 again.
#[derive(Clone, Copy)]
pub(crate) struct Ifma<const RANGE: u8>;

/// The constants of a modulus q for the 52-bit arithmetic of [`Ifma`], one in each lane.
#[derive(Clone, Copy)]
pub(crate) struct IfmaContext {
    /// The constant 2^52 - q, which stands for -q: its products are those with -q modulo 2^52.
    minus_q: __m512i,
    /// The mask 2^52 - 1, which selects the low 52 bits of a lane.
    mask: __m512i,
    two: __m512i,
    /// The constant 2^51, the top bit of a 52-bit number.
    top: __m512i,
    /// The constant floor(2^52 / q), by which the quotient of a number by q is estimated.
    ratio: __m512i,
    /// The constant 2^17 q, which is above every sum of inverse stages, for q < 2^34. It is 0 for
    /// other ranges.
    above: __m512i,
}

impl IfmaContext {
    /// Reduces any 52-bit x to a number below 2q, in the low 52 bits of each lane. The estimated
    /// quotient by q is short by at most 1.
    #[inline(always)]
    unsafe fn reduce_twice<const K: usize>(self, mut x: [__m512i; K]) -> [__m512i; K] {
        // SAFETY: the caller enables AVX-512 IFMA.
        unsafe {
            let mut quotient = x;
            for quotient in &mut quotient {
                let zero = _mm512_setzero_si512();
                *quotient = _mm512_madd52hi_epu64(zero, *quotient, self.ratio);
            }
            for k in 0..K {
                x[k] = _mm512_madd52lo_epu64(x[k], quotient[k], self.minus_q);
            }
            x
        }
    }

    /// Reduces a number below 4q, the low 52 bits of x, to a number below 2q in each lane. `bound`
    /// is 2q.
    #[inline(always)]
    unsafe fn below_twice<const K: usize>(
        self,
        mut x: [__m512i; K],
        bound: __m512i,
    ) -> [__m512i; K] {
        for x in &mut x {
            // SAFETY: the caller enables AVX-512 F.
            *x = unsafe { lesser(_mm512_and_si512(*x, self.mask), bound) };
        }
        x
    }
}

impl<const RANGE: u8> LazyMul for Ifma<RANGE> {
    const BOUND: u64 = 2;
    const WIDE_RANGE: bool = false;
    const FACTORS_52: bool = true;
    /// A constant factor w modulo q in each lane, and its quotient floor(w 2^52 / q).
    type Constant = (__m512i, __m512i);
    type Form = Factor;
    type Context = IfmaContext;

    #[inline(always)]
    unsafe fn context(q: Modulus) -> IfmaContext {
        // SAFETY: the caller's promise.
        unsafe {
            IfmaContext {
                minus_q: splat((1 << 52) - q.value()),
                mask: splat((1 << 52) - 1),
                two: splat(2),
                top: splat(1 << 51),
                ratio: splat((1 << 52) / q.value()),
                above: splat(if is_small(RANGE) { q.value() << 17 } else { 0 }),
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
    unsafe fn mul(x: __m512i, w: (__m512i, __m512i), context: IfmaContext) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe {
            let [product] = Self::mul_many([x], [w], context);
            _mm512_and_si512(product, context.mask)
        }
    }

    /// Computes x w modulo q for K pairs of vectors x and w, as numbers below 2q in the low 52 bits of each lane.
    #[inline(always)]
    unsafe fn mul_many<const K: usize>(
        mut x: [__m512i; K],
        w: [(__m512i, __m512i); K],
        context: IfmaContext,
    ) -> [__m512i; K] {
        // SAFETY: the caller's promise.
        unsafe {
            let mut quotient = x;
            for k in 0..K {
                quotient[k] = _mm512_madd52hi_epu64(_mm512_setzero_si512(), x[k], w[k].1);
            }
            for k in 0..K {
                x[k] = _mm512_madd52lo_epu64(_mm512_setzero_si512(), x[k], w[k].0);
            }
            for k in 0..K {
                x[k] = _mm512_madd52lo_epu64(x[k], quotient[k], context.minus_q);
            }
            x
        }
    }

    #[inline(always)]
    unsafe fn halve_range<const SECOND: bool, const K: usize>(
        mut x: [__m512i; K],
        bound: __m512i,
        context: IfmaContext,
    ) -> [__m512i; K] {
        if RANGE == SPREAD {
            // SAFETY: the caller's promise.
            unsafe { x = context.below_twice(x, bound) };
        }
        if RANGE == TIGHT {
            for x in &mut x {
                // SAFETY: the caller's promise.
                unsafe {
                    let large = _mm512_test_epi64_mask(*x, context.top);
                    *x = _mm512_mask_sub_epi64(*x, large, *x, bound);
                }
            }
        }
        x
    }

    #[inline(always)]
    unsafe fn reduce_fully<const K: usize>(
        x: [__m512i; K],
        q: __m512i,
        bound: __m512i,
        context: IfmaContext,
    ) -> [__m512i; K] {
        // SAFETY: the caller's promise.
        unsafe {
            if RANGE == SPREAD {
                let mut x = context.below_twice(x, bound);
                for x in &mut x {
                    *x = lesser(*x, q);
                }
                return x;
            }
            Self::reduce_products(context.reduce_twice(x), q, context)
        }
    }

    /// Reduces the results of a forward stage, which are any numbers in the low 52 bits of each
    /// lane, to numbers below 2q in these bits.
    #[inline(always)]
    unsafe fn reduce_twice<const K: usize>(
        x: [__m512i; K],
        _q: __m512i,
        _bound: __m512i,
        context: IfmaContext,
    ) -> [__m512i; K] {
        // SAFETY: the caller's promise.
        unsafe { context.reduce_twice(x) }
    }

    #[inline(always)]
    unsafe fn reduce_products<const K: usize>(
        mut x: [__m512i; K],
        q: __m512i,
        context: IfmaContext,
    ) -> [__m512i; K] {
        for x in &mut x {
            // SAFETY: the caller's promise.
            *x = unsafe { correct(_mm512_and_si512(*x, context.mask), q) };
        }
        x
    }

    /// Computes the forward butterflies (x + w y, x - w y + 2q) modulo 2^52, in five instructions
    /// each. With t = w y, multiply-adds compute x + t and 2q + 2x, and their difference is x +
    /// 2q - t. For [`SMALL_SPREAD`] two additions compute 2q + 2x, which makes six instructions.
    #[inline(always)]
    unsafe fn butterflies<const K: usize>(
        mut x: [__m512i; K],
        mut y: [__m512i; K],
        w: [(__m512i, __m512i); K],
        bound: __m512i,
        context: IfmaContext,
    ) -> ([__m512i; K], [__m512i; K]) {
        // SAFETY: the caller's promise.
        unsafe {
            let mut quotient = y;
            for k in 0..K {
                quotient[k] = _mm512_madd52hi_epu64(_mm512_setzero_si512(), y[k], w[k].1);
            }
            for k in 0..K {
                y[k] = _mm512_madd52lo_epu64(x[k], y[k], w[k].0);
            }
            for x in &mut x {
                *x = match RANGE {
                    SMALL_SPREAD => _mm512_add_epi64(_mm512_add_epi64(*x, *x), bound),
                    _ => _mm512_madd52lo_epu64(bound, *x, context.two),
                };
            }
            for k in 0..K {
                y[k] = _mm512_madd52lo_epu64(y[k], quotient[k], context.minus_q);
            }
            for k in 0..K {
                x[k] = _mm512_sub_epi64(x[k], y[k]);
            }
            (y, x)
        }
    }

    /// Reduces the sums of inverse butterflies to numbers below 2q, in the low 52 bits of each
    /// lane. An inverse butterfly then takes eight instructions (nine with `SPREAD`). For q < 2^34
    /// sums may grow, and a butterfly takes six.
    #[inline(always)]
    unsafe fn reduce_sums<const K: usize>(
        x: [__m512i; K],
        bound: __m512i,
        context: IfmaContext,
    ) -> [__m512i; K] {
        if is_small(RANGE) {
            return x;
        }
        if RANGE == SPREAD {
            // SAFETY: the caller's promise.
            return unsafe { context.below_twice(x, bound) };
        }
        // SAFETY: the caller's promise.
        unsafe { context.reduce_twice(x) }
    }

    /// Returns the multiple of q that makes differences in inverse butterflies positive: 2q, or
    /// 2^17 q in the ranges for q < 2^34. A difference plus this multiple stays below 2^52: below
    /// 2 * 2q, or below 2 * 2^17 q.
    #[inline(always)]
    unsafe fn above(bound: __m512i, context: IfmaContext) -> __m512i {
        if is_small(RANGE) {
            context.above
        } else {
            bound
        }
    }
}
