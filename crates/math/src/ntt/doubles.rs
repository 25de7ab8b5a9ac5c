// SPDX-License-Identifier: Apache-2.0
//! Computes the NTT on four coefficients at a time as doubles (AVX2 with FMA), for primes of at most 51 bits and for
//! 2^52 - 2^12 + 1.
//!
//! A pass computes two stages: more would leave the processor too few chains of instructions that run beside each other. The
//! limb's words are doubles from the first pass to the last. Sizes, in units of q, stay as [`Doubles`] needs them; X is the bound
//! of a pass's inputs and outputs:
//!
//! - up to 50 bits, forward: of the four numbers of two stages, the one that no factor multiplies is brought below 1/2.
//!   The largest number inside is X + 1/2 + X / 16. The largest output is 3/2 + X / 8, plus less than X / 40, so X =
//!   1.8. The last two stages bring no number down and end below 3.1;
//! - up to 50 bits, inverse: the two sums of the second stage are brought below 1/2. A difference is up to 4 X, a
//!   product of it 1/2 + X / 4: X = 2/3. The first two stages begin with words, X = 1, and end below 2/3 as well;
//! - above, forward: x is brought below 1/2 in every butterfly, so that x + w y is at most 1 + Y / 2 for y of at most Y: below 2;
//! - above, inverse: sums and differences are brought below 1/2, and a product of such a difference is at most 3/4.

use std::arch::x86_64::*;

use super::{NttPlan, Twiddles};
use crate::doubles::{Doubles, Factor, LANES, Pair, from_words};
use crate::plans::Order;
use crate::simd256;

/// The shortest limb that this module's loops on doubles transform, in coefficients.
pub(super) const MIN_LEN: usize = 8 * LANES;

/// The twiddles of one direction of a transform, and the constants of its butterflies. The twiddles
/// and their quotients are doubles, kept as bits in two tables of n entries. Every index is below
/// n.
#[derive(Clone, Copy)]
struct Stage<'a, const TIGHT: bool> {
    value: &'a [u64],
    ratio: &'a [u64],
    arithmetic: Doubles<TIGHT>,
}

impl<'a, const TIGHT: bool> Stage<'a, TIGHT> {
    #[inline(always)]
    unsafe fn new(plan: &NttPlan, twiddles: &'a Twiddles) -> Self {
        let [value, ratio] = twiddles.doubles();
        let n = plan.ring.len();
        assert!(value.len() == n && ratio.len() == n);
        Self {
            value,
            ratio,
            // SAFETY: the caller enables AVX2 and FMA and has looked at the modulus.
            arithmetic: unsafe { Doubles::new(plan.q) },
        }
    }

    /// Returns the addresses of twiddle `index` and of its quotient; the caller reads `count` of each.
    #[inline(always)]
    fn at(self, index: usize, count: usize) -> [*const f64; 2] {
        debug_assert!(index + count <= self.value.len());
        [
            self.value.as_ptr().wrapping_add(index).cast(),
            self.ratio.as_ptr().wrapping_add(index).cast(),
        ]
    }

    #[inline(always)]
    unsafe fn twiddle(self, index: usize) -> Factor {
        let [value, ratio] = self.at(index, 1);
        // SAFETY: a stage of m blocks has the twiddles m to 2 m - 1, all below n; the caller enables AVX2.
        unsafe {
            Factor::splat(Pair {
                value: *value,
                ratio: *ratio,
            })
        }
    }

    /// Returns the twiddles number `index` and `index` + 1, each in two lanes.
    #[inline(always)]
    unsafe fn two_twiddles(self, index: usize) -> Factor {
        let [value, ratio] = self.at(index, 2);
        // SAFETY: as in `twiddle`.
        unsafe {
            let value = _mm256_castpd128_pd256(_mm_loadu_pd(value));
            let ratio = _mm256_castpd128_pd256(_mm_loadu_pd(ratio));
            Factor {
                value: _mm256_permute4x64_pd::<0b01_01_00_00>(value),
                ratio: _mm256_permute4x64_pd::<0b01_01_00_00>(ratio),
            }
        }
    }

    /// Returns the twiddles number `index` ... `index` + 3, in lanes in the order 0 2 1 3.
    #[inline(always)]
    unsafe fn four_twiddles(self, index: usize) -> Factor {
        let [value, ratio] = self.at(index, LANES);
        // SAFETY: as in `twiddle`.
        unsafe {
            let (value, ratio) = (_mm256_loadu_pd(value), _mm256_loadu_pd(ratio));
            Factor {
                value: _mm256_permute4x64_pd::<0b11_01_10_00>(value),
                ratio: _mm256_permute4x64_pd::<0b11_01_10_00>(ratio),
            }
        }
    }

    /// Computes the forward butterfly (x + w y, x - w y) modulo q. If q has more than 50 bits, x is
    /// first reduced to about q / 2 in magnitude.
    #[inline(always)]
    unsafe fn forward(self, x: __m256d, y: __m256d, w: Factor) -> (__m256d, __m256d) {
        // SAFETY: the caller enables AVX2 and FMA.
        unsafe {
            let x = if TIGHT { self.arithmetic.nearest(x) } else { x };
            let t = self.arithmetic.mul(y, w);
            (_mm256_add_pd(x, t), _mm256_sub_pd(x, t))
        }
    }

    /// Computes the inverse butterfly (x + y, w (x - y)) modulo q. With `DOWN`, or if q has more
    /// than 50 bits, the sum is reduced to about q / 2 in magnitude.
    #[inline(always)]
    unsafe fn inverse<const DOWN: bool>(
        self,
        x: __m256d,
        y: __m256d,
        w: Factor,
    ) -> (__m256d, __m256d) {
        // SAFETY: the caller enables AVX2 and FMA.
        unsafe {
            let (mut sum, difference) = self.both(x, y);
            if DOWN && !TIGHT {
                sum = self.arithmetic.nearest(sum);
            }
            (sum, self.arithmetic.mul(difference, w))
        }
    }

    /// Computes (x + y, x - y) modulo q. If q has more than 50 bits, both results are reduced to
    /// about q / 2 in magnitude.
    #[inline(always)]
    unsafe fn both(self, x: __m256d, y: __m256d) -> (__m256d, __m256d) {
        // SAFETY: the caller enables AVX2 and FMA.
        unsafe {
            let (sum, difference) = (_mm256_add_pd(x, y), _mm256_sub_pd(x, y));
            if TIGHT {
                (
                    self.arithmetic.nearest(sum),
                    self.arithmetic.nearest(difference),
                )
            } else {
                (sum, difference)
            }
        }
    }

    /// Computes the forward stage that has `blocks` blocks, on the whole limb. With `WORDS` its
    /// inputs are words, otherwise doubles; its outputs are doubles.
    #[inline(always)]
    unsafe fn forward_once<const WORDS: bool>(self, limb: &mut [u64], blocks: usize) {
        let half = limb.len() / (2 * blocks);
        for (i, block) in limb.chunks_exact_mut(2 * half).enumerate() {
            let (low, high) = block.split_at_mut(half);
            // SAFETY: every pointer comes from a chunk of a vector; the caller enables AVX2 and FMA.
            unsafe {
                let w = self.twiddle(blocks + i);
                for (low, high) in (low.chunks_exact_mut(LANES)).zip(high.chunks_exact_mut(LANES)) {
                    let (x, y) = self.forward(load::<WORDS>(low), load::<WORDS>(high), w);
                    store(low, x);
                    store(high, y);
                }
            }
        }
    }

    /// Computes two forward stages on the whole limb: the one of `blocks` blocks, then the one of twice as
    /// many. With `WORDS` the inputs are words, otherwise doubles; the outputs are doubles.
    #[inline(always)]
    unsafe fn forward_twice<const WORDS: bool>(self, limb: &mut [u64], blocks: usize) {
        let quarter = limb.len() / (4 * blocks);
        for (i, block) in limb.chunks_exact_mut(4 * quarter).enumerate() {
            // SAFETY: as in `forward_once`.
            unsafe {
                let twiddles = self.three_twiddles(blocks + i);
                for [a, b, c, d] in quarters(block, quarter) {
                    let x = [
                        load::<WORDS>(a),
                        load::<WORDS>(b),
                        load::<WORDS>(c),
                        load::<WORDS>(d),
                    ];
                    let x = self.forward_four(x, twiddles);
                    store(a, x[0]);
                    store(b, x[1]);
                    store(c, x[2]);
                    store(d, x[3]);
                }
            }
        }
    }

    /// Computes the first two of the last four forward stages. Their blocks are so short that no
    /// loop within a block is needed.
    #[inline(always)]
    unsafe fn forward_near(self, limb: &mut [u64]) {
        let n = limb.len();
        for (i, block) in limb.chunks_exact_mut(4 * LANES).enumerate() {
            // SAFETY: a block is four vectors; the caller enables AVX2 and FMA.
            unsafe {
                let x = self.forward_four(vectors(block), self.three_twiddles(n / 16 + i));
                for (x, to) in x.into_iter().zip(block.chunks_exact_mut(LANES)) {
                    store(to, x);
                }
            }
        }
    }

    /// Computes the last two forward stages, and converts the results to words.
    #[inline(always)]
    unsafe fn forward_end(self, limb: &mut [u64]) {
        let n = limb.len();
        for (i, pair) in limb.chunks_exact_mut(2 * LANES).enumerate() {
            let (low, high) = pair.split_at_mut(LANES);
            // SAFETY: a pair is two vectors; the caller enables AVX2 and FMA.
            unsafe {
                let (x, y) = halves(load::<false>(low), load::<false>(high));
                let (x, y) = self.forward(x, y, self.two_twiddles(n / 4 + 2 * i));
                let (x, y) = halves(x, y);
                let (x, y) = neighbours(x, y);
                let (x, y) = self.forward(x, y, self.four_twiddles(n / 2 + 4 * i));
                let (x, y) = neighbours(x, y);
                simd256::store(low.as_mut_ptr(), self.arithmetic.to_words(x));
                simd256::store(high.as_mut_ptr(), self.arithmetic.to_words(y));
            }
        }
    }

    /// Computes two forward stages on four numbers of a block that lie a quarter of the block
    /// apart.
    #[inline(always)]
    unsafe fn forward_four(
        self,
        [x0, x1, x2, x3]: [__m256d; 4],
        [w, low, high]: [Factor; 3],
    ) -> [__m256d; 4] {
        // SAFETY: the caller enables AVX2 and FMA.
        unsafe {
            let x0 = if TIGHT {
                x0
            } else {
                self.arithmetic.nearest(x0)
            };
            let (x0, x2) = self.forward(x0, x2, w);
            let (x1, x3) = self.forward(x1, x3, w);
            let (x0, x1) = self.forward(x0, x1, low);
            let (x2, x3) = self.forward(x2, x3, high);
            [x0, x1, x2, x3]
        }
    }

    /// Returns three twiddles: that of block `index` of a stage, and those of the two blocks into which it splits for
    /// the next stage.
    #[inline(always)]
    unsafe fn three_twiddles(self, index: usize) -> [Factor; 3] {
        // SAFETY: the caller enables AVX2 and gives an index of a twiddle that is not of the last stage.
        unsafe {
            [
                self.twiddle(index),
                self.twiddle(2 * index),
                self.twiddle(2 * index + 1),
            ]
        }
    }

    /// Computes the inverse stage that has `blocks` blocks, on the whole limb.
    #[inline(always)]
    unsafe fn inverse_once(self, limb: &mut [u64], blocks: usize) {
        let half = limb.len() / (2 * blocks);
        for (i, block) in limb.chunks_exact_mut(2 * half).enumerate() {
            let (low, high) = block.split_at_mut(half);
            // SAFETY: as in `forward_once`.
            unsafe {
                let w = self.twiddle(blocks + i);
                for (low, high) in (low.chunks_exact_mut(LANES)).zip(high.chunks_exact_mut(LANES)) {
                    let (x, y) = self.inverse::<true>(load::<false>(low), load::<false>(high), w);
                    store(low, x);
                    store(high, y);
                }
            }
        }
    }

    /// Computes two inverse stages on the whole limb: the one of twice `blocks` blocks, then the one of `blocks`.
    #[inline(always)]
    unsafe fn inverse_twice(self, limb: &mut [u64], blocks: usize) {
        let quarter = limb.len() / (4 * blocks);
        for (i, block) in limb.chunks_exact_mut(4 * quarter).enumerate() {
            // SAFETY: as in `forward_once`.
            unsafe {
                let twiddles = self.three_twiddles(blocks + i);
                for [a, b, c, d] in quarters(block, quarter) {
                    let x = [
                        load::<false>(a),
                        load::<false>(b),
                        load::<false>(c),
                        load::<false>(d),
                    ];
                    let x = self.inverse_four(x, twiddles);
                    store(a, x[0]);
                    store(b, x[1]);
                    store(c, x[2]);
                    store(d, x[3]);
                }
            }
        }
    }

    /// Computes the first two inverse stages, whose inputs are words and not doubles.
    #[inline(always)]
    unsafe fn inverse_start(self, limb: &mut [u64]) {
        let n = limb.len();
        for (i, pair) in limb.chunks_exact_mut(2 * LANES).enumerate() {
            let (low, high) = pair.split_at_mut(LANES);
            // SAFETY: a pair is two vectors; the caller enables AVX2 and FMA.
            unsafe {
                let (x, y) = neighbours(load::<true>(low), load::<true>(high));
                let (x, y) = self.inverse::<false>(x, y, self.four_twiddles(n / 2 + 4 * i));
                let (x, y) = neighbours(x, y);
                let (x, y) = halves(x, y);
                let (x, y) = self.inverse::<true>(x, y, self.two_twiddles(n / 4 + 2 * i));
                let (x, y) = halves(x, y);
                store(low, x);
                store(high, y);
            }
        }
    }

    /// Computes the third and the fourth inverse stage. Their blocks are so short that no loop
    /// within a block is needed.
    #[inline(always)]
    unsafe fn inverse_near(self, limb: &mut [u64]) {
        let n = limb.len();
        for (i, block) in limb.chunks_exact_mut(4 * LANES).enumerate() {
            // SAFETY: a block is four vectors; the caller enables AVX2 and FMA.
            unsafe {
                let x = self.inverse_four(vectors(block), self.three_twiddles(n / 16 + i));
                for (x, to) in x.into_iter().zip(block.chunks_exact_mut(LANES)) {
                    store(to, x);
                }
            }
        }
    }

    /// Computes two inverse stages on four numbers of a block that lie a quarter of the block
    /// apart. It undoes [`Stage::forward_four`], except that the results are four times as large.
    #[inline(always)]
    unsafe fn inverse_four(
        self,
        [x0, x1, x2, x3]: [__m256d; 4],
        [w, low, high]: [Factor; 3],
    ) -> [__m256d; 4] {
        // SAFETY: the caller enables AVX2 and FMA.
        unsafe {
            let (x0, x1) = self.inverse::<false>(x0, x1, low);
            let (x2, x3) = self.inverse::<false>(x2, x3, high);
            let (x0, x2) = self.inverse::<true>(x0, x2, w);
            let (x1, x3) = self.inverse::<true>(x1, x3, w);
            [x0, x1, x2, x3]
        }
    }
}

#[inline(always)]
unsafe fn forward<const TIGHT: bool>(plan: &NttPlan, limb: &mut [u64]) {
    // SAFETY: the caller enables AVX2 and FMA.
    unsafe {
        let stage = Stage::<TIGHT>::new(plan, &plan.forward);
        let n = limb.len();
        // The last four stages are two passes of their own, and the first pass begins with words.
        let mut blocks = if n.trailing_zeros() % 2 == 1 {
            stage.forward_once::<true>(limb, 1);
            2
        } else {
            stage.forward_twice::<true>(limb, 1);
            4
        };
        while blocks < n / 16 {
            stage.forward_twice::<false>(limb, blocks);
            blocks *= 4;
        }
        stage.forward_near(limb);
        stage.forward_end(limb);
    }
}

#[inline(always)]
unsafe fn inverse<const TIGHT: bool>(plan: &NttPlan, limb: &mut [u64]) {
    // SAFETY: as in `forward`.
    unsafe {
        let stage = Stage::<TIGHT>::new(plan, &plan.inverse);
        let n = limb.len();
        stage.inverse_start(limb);
        stage.inverse_near(limb);
        // The last stage has a loop of its own.
        let mut blocks = n / 16;
        while blocks > 4 {
            blocks /= 4;
            stage.inverse_twice(limb, blocks);
        }
        if blocks == 4 {
            stage.inverse_once(limb, 2);
        }
        let (n_inv, n_inv_twiddle) = (
            Factor::splat(Pair::new(plan.q, plan.n_inv.value)),
            Factor::splat(Pair::new(plan.q, plan.n_inv_twiddle.value)),
        );
        let (low, high) = limb.split_at_mut(n / 2);
        for (low, high) in (low.chunks_exact_mut(LANES)).zip(high.chunks_exact_mut(LANES)) {
            let (sum, difference) = stage.both(load::<false>(low), load::<false>(high));
            let sum = stage.arithmetic.mul(sum, n_inv);
            let difference = stage.arithmetic.mul(difference, n_inv_twiddle);
            simd256::store(low.as_mut_ptr(), stage.arithmetic.to_words(sum));
            simd256::store(high.as_mut_ptr(), stage.arithmetic.to_words(difference));
        }
    }
}

/// Defines the loops of the transform for one range of moduli.
macro_rules! range {
    ($(#[$doc:meta])* $name:ident, $tight:literal) => {
        $(#[$doc])*
        pub(super) mod $name {
            use super::{NttPlan, Order};

            #[target_feature(enable = "avx2,fma")]
            pub(in crate::ntt) fn forward(plan: &NttPlan, limb: &mut [u64], _: Order) {
                // SAFETY: the features are enabled here; the table of kernels has looked at the modulus and the length.
                unsafe { super::forward::<$tight>(plan, limb) }
            }

            #[target_feature(enable = "avx2,fma")]
            pub(in crate::ntt) fn inverse(plan: &NttPlan, limb: &mut [u64], _: Order) {
                // SAFETY: as above.
                unsafe { super::inverse::<$tight>(plan, limb) }
            }
        }
    };
}

range!(
    /// The loops of the transform for moduli of up to 50 bits.
    below_50_bits,
    false
);
range!(
    /// The loops of the transform for moduli of 51 bits, and for 2^52 - 2^12 + 1.
    below_52_bits,
    true
);

/// Returns four vectors of a block, one from each quarter, then the next of each quarter, until the
/// quarters end.
#[inline(always)]
fn quarters(block: &mut [u64], quarter: usize) -> impl Iterator<Item = [&mut [u64]; 4]> {
    let (low, high) = block.split_at_mut(2 * quarter);
    let ((a, b), (c, d)) = (low.split_at_mut(quarter), high.split_at_mut(quarter));
    let (a, b) = (a.chunks_exact_mut(LANES), b.chunks_exact_mut(LANES));
    let (c, d) = (c.chunks_exact_mut(LANES), d.chunks_exact_mut(LANES));
    a.zip(b).zip(c.zip(d)).map(|((a, b), (c, d))| [a, b, c, d])
}

/// Loads four consecutive vectors of doubles.
#[inline(always)]
unsafe fn vectors(block: &[u64]) -> [__m256d; 4] {
    // SAFETY: callers give four vectors and enable AVX2.
    unsafe {
        [
            load::<false>(&block[..LANES]),
            load::<false>(&block[LANES..2 * LANES]),
            load::<false>(&block[2 * LANES..3 * LANES]),
            load::<false>(&block[3 * LANES..4 * LANES]),
        ]
    }
}

/// Loads four numbers of a limb as doubles. With `WORDS` they are words that are converted,
/// otherwise they are doubles.
#[inline(always)]
unsafe fn load<const WORDS: bool>(from: &[u64]) -> __m256d {
    debug_assert!(from.len() >= LANES);
    // SAFETY: callers give chunks of a vector and enable AVX2.
    unsafe {
        let x = simd256::load(from.as_ptr());
        if WORDS {
            from_words(x)
        } else {
            _mm256_castsi256_pd(x)
        }
    }
}

#[inline(always)]
unsafe fn store(to: &mut [u64], x: __m256d) {
    debug_assert!(to.len() >= LANES);
    // SAFETY: as in `load`.
    unsafe { simd256::store(to.as_mut_ptr(), _mm256_castpd_si256(x)) }
}

/// Returns one vector of the low halves of x and y, and one vector of their high halves. The
/// function is its own inverse.
#[inline(always)]
unsafe fn halves(x: __m256d, y: __m256d) -> (__m256d, __m256d) {
    // SAFETY: the caller enables AVX2.
    unsafe {
        (
            _mm256_permute2f128_pd::<0x20>(x, y),
            _mm256_permute2f128_pd::<0x31>(x, y),
        )
    }
}

/// Returns one vector in which the even lanes of x and y alternate, and one with their odd lanes.
/// The function is its own inverse.
#[inline(always)]
unsafe fn neighbours(x: __m256d, y: __m256d) -> (__m256d, __m256d) {
    // SAFETY: the caller enables AVX2.
    unsafe { (_mm256_unpacklo_pd(x, y), _mm256_unpackhi_pd(x, y)) }
}
