// SPDX-License-Identifier: Apache-2.0
//! Computes the NTT on four coefficients at a time (AVX2).
//!
//! The loops are radix 2 with Harvey's ranges. Let c be a bound on any product. Numbers are below
//! 2c between forward stages and below c between inverse stages. 2c < 2^63, so that the sign of a
//! difference says which of two numbers is larger. For q < 2^60 (`SMALL`), c is 4q, the bound of
//! products as computed. For larger q it is 2q, after one more correction.

use std::arch::x86_64::*;

use super::{NttPlan, Twiddles};
use crate::Shoup;
use crate::plans::Order;
use crate::simd256::{Constant, Context, LANES, correct, halves, load, neighbours, splat, store};

/// The number of coefficients that a loop takes at a time from each half of a block: two vectors.
/// Instructions on one vector run while those on the other wait.
const STEP: usize = 2 * LANES;

/// The number of coefficients of a chunk of the limb. The last four forward stages and the first
/// four inverse stages of a chunk run in registers.
const TAIL: usize = 4 * LANES;

/// The shortest limb that this module's loops with AVX2 transform, in coefficients.
pub(super) const MIN_LEN: usize = 2 * TAIL;

/// The coefficients of a chunk of the limb as the operands of one stage's butterflies: all first
/// operands, then all second operands, in two vectors each.
type Pairs = ([__m256i; 2], [__m256i; 2]);

/// The twiddles of one direction of a transform, and the constants that all its butterflies need.
#[derive(Clone, Copy)]
struct Stage<'a, const SMALL: bool> {
    value: &'a [u64],
    quotient: &'a [u64],
    context: Context,
    /// The bound c below which products of butterflies are, in each lane: 4q or 2q for the modulus
    /// q.
    bound: __m256i,
}

impl<'a, const SMALL: bool> Stage<'a, SMALL> {
    #[inline(always)]
    unsafe fn new(plan: &NttPlan, twiddles: &'a Twiddles) -> Self {
        Self {
            value: &twiddles.value,
            quotient: twiddles.quotient(),
            // SAFETY: the caller enables AVX2.
            context: unsafe { Context::new(plan.q) },
            // SAFETY: as above.
            bound: unsafe { splat(if SMALL { 4 } else { 2 } * plan.q.value()) },
        }
    }

    #[inline(always)]
    unsafe fn twiddle(self, index: usize) -> Constant {
        debug_assert!(index < self.value.len());
        // SAFETY: index < n, the length of both tables; the caller enables AVX2.
        unsafe {
            Constant::splat(Shoup {
                value: *self.value.get_unchecked(index),
                quotient: *self.quotient.get_unchecked(index),
            })
        }
    }

    /// Returns a vector with twiddle number `index` in two lanes and the next one in the two
    /// others.
    #[inline(always)]
    unsafe fn two_twiddles(self, index: usize) -> Constant {
        debug_assert!(index + 2 <= self.value.len());
        // SAFETY: index + 2 <= n; the caller enables AVX2.
        unsafe {
            let two = |table: &[u64]| {
                let pair = _mm_loadu_si128(table.as_ptr().add(index).cast());
                _mm256_permute4x64_epi64::<0b01_01_00_00>(_mm256_castsi128_si256(pair))
            };
            Constant::new(two(self.value), two(self.quotient))
        }
    }

    /// Returns a vector with the twiddles number `index` to `index` + 3, one in each lane.
    #[inline(always)]
    unsafe fn four_twiddles(self, index: usize) -> Constant {
        debug_assert!(index + LANES <= self.value.len());
        // SAFETY: index + 4 <= n; the caller enables AVX2.
        unsafe {
            let four = |table: &[u64]| load(table.as_ptr().add(index));
            Constant::new(four(self.value), four(self.quotient))
        }
    }

    /// Returns products x w modulo q, below the bound c of products, for K pairs of vectors x and
    /// w.
    #[inline(always)]
    unsafe fn products<const K: usize>(self, x: [__m256i; K], w: [Constant; K]) -> [__m256i; K] {
        // SAFETY: the caller enables AVX2.
        unsafe {
            let products = self.context.mul_lazy(x, w);
            match SMALL {
                true => products,
                false => correct_many(products, self.context.two_q),
            }
        }
    }

    /// Computes the forward butterfly (x + w y, x - w y) for K pairs of vectors together. Operands and results are
    /// below 2c, where c is the bound of products. `FRESH` says that x is below q.
    #[inline(always)]
    unsafe fn forward<const K: usize, const FRESH: bool>(
        self,
        mut x: [__m256i; K],
        y: [__m256i; K],
        w: [Constant; K],
    ) -> ([__m256i; K], [__m256i; K]) {
        // SAFETY: the caller enables AVX2.
        unsafe {
            if !FRESH {
                x = correct_many(x, self.bound);
            }
            let mut t = self.products(y, w);
            for k in 0..K {
                let other = _mm256_sub_epi64(_mm256_add_epi64(x[k], self.bound), t[k]);
                x[k] = _mm256_add_epi64(x[k], t[k]);
                t[k] = other;
            }
            (x, t)
        }
    }

    /// Computes the inverse butterfly (x + y, w (x - y)) for K pairs of vectors together. Operands and results are
    /// below c, the bound of products.
    #[inline(always)]
    unsafe fn inverse<const K: usize>(
        self,
        mut x: [__m256i; K],
        mut y: [__m256i; K],
        w: [Constant; K],
    ) -> ([__m256i; K], [__m256i; K]) {
        // SAFETY: the caller enables AVX2.
        unsafe {
            for k in 0..K {
                let sum = _mm256_add_epi64(x[k], y[k]);
                y[k] = _mm256_sub_epi64(_mm256_add_epi64(x[k], self.bound), y[k]);
                x[k] = sum;
            }
            (correct_many(x, self.bound), self.products(y, w))
        }
    }

    /// Computes one forward stage of a block of the limb, whose twiddle has number `index`. `FRESH` says that inputs
    /// are below q.
    #[inline(always)]
    unsafe fn forward_block<const FRESH: bool>(self, block: &mut [u64], index: usize) {
        // SAFETY: both halves are of whole steps; the caller enables AVX2.
        unsafe {
            let w = [self.twiddle(index); 2];
            let (low, high) = block.split_at_mut(block.len() / 2);
            for (low, high) in low.chunks_exact_mut(STEP).zip(high.chunks_exact_mut(STEP)) {
                let (low, high) = (low.as_mut_ptr(), high.as_mut_ptr());
                let (x, y) = self.forward::<_, FRESH>(load_two(low), load_two(high), w);
                store_two(low, x);
                store_two(high, y);
            }
        }
    }

    /// Computes the first of the last four forward stages for a chunk of [`TAIL`] coefficients. The
    /// chunk's twiddle in this stage has number `index`. Returns the chunk's coefficients as
    /// operands of the next stage's butterflies.
    #[inline(always)]
    unsafe fn forward_fourth_last(self, p: *const u64, index: usize) -> Pairs {
        // SAFETY: p is valid for a chunk; the caller enables AVX2.
        unsafe {
            let w = [self.twiddle(index); 2];
            let ([a, b], [c, d]) = self.forward::<_, false>(load_two(p), load_two(p.add(STEP)), w);
            ([a, c], [b, d])
        }
    }

    /// Computes the second of the last four forward stages of a chunk of [`TAIL`] coefficients. In this stage the
    /// chunk is two blocks of two vectors. The first block's twiddle has number `index`.
    #[inline(always)]
    unsafe fn forward_second(self, (x, y): Pairs, index: usize) -> Pairs {
        // SAFETY: the caller enables AVX2.
        unsafe {
            let w = [self.twiddle(index), self.twiddle(index + 1)];
            let (x, y) = self.forward::<_, false>(x, y, w);
            halves(x, y)
        }
    }

    /// Computes the third of the last four forward stages of a chunk of [`TAIL`] coefficients. In this stage the
    /// chunk is four blocks of one vector. The first block's twiddle has number `index`.
    #[inline(always)]
    unsafe fn forward_third(self, (x, y): Pairs, index: usize) -> Pairs {
        // SAFETY: the caller enables AVX2.
        unsafe {
            let w = [self.two_twiddles(index), self.two_twiddles(index + 2)];
            let (x, y) = self.forward::<_, false>(x, y, w);
            neighbours(x, y)
        }
    }

    /// Computes the last forward stage of a chunk of [`TAIL`] coefficients, and writes the residues to `p`. In
    /// this stage the chunk is eight blocks of half a vector. The first block's twiddle has number `index`.
    #[inline(always)]
    unsafe fn forward_last(self, p: *mut u64, (x, y): Pairs, index: usize) {
        // SAFETY: p is valid for a chunk; the caller enables AVX2.
        unsafe {
            let w = [self.four_twiddles(index), self.four_twiddles(index + 4)];
            let (x, y) = self.forward::<_, false>(x, y, w);
            let (x, y) = neighbours(x, y);
            // Reduced between the moves, as the compiler makes three instructions of the two.
            let (x, y) = halves(self.reduce(x), self.reduce(y));
            for k in 0..2 {
                store(p.add(2 * k * LANES), x[k]);
                store(p.add((2 * k + 1) * LANES), y[k]);
            }
        }
    }

    /// Computes the first inverse stage of a chunk of [`TAIL`] coefficients, in which the chunk is
    /// eight blocks of half a vector. The first block's twiddle has number `index`.
    #[inline(always)]
    unsafe fn inverse_first(self, p: *const u64, index: usize) -> Pairs {
        // SAFETY: p is valid for a chunk; the caller enables AVX2.
        unsafe {
            let (x, y) = load_pairs(p);
            let (x, y) = halves(x, y);
            let (x, y) = neighbours(x, y);
            let w = [self.four_twiddles(index), self.four_twiddles(index + 4)];
            let (x, y) = self.inverse(x, y, w);
            neighbours(x, y)
        }
    }

    /// Computes the second inverse stage of a chunk of [`TAIL`] coefficients. In this stage the chunk is
    /// four blocks of one vector. The first block's twiddle has number `index`.
    #[inline(always)]
    unsafe fn inverse_second(self, (x, y): Pairs, index: usize) -> Pairs {
        // SAFETY: the caller enables AVX2.
        unsafe {
            let w = [self.two_twiddles(index), self.two_twiddles(index + 2)];
            let (x, y) = self.inverse(x, y, w);
            halves(x, y)
        }
    }

    /// Computes the third inverse stage of a chunk of [`TAIL`] coefficients. In this stage the chunk is
    /// two blocks of two vectors. The first block's twiddle has number `index`.
    #[inline(always)]
    unsafe fn inverse_third(self, (x, y): Pairs, index: usize) -> Pairs {
        // SAFETY: the caller enables AVX2.
        unsafe {
            let w = [self.twiddle(index), self.twiddle(index + 1)];
            let ([a, c], [b, d]) = self.inverse(x, y, w);
            ([a, b], [c, d])
        }
    }

    /// Computes the fourth inverse stage of a chunk of [`TAIL`] coefficients, in which the chunk is
    /// one block, and writes the chunk to `p`. The chunk's twiddle has number `index`.
    #[inline(always)]
    unsafe fn inverse_fourth(self, p: *mut u64, (x, y): Pairs, index: usize) {
        // SAFETY: p is valid for a chunk; the caller enables AVX2.
        unsafe {
            let (x, y) = self.inverse(x, y, [self.twiddle(index); 2]);
            store_two(p, x);
            store_two(p.add(STEP), y);
        }
    }

    /// Reduces numbers below the bound c of products to residues below q.
    #[inline(always)]
    unsafe fn reduce_products<const K: usize>(self, mut x: [__m256i; K]) -> [__m256i; K] {
        // SAFETY: the caller enables AVX2.
        unsafe {
            if SMALL {
                x = correct_many(x, self.context.two_q);
            }
            correct_many(x, self.context.q)
        }
    }

    /// Reduces numbers in the range of a forward stage, below 2c, to residues below q.
    #[inline(always)]
    unsafe fn reduce<const K: usize>(self, x: [__m256i; K]) -> [__m256i; K] {
        // SAFETY: the caller enables AVX2.
        unsafe { self.reduce_products(correct_many(x, self.bound)) }
    }
}

/// Defines the forward and the inverse NTT for one size of moduli: below 2^60 (`SMALL`), or up to 61 bits.
macro_rules! entry {
    ($name:ident, $small:literal) => {
        pub(super) mod $name {
            use super::*;

            #[target_feature(enable = "avx2")]
            pub fn forward(plan: &NttPlan, limb: &mut [u64], _: Order) {
                // SAFETY: AVX2 is enabled here.
                unsafe { super::forward::<$small>(plan, limb) }
            }

            #[target_feature(enable = "avx2")]
            pub fn inverse(plan: &NttPlan, limb: &mut [u64], _: Order) {
                // SAFETY: AVX2 is enabled here.
                unsafe { super::inverse::<$small>(plan, limb) }
            }
        }
    };
}

entry!(below_60_bits, true);
entry!(any, false);

/// Computes the forward NTT of a limb in place, four coefficients at a time.
///
/// # Safety
/// The caller enables AVX2. `limb` has the length of the plan's ring. With `SMALL`, q is below 2^60.
#[inline(always)]
unsafe fn forward<const SMALL: bool>(plan: &NttPlan, limb: &mut [u64]) {
    // SAFETY: AVX2 is enabled; every pointer comes from a chunk of at least the vectors read and written.
    unsafe {
        let stage = Stage::<SMALL>::new(plan, &plan.forward);
        let mut half = limb.len() / 2;
        stage.forward_block::<true>(limb, 1);
        let mut blocks = 2;
        half /= 2;
        while half >= TAIL {
            for (i, block) in limb.chunks_exact_mut(2 * half).enumerate() {
                stage.forward_block::<false>(block, blocks + i);
            }
            blocks *= 2;
            half /= 2;
        }
        // Two chunks by turns, as one alone would wait for its own results.
        for (i, chunks) in limb.chunks_exact_mut(2 * TAIL).enumerate() {
            let p = chunks.as_mut_ptr();
            let q = p.add(TAIL);
            let i = blocks + 2 * i;
            let j = i + 1;
            let a = stage.forward_fourth_last(p, i);
            let b = stage.forward_fourth_last(q, j);
            let a = stage.forward_second(a, 2 * i);
            let b = stage.forward_second(b, 2 * j);
            let a = stage.forward_third(a, 4 * i);
            let b = stage.forward_third(b, 4 * j);
            stage.forward_last(p, a, 8 * i);
            stage.forward_last(q, b, 8 * j);
        }
    }
}

/// Computes the inverse NTT of a limb in place, four coefficients at a time.
///
/// # Safety
/// As for [`forward`]: the caller enables AVX2, `limb` has the length of the plan's ring, and with `SMALL` q is below
/// 2^60.
#[inline(always)]
unsafe fn inverse<const SMALL: bool>(plan: &NttPlan, limb: &mut [u64]) {
    // SAFETY: as in `forward`.
    unsafe {
        let stage = Stage::<SMALL>::new(plan, &plan.inverse);
        let (n_inv, n_inv_twiddle) = (
            Constant::splat(plan.n_inv),
            Constant::splat(plan.n_inv_twiddle),
        );
        let n = limb.len();
        for (i, chunks) in limb.chunks_exact_mut(2 * TAIL).enumerate() {
            let p = chunks.as_mut_ptr();
            let q = p.add(TAIL);
            let i = n / TAIL + 2 * i;
            let j = i + 1;
            let a = stage.inverse_first(p, 8 * i);
            let b = stage.inverse_first(q, 8 * j);
            let a = stage.inverse_second(a, 4 * i);
            let b = stage.inverse_second(b, 4 * j);
            let a = stage.inverse_third(a, 2 * i);
            let b = stage.inverse_third(b, 2 * j);
            stage.inverse_fourth(p, a, i);
            stage.inverse_fourth(q, b, j);
        }
        let (mut blocks, mut half) = (n / (2 * TAIL), TAIL);
        while blocks > 1 {
            for (i, block) in limb.chunks_exact_mut(2 * half).enumerate() {
                let w = [stage.twiddle(blocks + i); 2];
                let (low, high) = block.split_at_mut(half);
                for (low, high) in low.chunks_exact_mut(STEP).zip(high.chunks_exact_mut(STEP)) {
                    let (low, high) = (low.as_mut_ptr(), high.as_mut_ptr());
                    let (x, y) = stage.inverse(load_two(low), load_two(high), w);
                    store_two(low, x);
                    store_two(high, y);
                }
            }
            blocks /= 2;
            half *= 2;
        }
        let (low, high) = limb.split_at_mut(half);
        for (low, high) in low
            .chunks_exact_mut(LANES)
            .zip(high.chunks_exact_mut(LANES))
        {
            let (low, high) = (low.as_mut_ptr(), high.as_mut_ptr());
            let (x, y) = (load(low), load(high));
            let difference = _mm256_sub_epi64(_mm256_add_epi64(x, stage.bound), y);
            let both = [_mm256_add_epi64(x, y), difference];
            let both = stage.products(both, [n_inv, n_inv_twiddle]);
            let [sum, difference] = stage.reduce_products(both);
            store(low, sum);
            store(high, difference);
        }
    }
}

/// Loads two vectors from memory.
#[inline(always)]
unsafe fn load_two(p: *const u64) -> [__m256i; 2] {
    // SAFETY: p is valid for two vectors; the caller enables AVX2.
    unsafe { [load(p), load(p.add(LANES))] }
}

/// Loads four successive vectors a, b, c, d from memory. Returns the pairs (a, c) and (b, d).
#[inline(always)]
unsafe fn load_pairs(p: *const u64) -> ([__m256i; 2], [__m256i; 2]) {
    // SAFETY: p is valid for four vectors; the caller enables AVX2.
    unsafe {
        let ([a, b], [c, d]) = (load_two(p), load_two(p.add(STEP)));
        ([a, c], [b, d])
    }
}

/// Stores two vectors to memory.
#[inline(always)]
unsafe fn store_two(p: *mut u64, [x, y]: [__m256i; 2]) {
    // SAFETY: p is valid for two vectors; the caller enables AVX2.
    unsafe {
        store(p, x);
        store(p.add(LANES), y);
    }
}

/// Returns x - m in each lane with x >= m, else x, for K vectors.
#[inline(always)]
unsafe fn correct_many<const K: usize>(mut x: [__m256i; K], m: __m256i) -> [__m256i; K] {
    for x in &mut x {
        // SAFETY: the caller enables AVX2.
        *x = unsafe { correct(*x, m) };
    }
    x
}
