// SPDX-License-Identifier: Apache-2.0
//! Computes single products with 52-bit multiply-add. The two factors are residues, or a residue and a constant; the
//! method depends on the size of the modulus.

use std::arch::x86_64::*;

use super::Accumulator;
use crate::kernels::loops::{ByConstant, Products};
use crate::kernels::narrow::{NarrowReducer, SumReducer};
use crate::simd::{Form, LazyMul, WideQuotient, correct, splat};
use crate::{Modulus, Shoup};

/// The Barrett reduction of products of residues modulo q < 2^50, in eight lanes.
///
/// With k = bits of q, a product P < 2^2k is cut to P1 = P >> (k-2) < 2^(k+2) <= 2^52, and the
/// quotient is estimated as P1 * floor(2^(k+50) / q) >> 52. It is short of P / q by less than 2.5:
/// 1/2 from the cut, 1 each from the constant and the floor. So the remainder comes out below 3q.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Barrett {
    q: __m512i,
    two_q: __m512i,
    minus_q: __m512i,
    mask: __m512i,
    ratio: __m512i,
    shift_low: __m512i,
    shift_high: __m512i,
}

impl Barrett {
    #[inline(always)]
    pub(in crate::kernels) unsafe fn new(q: Modulus) -> Self {
        let k = q.bits();
        // At most 2^51, as q >= 2^(k-1).
        let ratio = ((1u128 << (k + 50)) / u128::from(q.value())) as u64;
        // SAFETY: the caller enables AVX-512 F.
        unsafe {
            Self {
                q: splat(q.value()),
                two_q: splat(2 * q.value()),
                minus_q: splat((1 << 52) - q.value()),
                mask: splat((1 << 52) - 1),
                ratio: splat(ratio),
                shift_low: splat(u64::from(k - 2)),
                shift_high: splat(u64::from(54 - k)),
            }
        }
    }

    /// Returns in each lane a number below 3q that is congruent to a * b modulo q.
    #[inline(always)]
    unsafe fn product(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller enables AVX-512 F and IFMA.
        unsafe {
            let zero = _mm512_setzero_si512();
            let high = _mm512_madd52hi_epu64(zero, a, b);
            let low = _mm512_madd52lo_epu64(zero, a, b);
            let cut = _mm512_or_si512(
                _mm512_sllv_epi64(high, self.shift_high),
                _mm512_srlv_epi64(low, self.shift_low),
            );
            let quotient = _mm512_madd52hi_epu64(zero, cut, self.ratio);
            _mm512_and_si512(
                _mm512_madd52lo_epu64(low, quotient, self.minus_q),
                self.mask,
            )
        }
    }
}

/// The Barrett reduction of products of residues modulo q, for q of 54 to 61 bits, in eight lanes.
///
/// With k = bits of q, a product P = s0 + s1 2^52 + s2 2^104 < 2^2k is cut to P1 = (s1 + s2 2^52) >> (k-54), which is
/// `P >> (k-2)` or one less. The quotient is estimated as the high word of P1 * floor(2^(k+62) / q), as in [`IfmaWide`].
/// It is short of P / q by less than 4: 1/2 each from the cut, the one less and the constant, and 2 + 2^-20 from the
/// floors. So the remainder comes out below 4q.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct WideBarrett {
    q: __m512i,
    two_q: __m512i,
    ratio: WideQuotient,
    shift_s1: __m512i,
    shift_s2: __m512i,
}

impl WideBarrett {
    #[inline(always)]
    pub(in crate::kernels) unsafe fn new(q: Modulus) -> Self {
        let k = q.bits();
        let ratio = ((1u128 << (k + 62)) / u128::from(q.value())) as u64;
        // SAFETY: the caller enables AVX-512 F.
        unsafe {
            Self {
                q: splat(q.value()),
                two_q: splat(2 * q.value()),
                ratio: WideQuotient::new(ratio),
                shift_s1: splat(u64::from(k - 54)),
                shift_s2: splat(u64::from(106 - k)),
            }
        }
    }

    /// Returns in each lane a number below 2q that is congruent to a * b modulo q.
    #[inline(always)]
    unsafe fn product(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller enables AVX-512 F, DQ and IFMA.
        unsafe {
            let mut product = Accumulator::new(_mm512_setzero_si512());
            product.add(a, b, _mm512_srli_epi64::<52>(b));
            let Accumulator { s0, s1, s2 } = product;
            let cut = _mm512_add_epi64(
                _mm512_srlv_epi64(s1, self.shift_s1),
                _mm512_sllv_epi64(s2, self.shift_s2),
            );
            let multiple = _mm512_mullo_epi64(self.ratio.of(cut), self.q);
            let low = _mm512_add_epi64(s0, _mm512_slli_epi64::<52>(s1));
            correct(_mm512_sub_epi64(low, multiple), self.two_q)
        }
    }
}

impl Products for Barrett {
    type V = __m512i;

    #[inline(always)]
    unsafe fn mul(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { correct(correct(self.product(a, b), self.two_q), self.q) }
    }

    #[inline(always)]
    unsafe fn mac(self, acc: __m512i, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller's promise. Below 3q and q: 4q in all.
        unsafe {
            let sum = _mm512_add_epi64(self.product(a, b), acc);
            correct(correct(sum, self.two_q), self.q)
        }
    }
}

impl Products for WideBarrett {
    type V = __m512i;

    #[inline(always)]
    unsafe fn mul(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { correct(self.product(a, b), self.q) }
    }

    #[inline(always)]
    unsafe fn mac(self, acc: __m512i, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller's promise. Below 2q and q: 3q in all.
        unsafe {
            let sum = _mm512_add_epi64(self.product(a, b), acc);
            correct(correct(sum, self.two_q), self.q)
        }
    }
}

impl Products for NarrowReducer {
    type V = __m512i;

    #[inline(always)]
    unsafe fn mul(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { self.mac(_mm512_setzero_si512(), a, b) }
    }

    #[inline(always)]
    unsafe fn mac(self, acc: __m512i, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe {
            let mut sum = Accumulator::new(acc);
            sum.add(a, b, _mm512_srli_epi64::<52>(b));
            self.reduce_sum(sum)
        }
    }
}

/// The multiplication of residues by a constant factor w modulo q, with w in the form that the
/// arithmetic A needs.
#[derive(Clone, Copy)]
pub(super) struct Multiplier<A: LazyMul> {
    context: A::Context,
    w: A::Constant,
    q: __m512i,
}

impl<A: LazyMul> Multiplier<A> {
    #[inline(always)]
    pub(super) unsafe fn new(q: Modulus, w: Shoup) -> Self {
        // SAFETY: the caller enables the features of A.
        unsafe {
            Self {
                context: A::context(q),
                w: A::broadcast(&A::Form::new(q, w)),
                q: splat(q.value()),
            }
        }
    }
}

impl<A: LazyMul + Copy> ByConstant for Multiplier<A> {
    type V = __m512i;

    #[inline(always)]
    unsafe fn mul(self, a: __m512i) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe {
            let products = A::mul_many([a], [self.w], self.context);
            let [product] = A::reduce_products(products, self.q, self.context);
            product
        }
    }
}
