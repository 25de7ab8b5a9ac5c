// SPDX-License-Identifier: Apache-2.0
//! Computes the 32-bit NTT on eight coefficients at a time (AVX2), radix 2.
//!
//! Ranges are those of the AVX-512 loops. With `LAZY` (q < 2^30) numbers are below 4q between forward stages and below 2q
//! between inverse stages. Otherwise they are residues throughout.

use std::arch::x86_64::*;

use super::{Constant32, Ntt32, Twiddles32};
use crate::plans::Order;
use crate::simd256::{halves, neighbours};

/// The number of residues in one vector.
const LANES: usize = 8;

/// The shortest limb that this module's loops with AVX2 transform, in coefficients.
pub(super) const MIN_LEN: usize = 2 * TAIL;

/// The number of coefficients that a loop takes at a time from each half of a block: two vectors.
/// Instructions on one vector run while those on the other wait.
const STEP: usize = 2 * LANES;

/// The number of coefficients of a chunk of the limb. The last five forward stages and the first
/// five inverse stages of a chunk run in registers.
const TAIL: usize = 4 * LANES;

/// An array of K vectors of eight residues.
type Vectors<const K: usize> = [__m256i; K];

/// The coefficients of a chunk of the limb as the operands of one stage's butterflies: all first
/// operands, then all second operands, in two vectors each.
type Pairs = (Vectors<2>, Vectors<2>);

/// A constant factor w modulo q in each lane, with its quotient floor(w 2^32 / q).
#[derive(Clone, Copy)]
struct Constant {
    value: __m256i,
    quotient: __m256i,
}

/// The twiddles of one direction of a transform, and the constants that all its butterflies need.
#[derive(Clone, Copy)]
struct Stage<'a, const LAZY: bool> {
    value: &'a [u32],
    quotient: &'a [u32],
    q: __m256i,
    two_q: __m256i,
    /// The modulus q in the low half of each 64-bit lane.
    q_wide: __m256i,
}

macro_rules! entry {
    ($name:ident, $lazy:literal) => {
        pub(super) mod $name {
            use super::*;

            #[target_feature(enable = "avx2")]
            pub fn forward(plan: &Ntt32, limb: &mut [u32], _: Order) {
                // SAFETY: the feature is enabled here, and the limb has the length of the plan (checked by the caller).
                unsafe { forward_with::<$lazy>(plan, limb) }
            }

            #[target_feature(enable = "avx2")]
            pub fn inverse(plan: &Ntt32, limb: &mut [u32], _: Order) {
                // SAFETY: as in `forward`.
                unsafe { inverse_with::<$lazy>(plan, limb) }
            }
        }
    };
}

entry!(lazy, true);
entry!(strict, false);

#[inline(always)]
unsafe fn splat(x: u32) -> __m256i {
    // SAFETY: the caller enables AVX2.
    unsafe { _mm256_set1_epi32(x as i32) }
}

#[inline(always)]
unsafe fn load(p: *const u32) -> __m256i {
    // SAFETY: p is readable for eight words; the caller enables AVX2.
    unsafe { _mm256_loadu_si256(p.cast()) }
}

#[inline(always)]
unsafe fn store(p: *mut u32, x: __m256i) {
    // SAFETY: p is writable for eight words; the caller enables AVX2.
    unsafe { _mm256_storeu_si256(p.cast(), x) }
}

/// Loads the two, four or eight words of `table` into a vector. Lane i gets the word whose number
/// lane i of `places` has.
#[inline(always)]
unsafe fn spread(table: &[u32], places: __m256i) -> __m256i {
    let p = table.as_ptr();
    // SAFETY: the slice holds as many words as are read; the caller enables AVX2.
    unsafe {
        let words = match table.len() {
            8 => load(p),
            4 => _mm256_castsi128_si256(_mm_loadu_si128(p.cast())),
            _ => _mm256_castsi128_si256(_mm_loadl_epi64(p.cast())),
        };
        _mm256_permutevar8x32_epi32(words, places)
    }
}

/// Loads two vectors from memory.
#[inline(always)]
unsafe fn load_two(p: *const u32) -> Vectors<2> {
    // SAFETY: p is readable for 16 words; the caller enables AVX2.
    unsafe { [load(p), load(p.add(LANES))] }
}

/// Stores two vectors to memory.
#[inline(always)]
unsafe fn store_two(p: *mut u32, [x, y]: Vectors<2>) {
    // SAFETY: p is writable for 16 words; the caller enables AVX2.
    unsafe {
        store(p, x);
        store(p.add(LANES), y);
    }
}

/// Returns x - m in each lane with x >= m, else x.
#[inline(always)]
unsafe fn correct<const K: usize>(mut x: Vectors<K>, m: __m256i) -> Vectors<K> {
    for x in &mut x {
        // SAFETY: the caller enables AVX2.
        *x = unsafe { _mm256_min_epu32(*x, _mm256_sub_epi32(*x, m)) };
    }
    x
}

/// Returns x - y in each lane, or x - y + q if that is negative.
#[inline(always)]
unsafe fn sub(x: __m256i, y: __m256i, q: __m256i) -> __m256i {
    // SAFETY: the caller enables AVX2.
    unsafe {
        let enough = _mm256_cmpeq_epi32(_mm256_max_epu32(x, y), x);
        let difference = _mm256_sub_epi32(x, y);
        _mm256_add_epi32(difference, _mm256_andnot_si256(enough, q))
    }
}

impl<'a, const LAZY: bool> Stage<'a, LAZY> {
    #[inline(always)]
    unsafe fn new(plan: &Ntt32, twiddles: &'a Twiddles32) -> Self {
        let q = plan.q.value();
        // SAFETY: the caller enables AVX2.
        unsafe {
            Self {
                value: &twiddles.value,
                quotient: &twiddles.quotient,
                q: splat(q as u32),
                // Only read with `LAZY`, where it fits.
                two_q: splat((2 * q) as u32),
                q_wide: _mm256_set1_epi64x(q as i64),
            }
        }
    }

    #[inline(always)]
    unsafe fn splat(w: Constant32) -> Constant {
        // SAFETY: the caller enables AVX2.
        unsafe {
            Constant {
                value: splat(w.value),
                quotient: splat(w.quotient),
            }
        }
    }

    /// Returns twiddle `index` in every lane.
    #[inline(always)]
    unsafe fn twiddle(self, index: usize) -> Constant {
        debug_assert!(index < self.value.len());
        // SAFETY: index < n, the length of both tables; the caller enables AVX2.
        unsafe {
            Self::splat(Constant32 {
                value: *self.value.get_unchecked(index),
                quotient: *self.quotient.get_unchecked(index),
            })
        }
    }

    /// Returns the twiddles for two successive pairs of vectors, `COUNT` for each pair, from number
    /// `index` on. Lane i gets the twiddle whose number within its pair lane i of `places` has.
    #[inline(always)]
    unsafe fn twiddles<const COUNT: usize>(self, index: usize, places: __m256i) -> [Constant; 2] {
        let next = index + COUNT;
        debug_assert!(next + COUNT <= self.value.len());
        // SAFETY: next + COUNT <= n, the length of both tables; the caller enables AVX2.
        unsafe {
            let first = index..next;
            let second = next..next + COUNT;
            [
                Constant {
                    value: spread(self.value.get_unchecked(first.clone()), places),
                    quotient: spread(self.quotient.get_unchecked(first), places),
                },
                Constant {
                    value: spread(self.value.get_unchecked(second.clone()), places),
                    quotient: spread(self.quotient.get_unchecked(second), places),
                },
            ]
        }
    }

    /// Computes products congruent to x * w modulo q for K pairs of vectors x and w. With `LAZY`
    /// they are below 2q, for any 32-bit x; otherwise they are below q.
    #[inline(always)]
    unsafe fn mul<const K: usize>(self, mut x: Vectors<K>, w: [Constant; K]) -> Vectors<K> {
        // SAFETY: the caller enables AVX2.
        unsafe {
            let (mut even, mut odd, mut x_odd) = (x, x, x);
            for k in 0..K {
                x_odd[k] = _mm256_srli_epi64::<32>(x[k]);
                even[k] = _mm256_mul_epu32(x[k], w[k].quotient);
                odd[k] = _mm256_mul_epu32(x_odd[k], _mm256_srli_epi64::<32>(w[k].quotient));
            }
            if LAZY {
                // The remainder is below 2q < 2^32, so its low word is all of it.
                for k in 0..K {
                    x[k] = _mm256_mullo_epi32(x[k], w[k].value);
                    even[k] = _mm256_blend_epi32::<0xaa>(_mm256_srli_epi64::<32>(even[k]), odd[k]);
                }
                for k in 0..K {
                    x[k] = _mm256_sub_epi32(x[k], _mm256_mullo_epi32(even[k], self.q));
                }
            } else {
                for k in 0..K {
                    let even = self.rest(x[k], w[k].value, even[k]);
                    let odd = self.rest(x_odd[k], _mm256_srli_epi64::<32>(w[k].value), odd[k]);
                    x[k] = _mm256_or_si256(even, _mm256_slli_epi64::<32>(odd));
                }
            }
            x
        }
    }

    /// Computes x * w modulo q, below q, for the low halves of 64-bit lanes. The estimated quotient of x * w by q is in
    /// the high half of `quotient`.
    #[inline(always)]
    unsafe fn rest(self, x: __m256i, w: __m256i, quotient: __m256i) -> __m256i {
        // SAFETY: the caller enables AVX2. The remainder is below 2q < 2^33; the sign of the difference from q says
        // whether there was nothing to take off.
        unsafe {
            let multiple = _mm256_mul_epu32(_mm256_srli_epi64::<32>(quotient), self.q_wide);
            let rest = _mm256_sub_epi64(_mm256_mul_epu32(x, w), multiple);
            let less = _mm256_sub_epi64(rest, self.q_wide);
            let sign = _mm256_shuffle_epi32::<0b11_11_01_01>(_mm256_srai_epi32::<31>(less));
            _mm256_add_epi64(less, _mm256_and_si256(sign, self.q_wide))
        }
    }

    /// Computes (x + y, x - y) modulo q for K pairs of vectors. With `LAZY` x and y are below 2q
    /// and results below 4q. Otherwise operands and results are residues.
    #[inline(always)]
    unsafe fn sum_difference<const K: usize>(
        self,
        mut x: Vectors<K>,
        mut y: Vectors<K>,
    ) -> (Vectors<K>, Vectors<K>) {
        for k in 0..K {
            // SAFETY: the caller enables AVX2.
            unsafe {
                (x[k], y[k]) = if LAZY {
                    let difference = _mm256_sub_epi32(_mm256_add_epi32(x[k], self.two_q), y[k]);
                    (_mm256_add_epi32(x[k], y[k]), difference)
                } else {
                    // The sum is x - (q - y), which does not overflow.
                    (
                        sub(x[k], _mm256_sub_epi32(self.q, y[k]), self.q),
                        sub(x[k], y[k], self.q),
                    )
                };
            }
        }
        (x, y)
    }

    /// Computes the forward butterfly (x + w y, x - w y) for K pairs of vectors.
    #[inline(always)]
    unsafe fn forward<const K: usize>(
        self,
        x: Vectors<K>,
        y: Vectors<K>,
        w: [Constant; K],
    ) -> (Vectors<K>, Vectors<K>) {
        // SAFETY: the caller enables AVX2.
        unsafe {
            let x = if LAZY { correct(x, self.two_q) } else { x };
            self.sum_difference(x, self.mul(y, w))
        }
    }

    /// Computes the inverse butterfly (x + y, w (x - y)) for K pairs of vectors.
    #[inline(always)]
    unsafe fn inverse<const K: usize>(
        self,
        x: Vectors<K>,
        y: Vectors<K>,
        w: [Constant; K],
    ) -> (Vectors<K>, Vectors<K>) {
        // SAFETY: the caller enables AVX2.
        unsafe {
            let (sum, difference) = self.sum_difference(x, y);
            let sum = if LAZY { correct(sum, self.two_q) } else { sum };
            (sum, self.mul(difference, w))
        }
    }

    /// Computes the first of the last five forward stages for a chunk of [`TAIL`] coefficients. The
    /// chunk's twiddle in this stage has number `index`. Returns the chunk's coefficients as
    /// operands of the next stage's butterflies.
    #[inline(always)]
    unsafe fn forward_fifth_last(self, p: *const u32, index: usize) -> Pairs {
        // SAFETY: p is valid for a chunk; the caller enables AVX2.
        unsafe {
            let w = [self.twiddle(index); 2];
            let ([a, b], [c, d]) = self.forward(load_two(p), load_two(p.add(STEP)), w);
            ([a, c], [b, d])
        }
    }

    /// Computes the second of the last five forward stages of a chunk of [`TAIL`] coefficients. In this stage the
    /// chunk is two blocks of two vectors. The first block's twiddle has number `index`.
    #[inline(always)]
    unsafe fn forward_fourth_last(self, (x, y): Pairs, index: usize) -> Pairs {
        // SAFETY: the caller enables AVX2.
        unsafe {
            let w = [self.twiddle(index), self.twiddle(index + 1)];
            let (x, y) = self.forward(x, y, w);
            halves(x, y)
        }
    }

    /// Computes the third of the last five forward stages of a chunk of [`TAIL`] coefficients. In this stage the
    /// chunk is four blocks of one vector. The first block's twiddle has number `index`.
    #[inline(always)]
    unsafe fn forward_third_last(self, (x, y): Pairs, index: usize) -> Pairs {
        // SAFETY: the caller enables AVX2.
        unsafe {
            let [two, _, _] = places();
            let (x, y) = self.forward(x, y, self.twiddles::<2>(index, two));
            neighbours(x, y)
        }
    }

    /// Computes the fourth of the last five forward stages of a chunk of [`TAIL`] coefficients. In this stage the
    /// chunk is eight blocks of half a vector. The first block's twiddle has number `index`.
    #[inline(always)]
    unsafe fn forward_second_last(self, (x, y): Pairs, index: usize) -> Pairs {
        // SAFETY: the caller enables AVX2.
        unsafe {
            let [_, four, _] = places();
            let (x, y) = self.forward(x, y, self.twiddles::<4>(index, four));
            split(x, y)
        }
    }

    /// Computes the last forward stage of a chunk of [`TAIL`] coefficients, and writes the residues to `p`. In this
    /// stage the chunk is sixteen blocks of a quarter of a vector. The first block's twiddle has number `index`.
    #[inline(always)]
    unsafe fn forward_last(self, p: *mut u32, (x, y): Pairs, index: usize) {
        // SAFETY: p is valid for a chunk; the caller enables AVX2.
        unsafe {
            let [_, _, eight] = places();
            let (x, y) = self.forward(x, y, self.twiddles::<8>(index, eight));
            let (x, y) = join(x, y);
            let (x, y) = neighbours(x, y);
            // Reduced between the moves, as the compiler makes three instructions of the last two.
            let ([a, c], [b, d]) = halves(self.reduce(x), self.reduce(y));
            store_two(p, [a, b]);
            store_two(p.add(STEP), [c, d]);
        }
    }

    /// Computes the first inverse stage of a chunk of [`TAIL`] coefficients, in which the chunk is
    /// sixteen blocks of a quarter of a vector. The first block's twiddle has number `index`.
    #[inline(always)]
    unsafe fn inverse_first(self, p: *const u32, index: usize) -> Pairs {
        // SAFETY: p is valid for a chunk; the caller enables AVX2.
        unsafe {
            let [_, _, eight] = places();
            let ([a, b], [c, d]) = (load_two(p), load_two(p.add(STEP)));
            let (x, y) = halves([a, c], [b, d]);
            let (x, y) = neighbours(x, y);
            let (x, y) = split(x, y);
            let (x, y) = self.inverse(x, y, self.twiddles::<8>(index, eight));
            join(x, y)
        }
    }

    /// Computes the second inverse stage of a chunk of [`TAIL`] coefficients. In this stage the chunk is eight
    /// blocks of half a vector. The first block's twiddle has number `index`.
    #[inline(always)]
    unsafe fn inverse_second(self, (x, y): Pairs, index: usize) -> Pairs {
        // SAFETY: the caller enables AVX2.
        unsafe {
            let [_, four, _] = places();
            let (x, y) = self.inverse(x, y, self.twiddles::<4>(index, four));
            neighbours(x, y)
        }
    }

    /// Computes the third inverse stage of a chunk of [`TAIL`] coefficients. In this stage the chunk is
    /// four blocks of one vector. The first block's twiddle has number `index`.
    #[inline(always)]
    unsafe fn inverse_third(self, (x, y): Pairs, index: usize) -> Pairs {
        // SAFETY: the caller enables AVX2.
        unsafe {
            let [two, _, _] = places();
            let (x, y) = self.inverse(x, y, self.twiddles::<2>(index, two));
            halves(x, y)
        }
    }

    /// Computes the fourth inverse stage of a chunk of [`TAIL`] coefficients. In this stage the chunk is
    /// two blocks of two vectors. The first block's twiddle has number `index`.
    #[inline(always)]
    unsafe fn inverse_fourth(self, (x, y): Pairs, index: usize) -> Pairs {
        // SAFETY: the caller enables AVX2.
        unsafe {
            let w = [self.twiddle(index), self.twiddle(index + 1)];
            let ([a, c], [b, d]) = self.inverse(x, y, w);
            ([a, b], [c, d])
        }
    }

    /// Computes the fifth inverse stage of a chunk of [`TAIL`] coefficients, in which the chunk is
    /// one block, and writes the chunk to `p`. The chunk's twiddle has number `index`.
    #[inline(always)]
    unsafe fn inverse_fifth(self, p: *mut u32, (x, y): Pairs, index: usize) {
        // SAFETY: p is valid for a chunk; the caller enables AVX2.
        unsafe {
            let (x, y) = self.inverse(x, y, [self.twiddle(index); 2]);
            store_two(p, x);
            store_two(p.add(STEP), y);
        }
    }

    /// Reduces results of a forward stage, or products, to residues below q. With `LAZY` such a result
    /// is below 4q; otherwise it is a residue already.
    #[inline(always)]
    unsafe fn reduce<const K: usize>(self, x: Vectors<K>) -> Vectors<K> {
        if !LAZY {
            return x;
        }
        // SAFETY: the caller enables AVX2.
        unsafe { correct(correct(x, self.two_q), self.q) }
    }
}

#[inline(always)]
unsafe fn forward_with<const LAZY: bool>(plan: &Ntt32, limb: &mut [u32]) {
    // SAFETY: the caller enables AVX2; every pointer comes from a chunk of at least the vectors read and written.
    unsafe {
        let stage = Stage::<LAZY>::new(plan, &plan.forward);
        let (mut blocks, mut half) = (1, limb.len() / 2);
        while half >= TAIL {
            for (i, block) in limb.chunks_exact_mut(2 * half).enumerate() {
                let w = [stage.twiddle(blocks + i); 2];
                let (low, high) = block.split_at_mut(half);
                for (low, high) in low.chunks_exact_mut(STEP).zip(high.chunks_exact_mut(STEP)) {
                    let (low, high) = (low.as_mut_ptr(), high.as_mut_ptr());
                    let (x, y) = stage.forward(load_two(low), load_two(high), w);
                    store_two(low, x);
                    store_two(high, y);
                }
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
            let a = stage.forward_fifth_last(p, i);
            let b = stage.forward_fifth_last(q, j);
            let a = stage.forward_fourth_last(a, 2 * i);
            let b = stage.forward_fourth_last(b, 2 * j);
            let a = stage.forward_third_last(a, 4 * i);
            let b = stage.forward_third_last(b, 4 * j);
            let a = stage.forward_second_last(a, 8 * i);
            let b = stage.forward_second_last(b, 8 * j);
            stage.forward_last(p, a, 16 * i);
            stage.forward_last(q, b, 16 * j);
        }
    }
}

#[inline(always)]
unsafe fn inverse_with<const LAZY: bool>(plan: &Ntt32, limb: &mut [u32]) {
    // SAFETY: as in `forward_with`.
    unsafe {
        let stage = Stage::<LAZY>::new(plan, &plan.inverse);
        let n_inv = Stage::<LAZY>::splat(plan.n_inv);
        let n_inv_twiddle = Stage::<LAZY>::splat(plan.n_inv_twiddle);
        let n = limb.len();
        for (i, chunks) in limb.chunks_exact_mut(2 * TAIL).enumerate() {
            let p = chunks.as_mut_ptr();
            let q = p.add(TAIL);
            let i = n / TAIL + 2 * i;
            let j = i + 1;
            let a = stage.inverse_first(p, 16 * i);
            let b = stage.inverse_first(q, 16 * j);
            let a = stage.inverse_second(a, 8 * i);
            let b = stage.inverse_second(b, 8 * j);
            let a = stage.inverse_third(a, 4 * i);
            let b = stage.inverse_third(b, 4 * j);
            let a = stage.inverse_fourth(a, 2 * i);
            let b = stage.inverse_fourth(b, 2 * j);
            stage.inverse_fifth(p, a, i);
            stage.inverse_fifth(q, b, j);
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
            let ([sum], [difference]) = stage.sum_difference([load(low)], [load(high)]);
            let both = stage.mul([sum, difference], [n_inv, n_inv_twiddle]);
            let [sum, difference] = stage.reduce(both);
            store(low, sum);
            store(high, difference);
        }
    }
}

/// Returns the `places` of twiddles ([`Stage::twiddles`]) for the three stages whose butterflies
/// have both operands in one vector. These stages have two, four and eight twiddles for each pair
/// of vectors.
#[inline(always)]
unsafe fn places() -> [__m256i; 3] {
    // SAFETY: the caller enables AVX2.
    unsafe {
        [
            _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1),
            _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3),
            _mm256_setr_epi32(0, 2, 1, 3, 4, 6, 5, 7),
        ]
    }
}

/// Returns, for each of K pairs of vectors, a vector of their even lanes and a vector of their odd
/// lanes. After [`neighbours`], it brings the two coefficients of each butterfly of the next stage,
/// which are neighbours in memory, to the same lane.
#[inline(always)]
unsafe fn split<const K: usize>(mut x: Vectors<K>, mut y: Vectors<K>) -> (Vectors<K>, Vectors<K>) {
    for k in 0..K {
        // SAFETY: the caller enables AVX2.
        (x[k], y[k]) = unsafe {
            let (x, y) = (_mm256_castsi256_ps(x[k]), _mm256_castsi256_ps(y[k]));
            (
                _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(x, y)),
                _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(x, y)),
            )
        };
    }
    (x, y)
}

/// Undoes the exchange of lanes that [`split`] does, for each of K pairs of vectors.
#[inline(always)]
unsafe fn join<const K: usize>(mut x: Vectors<K>, mut y: Vectors<K>) -> (Vectors<K>, Vectors<K>) {
    for k in 0..K {
        // SAFETY: the caller enables AVX2.
        (x[k], y[k]) = unsafe {
            (
                _mm256_unpacklo_epi32(x[k], y[k]),
                _mm256_unpackhi_epi32(x[k], y[k]),
            )
        };
    }
    (x, y)
}
