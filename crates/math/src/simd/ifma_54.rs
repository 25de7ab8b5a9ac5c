// SPDX-License-Identifier: Apache-2.0
//! Multiplies by a constant modulo a number of 52 to 54 bits, with quotients from 52-bit multiply-add.

use std::arch::x86_64::*;
use std::sync::OnceLock;

use super::ifma_wide::mul_low;
use super::{Chunks, Form, Forms, LazyMul, correct_many, splat};
use crate::{Modulus, Shoup};

/// 64-bit arithmetic modulo q < 2^54, with quotients from 52-bit products (AVX-512 IFMA, F and DQ).
///
/// Let w be a constant factor. A number x < 16 q < 2^58 that it multiplies is x1 2^52 + x0:
/// multiply-add reads x0 of it without a mask, and x1 has 6 bits. With d = floor(w 2^58 / q), of 58
/// bits, x1 d fits a word, and the quotient is floor(x1 d / 2^6) + floor(x0 floor(w 2^52 / q) /
/// 2^52): four instructions. It is short of x w / q by less than 4: 1 each for the two floors, x1
/// 2^-6 for d and x0 2^-52 for the other factor.
///
/// `STEP` says that two chunks of a transform run together, instruction by instruction; this is 6
/// to 8 % faster on Zen 5.
#[derive(Clone, Copy)]
pub struct Ifma54<const STEP: bool>;

/// A constant factor of [`Ifma54`] modulo q: the factor w, floor(w 2^52 / q) and floor(w 2^58 / q),
/// in each lane.
#[derive(Clone, Copy)]
pub struct Constant54 {
    value: __m512i,
    quotient_52: __m512i,
    quotient_58: __m512i,
}

/// A constant factor of [`Ifma54`] in memory, for vectors whose lanes all multiply by it.
#[derive(Clone, Copy)]
pub struct Form54 {
    value: u64,
    quotient_52: u64,
    quotient_58: u64,
}

impl Form for Form54 {
    fn new(_q: Modulus, w: Shoup) -> Self {
        Self {
            value: w.value,
            quotient_52: w.quotient >> 12,
            quotient_58: w.quotient >> 6,
        }
    }

    fn kept(tables: &Forms) -> Option<&OnceLock<Vec<Self>>> {
        Some(&tables.of_54)
    }
}

/// The constants of a modulus q for the 64-bit arithmetic of [`Ifma54`], one in each lane.
#[derive(Clone, Copy)]
pub struct Context54 {
    q: __m512i,
    /// The constant floor(2^58 / q), by which the quotient of a number by q is estimated.
    ratio: __m512i,
}

impl<const STEP: bool> LazyMul for Ifma54<STEP> {
    const BOUND: u64 = 4;
    const WIDE_RANGE: bool = true;
    const FORWARD: Chunks = if STEP { Chunks::TwoInStep } else { Chunks::Two };
    const INVERSE: Chunks = if STEP { Chunks::TwoInStep } else { Chunks::One };
    type Constant = Constant54;
    type Form = Form54;
    type Context = Context54;

    #[inline(always)]
    unsafe fn context(q: Modulus) -> Context54 {
        // SAFETY: the caller's promise.
        unsafe {
            Context54 {
                q: splat(q.value()),
                ratio: splat((1 << 58) / q.value()),
            }
        }
    }

    #[inline(always)]
    unsafe fn constant(value: __m512i, quotient: __m512i) -> Constant54 {
        // SAFETY: the caller's promise.
        unsafe {
            Constant54 {
                value,
                quotient_52: _mm512_srli_epi64::<12>(quotient),
                quotient_58: _mm512_srli_epi64::<6>(quotient),
            }
        }
    }

    #[inline(always)]
    unsafe fn broadcast(w: &Form54) -> Constant54 {
        // SAFETY: the caller's promise.
        unsafe {
            Constant54 {
                value: splat(w.value),
                quotient_52: splat(w.quotient_52),
                quotient_58: splat(w.quotient_58),
            }
        }
    }

    #[inline(always)]
    unsafe fn mul(x: __m512i, w: Constant54, context: Context54) -> __m512i {
        // SAFETY: the caller's promise.
        let [product] = unsafe { Self::mul_many([x], [w], context) };
        product
    }

    #[inline(always)]
    unsafe fn mul_many<const K: usize>(
        mut x: [__m512i; K],
        w: [Constant54; K],
        context: Context54,
    ) -> [__m512i; K] {
        // SAFETY: the caller's promise.
        unsafe {
            let mut quotient = x;
            for k in 0..K {
                quotient[k] = mul_low(_mm512_srli_epi64::<52>(x[k]), w[k].quotient_58);
            }
            for k in 0..K {
                quotient[k] = _mm512_srli_epi64::<6>(quotient[k]);
                quotient[k] = _mm512_madd52hi_epu64(quotient[k], x[k], w[k].quotient_52);
            }
            for k in 0..K {
                x[k] = mul_low(x[k], w[k].value);
            }
            for quotient in &mut quotient {
                *quotient = mul_low(*quotient, context.q);
            }
            for k in 0..K {
                x[k] = _mm512_sub_epi64(x[k], quotient[k]);
            }
            x
        }
    }

    /// Returns the residues below q of K vectors of numbers x < 16 q. The estimated quotient is
    /// short by less than 2.
    #[inline(always)]
    unsafe fn reduce_fully<const K: usize>(
        mut x: [__m512i; K],
        q: __m512i,
        _bound: __m512i,
        context: Context54,
    ) -> [__m512i; K] {
        // SAFETY: the caller's promise.
        unsafe {
            let mut quotient = x;
            for quotient in &mut quotient {
                let zero = _mm512_setzero_si512();
                let upper = _mm512_srli_epi64::<6>(*quotient);
                *quotient = _mm512_madd52hi_epu64(zero, upper, context.ratio);
            }
            for k in 0..K {
                x[k] = _mm512_sub_epi64(x[k], mul_low(quotient[k], q));
            }
            correct_many(x, q)
        }
    }
}
