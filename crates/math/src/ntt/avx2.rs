//! The transform on four coefficients at a time (AVX2), for processors without AVX-512.
//!
//! Radix 2 with Harvey's ranges: below 4q between forward stages, below 2q between inverse ones. 4q < 2^63, so that the
//! sign of a difference says which of two numbers is larger.

use std::arch::x86_64::*;

use super::{NttPlan, Twiddles};
use crate::Shoup;
use crate::plans::Order;
use crate::simd256::{Constant, Context, LANES, correct, load, store};

/// The shortest limb these loops take.
pub(super) const MIN_LEN: usize = 4 * LANES;

/// What every butterfly needs.
#[derive(Clone, Copy)]
struct Stage<'a> {
    value: &'a [u64],
    quotient: &'a [u64],
    context: Context,
}

impl<'a> Stage<'a> {
    #[inline(always)]
    unsafe fn new(plan: &NttPlan, twiddles: &'a Twiddles) -> Self {
        Self {
            value: &twiddles.value,
            quotient: twiddles.quotient(),
            // SAFETY: the caller enables AVX2.
            context: unsafe { Context::new(plan.q) },
        }
    }

    #[inline(always)]
    unsafe fn twiddle(self, index: usize) -> Constant {
        let w = Shoup {
            value: self.value[index],
            quotient: self.quotient[index],
        };
        // SAFETY: the caller enables AVX2.
        unsafe { Constant::splat(w) }
    }

    /// Twiddles `index`, `index` + 1, each in two lanes.
    #[inline(always)]
    unsafe fn two_twiddles(self, index: usize) -> Constant {
        // SAFETY: the caller enables AVX2.
        unsafe {
            let (value, quotient) = (
                &self.value[index..index + 2],
                &self.quotient[index..index + 2],
            );
            let (value, quotient) = (
                (value[0] as i64, value[1] as i64),
                (quotient[0] as i64, quotient[1] as i64),
            );
            Constant::new(
                _mm256_setr_epi64x(value.0, value.0, value.1, value.1),
                _mm256_setr_epi64x(quotient.0, quotient.0, quotient.1, quotient.1),
            )
        }
    }

    /// Twiddles `index` ... `index` + 3, in the order 0 2 1 3.
    #[inline(always)]
    unsafe fn four_twiddles(self, index: usize) -> Constant {
        let (value, quotient) = (
            &self.value[index..index + LANES],
            &self.quotient[index..index + LANES],
        );
        // SAFETY: both slices hold four words; the caller enables AVX2.
        unsafe {
            Constant::new(
                _mm256_permute4x64_epi64::<0b11_01_10_00>(load(value.as_ptr())),
                _mm256_permute4x64_epi64::<0b11_01_10_00>(load(quotient.as_ptr())),
            )
        }
    }

    /// (x + w y, x - w y) below 4q, for x and y below 4q.
    #[inline(always)]
    unsafe fn forward(self, x: __m256i, y: __m256i, w: Constant) -> (__m256i, __m256i) {
        // SAFETY: the caller enables AVX2.
        unsafe {
            let two_q = self.context.two_q;
            let x = correct(x, two_q);
            let t = self.context.mul(y, w);
            (
                _mm256_add_epi64(x, t),
                _mm256_sub_epi64(_mm256_add_epi64(x, two_q), t),
            )
        }
    }

    /// (x + y, w (x - y)) below 2q, for x and y below 2q.
    #[inline(always)]
    unsafe fn inverse(self, x: __m256i, y: __m256i, w: Constant) -> (__m256i, __m256i) {
        // SAFETY: the caller enables AVX2.
        unsafe {
            let two_q = self.context.two_q;
            let difference = _mm256_sub_epi64(_mm256_add_epi64(x, two_q), y);
            (
                correct(_mm256_add_epi64(x, y), two_q),
                self.context.mul(difference, w),
            )
        }
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn forward(plan: &NttPlan, limb: &mut [u64], _: Order) {
    // SAFETY: AVX2 is enabled here; every pointer comes from a chunk of at least the vectors read and written.
    unsafe {
        let stage = Stage::new(plan, &plan.forward);
        let (mut blocks, mut half) = (1, limb.len() / 2);
        while half >= LANES {
            for (i, block) in limb.chunks_exact_mut(2 * half).enumerate() {
                let w = stage.twiddle(blocks + i);
                let (low, high) = block.split_at_mut(half);
                for (low, high) in (low.chunks_exact_mut(LANES)).zip(high.chunks_exact_mut(LANES)) {
                    let (low, high) = (low.as_mut_ptr(), high.as_mut_ptr());
                    let (x, y) = stage.forward(load(low), load(high), w);
                    store(low, x);
                    store(high, y);
                }
            }
            blocks *= 2;
            half /= 2;
        }
        for (i, pair) in limb.chunks_exact_mut(2 * LANES).enumerate() {
            let (low, high) = (pair.as_mut_ptr(), pair.as_mut_ptr().add(LANES));
            let (x, y) = halves(load(low), load(high));
            let (x, y) = stage.forward(x, y, stage.two_twiddles(blocks + 2 * i));
            let (x, y) = halves(x, y);
            let (x, y) = neighbours(x, y);
            let (x, y) = stage.forward(x, y, stage.four_twiddles(2 * blocks + 4 * i));
            let (x, y) = neighbours(x, y);
            store(low, stage.context.reduce(x));
            store(high, stage.context.reduce(y));
        }
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn inverse(plan: &NttPlan, limb: &mut [u64], _: Order) {
    // SAFETY: as in `forward`.
    unsafe {
        let stage = Stage::new(plan, &plan.inverse);
        let (n_inv, n_inv_twiddle) = (
            Constant::splat(plan.n_inv),
            Constant::splat(plan.n_inv_twiddle),
        );
        let n = limb.len();
        for (i, pair) in limb.chunks_exact_mut(2 * LANES).enumerate() {
            let (low, high) = (pair.as_mut_ptr(), pair.as_mut_ptr().add(LANES));
            let (x, y) = neighbours(load(low), load(high));
            let (x, y) = stage.inverse(x, y, stage.four_twiddles(n / 2 + 4 * i));
            let (x, y) = neighbours(x, y);
            let (x, y) = halves(x, y);
            let (x, y) = stage.inverse(x, y, stage.two_twiddles(n / 4 + 2 * i));
            let (x, y) = halves(x, y);
            store(low, x);
            store(high, y);
        }
        let (mut blocks, mut half) = (n / 8, LANES);
        while blocks > 1 {
            for (i, block) in limb.chunks_exact_mut(2 * half).enumerate() {
                let w = stage.twiddle(blocks + i);
                let (low, high) = block.split_at_mut(half);
                for (low, high) in (low.chunks_exact_mut(LANES)).zip(high.chunks_exact_mut(LANES)) {
                    let (low, high) = (low.as_mut_ptr(), high.as_mut_ptr());
                    let (x, y) = stage.inverse(load(low), load(high), w);
                    store(low, x);
                    store(high, y);
                }
            }
            blocks /= 2;
            half *= 2;
        }
        let (low, high) = limb.split_at_mut(half);
        for (low, high) in (low.chunks_exact_mut(LANES)).zip(high.chunks_exact_mut(LANES)) {
            let (low, high) = (low.as_mut_ptr(), high.as_mut_ptr());
            let (x, y) = (load(low), load(high));
            let difference = _mm256_sub_epi64(_mm256_add_epi64(x, stage.context.two_q), y);
            let sum = stage.context.mul(_mm256_add_epi64(x, y), n_inv);
            let difference = stage.context.mul(difference, n_inv_twiddle);
            store(low, stage.context.reduce(sum));
            store(high, stage.context.reduce(difference));
        }
    }
}

/// (low halves of both, high halves of both); its own inverse.
#[inline(always)]
unsafe fn halves(x: __m256i, y: __m256i) -> (__m256i, __m256i) {
    // SAFETY: the caller enables AVX2.
    unsafe {
        (
            _mm256_permute2x128_si256::<0x20>(x, y),
            _mm256_permute2x128_si256::<0x31>(x, y),
        )
    }
}

/// (even lanes of both, odd lanes of both), by turns; its own inverse.
#[inline(always)]
unsafe fn neighbours(x: __m256i, y: __m256i) -> (__m256i, __m256i) {
    // SAFETY: the caller enables AVX2.
    unsafe { (_mm256_unpacklo_epi64(x, y), _mm256_unpackhi_epi64(x, y)) }
}
