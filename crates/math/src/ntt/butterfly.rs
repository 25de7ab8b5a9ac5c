//! Butterflies on eight coefficients, for each way of multiplying ([`LazyMul`]), and the lane order of the stages whose
//! partners share a vector.
//!
//! Everything is `inline(always)` and `unsafe`: the loop around it must enable the features of its arithmetic.

use std::arch::x86_64::*;

use super::{NttPlan, Twiddles};
use crate::Shoup;
use crate::simd::{LazyMul, correct, splat};

/// What every butterfly needs.
pub(super) struct Stage<'a, A: LazyMul> {
    twiddles: &'a Twiddles,
    context: A::Context,
    q: __m512i,
    /// c = `BOUND` * q.
    bound: __m512i,
    /// What is taken off an operand before the first of two stages.
    first_correction: __m512i,
}

impl<A: LazyMul> Clone for Stage<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A: LazyMul> Copy for Stage<'_, A> {}

impl<'a, A: LazyMul> Stage<'a, A> {
    #[inline(always)]
    pub(super) unsafe fn new(plan: &NttPlan, twiddles: &'a Twiddles) -> Self {
        let q = plan.q.value();
        let first = if A::WIDE_RANGE {
            2 * A::BOUND * q
        } else {
            A::BOUND * q
        };
        // SAFETY: the caller enables the features of A.
        unsafe {
            Self {
                twiddles,
                context: A::context(plan.q),
                q: splat(q),
                bound: splat(A::BOUND * q),
                first_correction: splat(first),
            }
        }
    }

    /// Twiddle `index` in every lane.
    #[inline(always)]
    pub(super) unsafe fn twiddle(self, index: usize) -> A::Constant {
        debug_assert!(index < self.twiddles.value.len());
        // SAFETY: index < n, the length of both tables: m + i < 2 m <= n for block i of m.
        unsafe {
            A::constant(
                splat(*self.twiddles.value.get_unchecked(index)),
                splat(*self.twiddles.quotient.get_unchecked(index)),
            )
        }
    }

    /// Twiddles `index`, `index` + 1 by turns.
    #[inline(always)]
    pub(super) unsafe fn two_twiddles(self, index: usize) -> A::Constant {
        debug_assert!(index + 2 <= self.twiddles.value.len());
        // SAFETY: index + 2 <= n.
        unsafe {
            let load = |table: &[u64]| {
                _mm512_broadcast_i64x2(_mm_loadu_si128(table.as_ptr().add(index).cast()))
            };
            A::constant(load(&self.twiddles.value), load(&self.twiddles.quotient))
        }
    }

    /// Twiddles `index` ... `index` + 3 by turns.
    #[inline(always)]
    pub(super) unsafe fn four_twiddles(self, index: usize) -> A::Constant {
        debug_assert!(index + 4 <= self.twiddles.value.len());
        // SAFETY: index + 4 <= n.
        unsafe {
            let load = |table: &[u64]| {
                _mm512_broadcast_i64x4(_mm256_loadu_si256(table.as_ptr().add(index).cast()))
            };
            A::constant(load(&self.twiddles.value), load(&self.twiddles.quotient))
        }
    }

    /// Twiddles `index` ... `index` + 7, one a lane.
    #[inline(always)]
    pub(super) unsafe fn eight_twiddles(self, index: usize) -> A::Constant {
        debug_assert!(index + 8 <= self.twiddles.value.len());
        // SAFETY: index + 8 <= n.
        unsafe {
            let load = |table: &[u64]| _mm512_loadu_si512(table.as_ptr().add(index).cast());
            A::constant(load(&self.twiddles.value), load(&self.twiddles.quotient))
        }
    }

    /// (x + w y, x - w y), each below x's bound plus c.
    #[inline(always)]
    pub(super) unsafe fn forward(
        self,
        x: __m512i,
        y: __m512i,
        w: A::Constant,
    ) -> (__m512i, __m512i) {
        // SAFETY: the caller enables the features of A.
        unsafe {
            let t = A::mul(y, w, self.context);
            (
                _mm512_add_epi64(x, t),
                _mm512_sub_epi64(_mm512_add_epi64(x, self.bound), t),
            )
        }
    }

    /// x brought below half the range, before the first of two stages.
    #[inline(always)]
    pub(super) unsafe fn before_first(self, x: __m512i) -> __m512i {
        // SAFETY: the caller enables the features of A.
        unsafe { correct(x, self.first_correction) }
    }

    /// x made fit for the second of two stages.
    #[inline(always)]
    pub(super) unsafe fn before_second(self, x: __m512i) -> __m512i {
        // SAFETY: the caller enables the features of A.
        if A::WIDE_RANGE {
            x
        } else {
            unsafe { correct(x, self.bound) }
        }
    }

    /// ((x + y) reduced below c, w (x - y) below c), for x and y below c.
    #[inline(always)]
    pub(super) unsafe fn inverse(
        self,
        x: __m512i,
        y: __m512i,
        w: A::Constant,
    ) -> (__m512i, __m512i) {
        // SAFETY: the caller enables the features of A.
        unsafe {
            let difference = _mm512_sub_epi64(_mm512_add_epi64(x, self.bound), y);
            (
                correct(_mm512_add_epi64(x, y), self.bound),
                A::mul(difference, w, self.context),
            )
        }
    }

    /// As [`Stage::inverse`] in the last stage: both results times 1/n, fully reduced.
    #[inline(always)]
    pub(super) unsafe fn inverse_last(
        self,
        x: __m512i,
        y: __m512i,
        last: Last<A>,
    ) -> (__m512i, __m512i) {
        // SAFETY: the caller enables the features of A.
        unsafe {
            let difference = _mm512_sub_epi64(_mm512_add_epi64(x, self.bound), y);
            let sum = A::mul(_mm512_add_epi64(x, y), last.n_inv, self.context);
            (
                self.reduce_product(sum),
                self.reduce_product(A::mul(difference, last.n_inv_twiddle, self.context)),
            )
        }
    }

    /// From below c to below q.
    #[inline(always)]
    pub(super) unsafe fn reduce_product(self, mut x: __m512i) -> __m512i {
        // SAFETY: the caller enables the features of A.
        unsafe {
            if A::BOUND == 4 {
                x = correct(x, _mm512_add_epi64(self.q, self.q));
            }
            correct(x, self.q)
        }
    }

    /// From a forward stage's range to below q.
    #[inline(always)]
    pub(super) unsafe fn reduce_fully(self, mut x: __m512i) -> __m512i {
        // SAFETY: the caller enables the features of A.
        unsafe {
            if A::WIDE_RANGE {
                x = correct(x, self.first_correction);
            }
            self.reduce_product(correct(x, self.bound))
        }
    }
}

/// The constants of the last inverse stage.
pub(super) struct Last<A: LazyMul> {
    n_inv: A::Constant,
    n_inv_twiddle: A::Constant,
}

impl<A: LazyMul> Clone for Last<A> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A: LazyMul> Copy for Last<A> {}

impl<A: LazyMul> Last<A> {
    #[inline(always)]
    pub(super) unsafe fn new(plan: &NttPlan) -> Self {
        // SAFETY: the caller enables the features of A.
        unsafe {
            let constant = |w: Shoup| A::constant(splat(w.value), splat(w.quotient));
            Self {
                n_inv: constant(plan.n_inv),
                n_inv_twiddle: constant(plan.n_inv_twiddle),
            }
        }
    }
}

/// The perfect shuffle of sixteen lanes: (e0 ... e7, e8 ... e15) to (e0 e8 e1 e9 ..., e4 e12 e5 e13 ...).
///
/// Applied before each of the last three stages it brings partners to the same lane of the two vectors, with lane l
/// holding block l mod 2, then l mod 4, then l (so twiddles are loaded in memory order); a fourth brings the
/// coefficients back to natural order.
#[inline(always)]
pub(super) unsafe fn shuffle(x: __m512i, y: __m512i) -> (__m512i, __m512i) {
    // SAFETY: the caller enables AVX-512 F.
    unsafe {
        let low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
        let high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
        (
            _mm512_permutex2var_epi64(x, low, y),
            _mm512_permutex2var_epi64(x, high, y),
        )
    }
}

/// The inverse of [`shuffle`].
#[inline(always)]
pub(super) unsafe fn unshuffle(x: __m512i, y: __m512i) -> (__m512i, __m512i) {
    // SAFETY: the caller enables AVX-512 F.
    unsafe {
        let even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
        let odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
        (
            _mm512_permutex2var_epi64(x, even, y),
            _mm512_permutex2var_epi64(x, odd, y),
        )
    }
}
