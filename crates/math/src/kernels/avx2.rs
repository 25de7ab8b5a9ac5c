// SPDX-License-Identifier: Apache-2.0
//! Modular arithmetic of the kernels' loops on four coefficients at a time (AVX2), for any modulus.

use std::arch::x86_64::*;

use super::loops::{self, ByConstant, Products, Sums, Vector, level};
use crate::simd256::{Constant, Context, LANES, correct, load, mul_high_short, splat, store};
use crate::{Modulus, Shoup};

level!("avx2", __m256i, products Barrett, constants Multiplier, sums WideReducer);

/// Computes out = the sum of w_k * a_k mod q over the limbs a_k and the constants w_k, for the coefficients that fill
/// whole vectors. Returns their number.
///
/// # Safety
/// As for the functions of the macro [`level`]: the processor must have AVX2, and pointers and slices must be valid
/// for `len` words.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn dot_scalars(
    q: Modulus,
    out: *mut u64,
    limbs: &[&[u64]],
    constants: &[Shoup],
    len: usize,
) -> usize {
    // SAFETY: the features are enabled here; the rest is the caller's promise.
    unsafe { loops::dot_scalars(WideReducer::new(q), out, limbs, constants, len) }
}

impl Vector for __m256i {
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
        unsafe { _mm256_add_epi64(self, other) }
    }

    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { _mm256_sub_epi64(self, other) }
    }

    #[inline(always)]
    unsafe fn correct(self, m: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { correct(self, m) }
    }

    #[inline(always)]
    unsafe fn lift(self, q: Self) -> Self {
        // SAFETY: the caller's promise. The blend goes by the sign bit of each lane.
        unsafe {
            let lifted = _mm256_castsi256_pd(_mm256_add_epi64(self, q));
            let d = _mm256_castsi256_pd(self);
            _mm256_castpd_si256(_mm256_blendv_pd(d, lifted, d))
        }
    }
}

/// The Barrett reduction of products of residues modulo q, in four lanes.
///
/// With k = bits of q, a product P < 2^2k is cut to P1 = P >> (k-2) < 2^(k+2). The quotient is
/// estimated as the high word of P1 * floor(2^(k+62) / q), short of P / q by less than 4. So the
/// remainder comes out below 4q < 2^63.
#[derive(Clone, Copy)]
struct Barrett {
    context: Context,
    ratio: __m256i,
    ratio_high: __m256i,
    shift_low: __m256i,
    shift_high: __m256i,
}

impl Barrett {
    #[inline(always)]
    unsafe fn new(q: Modulus) -> Self {
        let k = q.bits();
        let ratio = ((1u128 << (k + 62)) / u128::from(q.value())) as u64;
        // SAFETY: the caller enables AVX2.
        unsafe {
            Self {
                context: Context::new(q),
                ratio: splat(ratio),
                ratio_high: splat(ratio >> 32),
                shift_low: splat(u64::from(k - 2)),
                shift_high: splat(u64::from(66 - k)),
            }
        }
    }

    /// Returns in each lane a number below 4q that is congruent to a * b modulo q.
    #[inline(always)]
    unsafe fn product(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the caller enables AVX2.
        unsafe {
            let low_mask = splat(0xffff_ffff);
            let (a_high, b_high) = (_mm256_srli_epi64::<32>(a), _mm256_srli_epi64::<32>(b));
            let low = _mm256_mul_epu32(a, b);
            let cross = _mm256_add_epi64(_mm256_mul_epu32(a_high, b), _mm256_srli_epi64::<32>(low));
            let middle = _mm256_add_epi64(
                _mm256_mul_epu32(a, b_high),
                _mm256_and_si256(cross, low_mask),
            );
            let high = _mm256_add_epi64(
                _mm256_mul_epu32(a_high, b_high),
                _mm256_add_epi64(
                    _mm256_srli_epi64::<32>(cross),
                    _mm256_srli_epi64::<32>(middle),
                ),
            );
            // Odd 32-bit lanes from the middle sum, even ones from the low product.
            let low = _mm256_blend_epi32::<0xaa>(low, _mm256_slli_epi64::<32>(middle));
            let cut = _mm256_or_si256(
                _mm256_sllv_epi64(high, self.shift_high),
                _mm256_srlv_epi64(low, self.shift_low),
            );
            let quotient = mul_high_short(cut, self.ratio, self.ratio_high);
            _mm256_sub_epi64(low, self.context.multiple(quotient))
        }
    }
}

impl Products for Barrett {
    type V = __m256i;

    #[inline(always)]
    unsafe fn mul(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe { self.context.reduce(self.product(a, b)) }
    }

    #[inline(always)]
    unsafe fn mac(self, acc: __m256i, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the caller's promise. Below 2q and q.
        unsafe {
            let product = correct(self.product(a, b), self.context.two_q);
            self.context.reduce(_mm256_add_epi64(product, acc))
        }
    }
}

/// The multiplication of residues by a constant factor w modulo q, with w and its quotient in every
/// lane.
#[derive(Clone, Copy)]
struct Multiplier {
    context: Context,
    w: Constant,
}

impl Multiplier {
    #[inline(always)]
    unsafe fn new(q: Modulus, w: Shoup) -> Self {
        // SAFETY: the caller enables AVX2.
        unsafe {
            Self {
                context: Context::new(q),
                w: Constant::splat(w),
            }
        }
    }
}

impl ByConstant for Multiplier {
    type V = __m256i;

    #[inline(always)]
    unsafe fn mul(self, a: __m256i) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe { correct(self.context.mul(a, self.w), self.context.q) }
    }
}

/// A sum of products x y in each lane, as s0 + s1 2^32 + s2 2^64. For up to 32 products of residues
/// below 2^61, no part overflows.
#[derive(Clone, Copy)]
struct Accumulator {
    s0: __m256i,
    s1: __m256i,
    s2: __m256i,
    /// The mask 2^32 - 1, which selects the low half of each 64-bit lane.
    mask: __m256i,
}

impl Accumulator {
    #[inline(always)]
    unsafe fn new(start: __m256i) -> Self {
        // SAFETY: the caller enables AVX2.
        unsafe {
            let zero = splat(0);
            Self {
                s0: start,
                s1: zero,
                s2: zero,
                mask: splat(0xffff_ffff),
            }
        }
    }

    /// Adds the product x * y to the sum, in each lane.
    #[inline(always)]
    unsafe fn add(&mut self, x: __m256i, y: __m256i) {
        // SAFETY: the caller enables AVX2.
        unsafe {
            let (x_high, y_high) = (_mm256_srli_epi64::<32>(x), _mm256_srli_epi64::<32>(y));
            let low = _mm256_mul_epu32(x, y);
            let cross = _mm256_mul_epu32(x, y_high);
            let other = _mm256_mul_epu32(x_high, y);
            let high = _mm256_mul_epu32(x_high, y_high);
            self.s0 = _mm256_add_epi64(self.s0, _mm256_and_si256(low, self.mask));
            let middle = _mm256_add_epi64(
                _mm256_and_si256(cross, self.mask),
                _mm256_and_si256(other, self.mask),
            );
            let middle = _mm256_add_epi64(middle, _mm256_srli_epi64::<32>(low));
            self.s1 = _mm256_add_epi64(self.s1, middle);
            let carry = _mm256_add_epi64(
                _mm256_srli_epi64::<32>(cross),
                _mm256_srli_epi64::<32>(other),
            );
            self.s2 = _mm256_add_epi64(self.s2, _mm256_add_epi64(high, carry));
        }
    }

    /// Returns the sum of products in each lane as two words: high, low.
    #[inline(always)]
    unsafe fn words(self) -> (__m256i, __m256i) {
        // SAFETY: the caller enables AVX2.
        unsafe {
            let middle = _mm256_add_epi64(self.s1, _mm256_srli_epi64::<32>(self.s0));
            let low = _mm256_blend_epi32::<0xaa>(self.s0, _mm256_slli_epi64::<32>(middle));
            (
                _mm256_add_epi64(self.s2, _mm256_srli_epi64::<32>(middle)),
                low,
            )
        }
    }
}

/// The reduction of a whole sum of products modulo q, as two products by constants: its high word
/// by 2^64 mod q, its low word by 1.
#[derive(Clone, Copy)]
struct WideReducer {
    context: Context,
    high_factor: Constant,
    one: Constant,
}

impl WideReducer {
    #[inline(always)]
    unsafe fn new(q: Modulus) -> Self {
        // SAFETY: the caller enables AVX2.
        unsafe {
            Self {
                context: Context::new(q),
                high_factor: Constant::splat(q.shoup(q.reduce_wide(1 << 64))),
                one: Constant::splat(q.shoup(1)),
            }
        }
    }
}

impl Sums for WideReducer {
    type V = __m256i;
    type Sum = Accumulator;

    #[inline(always)]
    unsafe fn start(self, residue: __m256i) -> Accumulator {
        // SAFETY: the caller's promise.
        unsafe { Accumulator::new(residue) }
    }

    #[inline(always)]
    unsafe fn add(self, mut sum: Accumulator, a: __m256i, b: __m256i) -> Accumulator {
        // SAFETY: the caller's promise.
        unsafe { sum.add(a, b) };
        sum
    }

    #[inline(always)]
    unsafe fn reduce(self, sum: Accumulator) -> __m256i {
        // SAFETY: the caller's promise. Both products are below 2q.
        unsafe {
            let (high, low) = sum.words();
            let high = self.context.mul(high, self.high_factor);
            let low = self.context.mul(low, self.one);
            self.context.reduce(_mm256_add_epi64(high, low))
        }
    }
}
