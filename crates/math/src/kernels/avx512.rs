// SPDX-License-Identifier: Apache-2.0
//! Modular arithmetic of the kernels' loops on eight coefficients at a time (AVX-512 F and DQ), for any modulus.

use std::arch::x86_64::*;

use super::loops::{self, ByConstant, Products, Sums, Vector, level, vectors};
use crate::simd::{
    DoubleWord, LANES, LazyMul, correct, load, mul_high_short, mul_wide, splat, store,
};
use crate::{Modulus, Shoup};

/// The arithmetic that multiplies by constants modulo any q below 2^61.
type Arithmetic = DoubleWord<false>;

level!("avx512f,avx512dq", __m512i, products Barrett, constants Multiplier, sums WideReducer);

/// Returns a constant factor modulo q, with its quotient, in every lane.
#[target_feature(enable = "avx512f,avx512dq")]
fn constant(w: Shoup) -> <Arithmetic as LazyMul>::Constant {
    // SAFETY: the features are enabled here.
    unsafe { Arithmetic::constant(splat(w.value), splat(w.quotient)) }
}

/// Reduces numbers below 4q to residues below q, in each of eight lanes.
#[inline(always)]
unsafe fn reduce_product(x: __m512i, two_q: __m512i, q: __m512i) -> __m512i {
    // SAFETY: the caller enables AVX-512 F.
    unsafe { correct(correct(x, two_q), q) }
}

/// The Barrett reduction of products of residues modulo q, in eight lanes.
///
/// With k = bits of q, a product P < 2^2k is cut to P1 = P >> (k-2) < 2^(k+2), and the quotient is estimated as the
/// high word of P1 * floor(2^(k+62) / q). It is short of P / q by less than 4: 1/2 each from the cut and the constant,
/// 3 from [`mul_high_short`]. So the remainder comes out below 4q.
#[derive(Clone, Copy)]
struct Barrett {
    q: __m512i,
    two_q: __m512i,
    ratio: __m512i,
    ratio_high: __m512i,
    shift_low: __m512i,
    shift_high: __m512i,
}

impl Barrett {
    #[inline(always)]
    unsafe fn new(q: Modulus) -> Self {
        let k = q.bits();
        let ratio = ((1u128 << (k + 62)) / u128::from(q.value())) as u64;
        // SAFETY: the caller enables AVX-512 F.
        unsafe {
            Self {
                q: splat(q.value()),
                two_q: splat(2 * q.value()),
                ratio: splat(ratio),
                ratio_high: splat(ratio >> 32),
                shift_low: splat(u64::from(k - 2)),
                shift_high: splat(u64::from(66 - k)),
            }
        }
    }

    /// Returns in each lane a number below 4q that is congruent to a * b modulo q.
    #[inline(always)]
    unsafe fn product(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller enables AVX-512 F and DQ.
        unsafe {
            let (high, low) = mul_wide(a, b);
            let cut = _mm512_or_si512(
                _mm512_sllv_epi64(high, self.shift_high),
                _mm512_srlv_epi64(low, self.shift_low),
            );
            let quotient = mul_high_short(cut, self.ratio, self.ratio_high);
            _mm512_sub_epi64(low, _mm512_mullo_epi64(quotient, self.q))
        }
    }
}

impl Products for Barrett {
    type V = __m512i;

    #[inline(always)]
    unsafe fn mul(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { reduce_product(self.product(a, b), self.two_q, self.q) }
    }

    #[inline(always)]
    unsafe fn mac(self, acc: __m512i, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller's promise. Below 2q and q: one more of each.
        unsafe {
            let product = correct(self.product(a, b), self.two_q);
            reduce_product(_mm512_add_epi64(product, acc), self.two_q, self.q)
        }
    }
}

/// The multiplication of residues by a constant factor w modulo q, with w and its quotient in every
/// lane.
#[derive(Clone, Copy)]
struct Multiplier {
    context: <Arithmetic as LazyMul>::Context,
    w: <Arithmetic as LazyMul>::Constant,
    two_q: __m512i,
    q: __m512i,
}

impl Multiplier {
    #[inline(always)]
    unsafe fn new(q: Modulus, w: Shoup) -> Self {
        // SAFETY: the caller enables AVX-512 F and DQ.
        unsafe {
            Self {
                context: Arithmetic::context(q),
                w: constant(w),
                two_q: splat(2 * q.value()),
                q: splat(q.value()),
            }
        }
    }
}

impl ByConstant for Multiplier {
    type V = __m512i;

    #[inline(always)]
    unsafe fn mul(self, a: __m512i) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { reduce_product(Arithmetic::mul(a, self.w, self.context), self.two_q, self.q) }
    }
}

impl Sums for WideReducer {
    type V = __m512i;
    /// A sum of products in each of eight lanes: its high words and its low words.
    type Sum = (__m512i, __m512i);

    #[inline(always)]
    unsafe fn start(self, residue: __m512i) -> (__m512i, __m512i) {
        // SAFETY: the caller's promise.
        unsafe { (_mm512_setzero_si512(), residue) }
    }

    #[inline(always)]
    unsafe fn add(
        self,
        (mut high, mut low): (__m512i, __m512i),
        a: __m512i,
        b: __m512i,
    ) -> (__m512i, __m512i) {
        // SAFETY: the caller's promise.
        unsafe {
            let (h, l) = mul_wide(a, b);
            low = _mm512_add_epi64(low, l);
            high = _mm512_add_epi64(high, h);
            let carry = _mm512_cmplt_epu64_mask(low, l);
            (_mm512_mask_add_epi64(high, carry, high, splat(1)), low)
        }
    }

    #[inline(always)]
    unsafe fn reduce(self, (high, low): (__m512i, __m512i)) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { WideReducer::reduce(self, high, low) }
    }
}

impl Vector for __m512i {
    const LANES: usize = LANES;

    #[inline(always)]
    unsafe fn load(p: *const u64) -> Self {
        // SAFETY: the caller's promise.
        unsafe { load(p) }
    }

    #[inline(always)]
    unsafe fn store(self, p: *mut u64) {
        // SAFETY: the caller's promise.
        unsafe { store(p, self) }
    }

    #[inline(always)]
    unsafe fn splat(x: u64) -> Self {
        // SAFETY: the caller's promise.
        unsafe { splat(x) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { _mm512_add_epi64(self, other) }
    }

    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { _mm512_sub_epi64(self, other) }
    }

    #[inline(always)]
    unsafe fn correct(self, m: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { correct(self, m) }
    }

    #[inline(always)]
    unsafe fn lift(self, q: Self) -> Self {
        // SAFETY: the caller's promise. A negative number is a huge one without its sign.
        unsafe { _mm512_min_epu64(self, _mm512_add_epi64(self, q)) }
    }
}

/// Computes out = the sum of w_k * a_k mod q over the limbs a_k and the constants w_k, for the coefficients that fill
/// whole vectors. Returns their number. Each product with a constant is reduced by its quotient, so the whole sum needs
/// no reduction of its own.
///
/// # Safety
/// As for the functions of the macro [`level`]: the processor must have AVX-512 F and DQ, and pointers and slices must
/// be valid for `len` words.
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) unsafe fn dot_scalars(
    q: Modulus,
    out: *mut u64,
    limbs: &[&[u64]],
    constants: &[Shoup],
    len: usize,
) -> usize {
    // SAFETY: the pointer and every slice are valid for len words (caller).
    unsafe {
        let context = Arithmetic::context(q);
        let (four_q, two_q, q) = (splat(4 * q.value()), splat(2 * q.value()), splat(q.value()));
        vectors!(len, i => {
            // The sum stays below 4q, and so does a product: together they are below 8q < 2^64.
            let mut sum = _mm512_setzero_si512();
            for (a, &w) in limbs.iter().zip(constants) {
                let product = Arithmetic::mul(load(a.as_ptr().add(i)), constant(w), context);
                sum = correct(_mm512_add_epi64(sum, product), four_q);
            }
            store(out.add(i), reduce_product(sum, two_q, q))
        })
    }
}

/// The reduction modulo q of any 128-bit number high * 2^64 + low, as two products by constants:
/// high by 2^64 mod q, low by 1.
#[derive(Clone, Copy)]
pub(crate) struct WideReducer {
    context: <Arithmetic as LazyMul>::Context,
    high_factor: <Arithmetic as LazyMul>::Constant,
    one: <Arithmetic as LazyMul>::Constant,
    four_q: __m512i,
    two_q: __m512i,
    q: __m512i,
}

impl WideReducer {
    /// Prepares the reduction of 128-bit numbers modulo q, eight at a time: puts its constants into every lane of
    /// vectors.
    ///
    /// # Safety
    /// The caller must enable AVX-512 F and DQ.
    #[inline(always)]
    pub(crate) unsafe fn new(q: Modulus) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                context: Arithmetic::context(q),
                high_factor: constant(q.shoup(q.reduce_wide(1 << 64))),
                one: constant(q.shoup(1)),
                four_q: splat(4 * q.value()),
                two_q: splat(2 * q.value()),
                q: splat(q.value()),
            }
        }
    }

    /// Returns in each lane the residue below q of the number high * 2^64 + low.
    ///
    /// # Safety
    /// The caller must enable AVX-512 F and DQ.
    #[inline(always)]
    pub(crate) unsafe fn reduce(self, high: __m512i, low: __m512i) -> __m512i {
        // SAFETY: the caller's promise. Both products are below 4q, their sum below 8q < 2^64.
        unsafe {
            let high = Arithmetic::mul(high, self.high_factor, self.context);
            let low = Arithmetic::mul(low, self.one, self.context);
            reduce_product(
                correct(_mm512_add_epi64(high, low), self.four_q),
                self.two_q,
                self.q,
            )
        }
    }
}
