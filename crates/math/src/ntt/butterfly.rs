// SPDX-License-Identifier: Apache-2.0
//! Butterflies on eight coefficients, for each way of multiplying ([`LazyMul`]). The module also has the order of lanes for
//! the stages whose partners lie in one vector.
//!
//! Everything is `inline(always)` and `unsafe`: the loop around it must enable the features of its arithmetic.

use std::arch::x86_64::*;

use super::{NttPlan, Twiddles};
use crate::plans::Order;
use crate::simd::{Form, LazyMul, correct, splat};

/// The twiddles of one direction of a transform, and the constants that all its butterflies need.
pub(super) struct Stage<'a, A: LazyMul> {
    value: &'a [u64],
    quotient: &'a [u64],
    shared: &'a [A::Form],
    pub(super) context: A::Context,
    pub(super) q: __m512i,
    /// The bound c = `BOUND` * q below which products of butterflies are, in each lane.
    bound: __m512i,
    /// The most coefficients of a part of the limb that is finished before the next part begins.
    pub(super) block: usize,
}

impl<A: LazyMul> Clone for Stage<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A: LazyMul> Copy for Stage<'_, A> {}

impl<'a, A: LazyMul> Stage<'a, A> {
    #[inline(always)]
    pub(super) unsafe fn new(plan: &NttPlan, twiddles: &'a Twiddles, order: Order) -> Self {
        let q = plan.q.value();
        // SAFETY: the caller enables the features of A.
        unsafe {
            Self {
                value: &twiddles.value,
                quotient: if A::FACTORS_52 {
                    twiddles.factor_52()
                } else {
                    twiddles.quotient()
                },
                shared: twiddles.shared(),
                context: A::context(plan.q),
                q: splat(q),
                bound: splat(A::BOUND * q),
                block: order.words(size_of::<u64>()),
            }
        }
    }

    /// Returns twiddle number `index` in every lane. Arithmetics whose constants are a value and a
    /// 52-bit factor read it from the two tables of these; all others read a table of their own
    /// form.
    #[inline(always)]
    pub(super) unsafe fn twiddle(self, index: usize) -> A::Constant {
        // SAFETY: index < n / 8, the length of the shorter table: vectors share a twiddle in the stages of m <= n / 16 blocks.
        unsafe {
            if A::FACTORS_52 {
                debug_assert!(index < self.value.len());
                return A::constant(
                    splat(*self.value.get_unchecked(index)),
                    splat(*self.quotient.get_unchecked(index)),
                );
            }
            debug_assert!(index < self.shared.len());
            A::broadcast(self.shared.get_unchecked(index))
        }
    }

    /// Returns a vector in whose lanes the twiddles number `index` and `index` + 1 alternate.
    #[inline(always)]
    unsafe fn two_twiddles(self, index: usize) -> A::Constant {
        debug_assert!(index + 2 <= self.value.len());
        // SAFETY: index + 2 <= n.
        unsafe {
            let load = |table: &[u64]| {
                _mm512_broadcast_i64x2(_mm_loadu_si128(table.as_ptr().add(index).cast()))
            };
            A::constant(load(self.value), load(self.quotient))
        }
    }

    /// Returns a vector in whose lanes the twiddles number `index` ... `index` + 3 follow one another, twice.
    #[inline(always)]
    unsafe fn four_twiddles(self, index: usize) -> A::Constant {
        debug_assert!(index + 4 <= self.value.len());
        // SAFETY: index + 4 <= n.
        unsafe {
            let load = |table: &[u64]| {
                _mm512_broadcast_i64x4(_mm256_loadu_si256(table.as_ptr().add(index).cast()))
            };
            A::constant(load(self.value), load(self.quotient))
        }
    }

    /// Returns a vector with the twiddles number `index` ... `index` + 7, one in each lane.
    #[inline(always)]
    unsafe fn eight_twiddles(self, index: usize) -> A::Constant {
        debug_assert!(index + 8 <= self.value.len());
        // SAFETY: index + 8 <= n.
        unsafe {
            let load = |table: &[u64]| _mm512_loadu_si512(table.as_ptr().add(index).cast());
            A::constant(load(self.value), load(self.quotient))
        }
    }

    /// Returns, for each of four consecutive pairs of vectors, two twiddles that alternate in the
    /// lanes ([`Stage::two_twiddles`]). The first pair has twiddles number `index` and `index` + 1.
    #[inline(always)]
    pub(super) unsafe fn twos(self, index: usize) -> [A::Constant; 4] {
        // SAFETY: index + 8 <= n; the caller enables the features of A.
        unsafe {
            [
                self.two_twiddles(index),
                self.two_twiddles(index + 2),
                self.two_twiddles(index + 4),
                self.two_twiddles(index + 6),
            ]
        }
    }

    /// Returns, for each of four consecutive pairs of vectors, four twiddles that follow one
    /// another twice in the lanes ([`Stage::four_twiddles`]). The first pair has twiddles number
    /// `index` to `index` + 3.
    #[inline(always)]
    pub(super) unsafe fn fours(self, index: usize) -> [A::Constant; 4] {
        // SAFETY: index + 16 <= n; the caller enables the features of A.
        unsafe {
            [
                self.four_twiddles(index),
                self.four_twiddles(index + 4),
                self.four_twiddles(index + 8),
                self.four_twiddles(index + 12),
            ]
        }
    }

    /// Returns, for each of four consecutive pairs of vectors, eight twiddles, one in each lane
    /// ([`Stage::eight_twiddles`]). The first pair has twiddles number `index` to `index` + 7.
    #[inline(always)]
    pub(super) unsafe fn eights(self, index: usize) -> [A::Constant; 4] {
        // SAFETY: index + 32 <= n; the caller enables the features of A.
        unsafe {
            [
                self.eight_twiddles(index),
                self.eight_twiddles(index + 8),
                self.eight_twiddles(index + 16),
                self.eight_twiddles(index + 24),
            ]
        }
    }

    /// Computes the forward butterfly (x + w y, x - w y) for K pairs of vectors together, so that
    /// instructions on one pair run while those on another wait. Each result is below the bound of
    /// x plus c, the bound of products.
    #[inline(always)]
    pub(super) unsafe fn forward<const K: usize>(
        self,
        x: [__m512i; K],
        y: [__m512i; K],
        w: [A::Constant; K],
    ) -> ([__m512i; K], [__m512i; K]) {
        // SAFETY: the caller enables the features of A.
        unsafe { A::butterflies(x, y, w, self.bound, self.context) }
    }

    /// Reduces x before a forward stage, as [`LazyMul::halve_range`] does. Stages come in pairs, and `SECOND` says that
    /// this is the second of a pair.
    #[inline(always)]
    pub(super) unsafe fn before<const SECOND: bool, const K: usize>(
        self,
        x: [__m512i; K],
    ) -> [__m512i; K] {
        // SAFETY: the caller enables the features of A.
        unsafe { A::halve_range::<SECOND, K>(x, self.bound, self.context) }
    }

    /// Computes ((a - x) w + c) mod q for K triples of vectors, with c only if `ADD` is set. x is in the range of a
    /// forward stage; a and c are below q.
    #[inline(always)]
    pub(super) unsafe fn difference<const ADD: bool, const K: usize>(
        self,
        x: [__m512i; K],
        mut a: [__m512i; K],
        w: A::Constant,
        c: [__m512i; K],
    ) -> [__m512i; K] {
        // SAFETY: the caller enables the features of A. x comes below 2c (or c where the word has no room), the difference
        // below that and q more: it may be multiplied.
        unsafe {
            let x = self.before::<false, K>(x);
            let above = if A::WIDE_RANGE {
                _mm512_add_epi64(self.bound, self.bound)
            } else {
                self.bound
            };
            for k in 0..K {
                a[k] = _mm512_sub_epi64(_mm512_add_epi64(a[k], above), x[k]);
            }
            let mut a = self.reduce_products(A::mul_many(a, [w; K], self.context));
            if ADD {
                for k in 0..K {
                    a[k] = correct(_mm512_add_epi64(a[k], c[k]), self.q);
                }
            }
            a
        }
    }

    /// Reduces results of a forward stage, or sums of an inverse stage, to numbers below 2q. Only
    /// the low 32 bits of each lane are certain, which suffices for moduli below 2^31.
    #[inline(always)]
    pub(super) unsafe fn reduce_twice<const K: usize>(self, x: [__m512i; K]) -> [__m512i; K] {
        // SAFETY: the caller enables the features of A.
        unsafe { A::reduce_twice(x, self.q, self.bound, self.context) }
    }

    /// Reduces results of a forward stage, which may be as large as the arithmetic allows between
    /// stages, to residues below q.
    #[inline(always)]
    pub(super) unsafe fn reduce_fully<const K: usize>(self, x: [__m512i; K]) -> [__m512i; K] {
        // SAFETY: the caller enables the features of A.
        unsafe { A::reduce_fully(x, self.q, self.bound, self.context) }
    }

    /// Computes the inverse butterfly (x + y, w (x - y)) for K pairs of vectors. Operands and results are below c, the
    /// bound of products, except that some arithmetics let sums grow. `FRESH` says that operands are below q, so that
    /// the sum needs no reduction.
    #[inline(always)]
    pub(super) unsafe fn inverse<const FRESH: bool, const K: usize>(
        self,
        x: [__m512i; K],
        y: [__m512i; K],
        w: [A::Constant; K],
    ) -> ([__m512i; K], [__m512i; K]) {
        // SAFETY: the caller enables the features of A.
        unsafe { A::inverse_butterflies::<FRESH, K>(x, y, w, self.bound, self.context) }
    }

    /// Computes the inverse butterflies of the last stage of a limb of n words. Both results are
    /// multiplied by 1/n.
    #[inline(always)]
    pub(super) unsafe fn inverse_last<const K: usize>(
        self,
        x: [__m512i; K],
        y: [__m512i; K],
        last: Last<A>,
    ) -> ([__m512i; K], [__m512i; K]) {
        // SAFETY: the caller enables the features of A.
        unsafe {
            let (sum, difference) = A::sum_difference(x, y, self.bound, self.context);
            (
                A::mul_many(sum, [last.n_inv; K], self.context),
                A::mul_many(difference, [last.n_inv_twiddle; K], self.context),
            )
        }
    }

    /// Reduces the sums of inverse butterflies, when they are first stored, if they are too large
    /// for the arithmetic's next stages. Otherwise returns them as they are.
    #[inline(always)]
    pub(super) unsafe fn settle<const K: usize>(self, x: [__m512i; K]) -> [__m512i; K] {
        // SAFETY: the caller enables the features of A.
        unsafe { A::settle(x, self.context) }
    }

    /// Reduces products of butterflies to residues below the modulus q.
    #[inline(always)]
    pub(super) unsafe fn reduce_products<const K: usize>(self, x: [__m512i; K]) -> [__m512i; K] {
        // SAFETY: the caller enables the features of A.
        unsafe { A::reduce_products(x, self.q, self.context) }
    }
}

/// The constants of the last inverse stage of a transform of n words: 1/n, and the stage's twiddle
/// times 1/n.
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
            Self {
                n_inv: A::broadcast(&A::Form::new(plan.q, plan.n_inv)),
                n_inv_twiddle: A::broadcast(&A::Form::new(plan.q, plan.n_inv_twiddle)),
            }
        }
    }
}

/// Concatenates two arrays of four vectors or constants into one of eight.
#[inline(always)]
pub(super) fn both<T>([a, b, c, d]: [T; 4], [e, f, g, h]: [T; 4]) -> [T; 8] {
    [a, b, c, d, e, f, g, h]
}

/// The perfect shuffle of sixteen lanes: (e0 ... e7, e8 ... e15) to (e0 e8 e1 e9 ..., e4 e12 e5 e13 ...).
///
/// Applied before each of the last three forward stages, the shuffle brings the two coefficients of each butterfly to
/// the same lane of the two vectors. Before these stages lane l then holds block l mod 2, l mod 4 and l, so twiddles
/// are loaded in memory order. A fourth shuffle brings the coefficients back to natural order.
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

/// Undoes the perfect shuffle of sixteen lanes that [`shuffle`] does.
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
