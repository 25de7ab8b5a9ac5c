// SPDX-License-Identifier: Apache-2.0
//! Vector loops for one step of a blind rotation. They sum products of digits and key rows, multiply the sums by
//! weights, and reduce them. A weight is the transform of X^a - 1, and another loop looks it up. A step has a sum and a
//! weight for each *pattern*, a value other than 0 of the bits of the secret key that it takes.
//!
//! Products of residues are below q^2 and q below 2^30. With R rows a sum S is below R q^2, R at most 12. Without a weight
//! it is reduced to (S + m q) / 2^32 with m < 2^32, which is below (R/4 + 1) q, at most 4 q.
//!
//! A sum with a weight w begins with -floor(R/2) q^2. Let T be R, or R + 1 if R is odd. Then the sum is below T/2 q^2 in
//! magnitude, a signed number of 64 bits. It is split as 2^32 H + L with L in -2^31 ... 2^31 - 1, and multiplied as
//! w L + (2^32 w mod q) H, both factors nearest to 0. The result is below (1/4 + T/64) 2^32 q + q in magnitude. The sum of
//! the results of up to three patterns, a *group*, stays below 3/2 2^32 q in magnitude. It begins with 3/2 2^32 q, so it is
//! positive and below 3 2^32 q, and is reduced as S.

use std::arch::x86_64::*;

use super::key::{BLOCK, NarrowStep};
use super::lanes::Vector;
use super::weights::{Pair, REVERSED};
use crate::Modulus;
use crate::torus::KeyShape;
use crate::torus::key::AHEAD;

/// The constants of a modulus q for Montgomery's reduction of sums of products, which divides by 2^32.
#[derive(Clone, Copy)]
struct Reducer<V> {
    q: V,
    two_q: V,
    /// The constant -1/q modulo 2^32 of Montgomery's reduction modulo q.
    factor: V,
    /// The number -floor(R/2) q^2 at which a sum of products over R rows starts if it is then
    /// multiplied by a weight. With this start the sum is a signed number around zero.
    sums: V,
    /// The number 3/2 2^32 q at which the sum over patterns of weighted sums starts, so that it is
    /// positive.
    start: V,
    /// The constant 2^31, which is added to a sum so that its upper word is right for a signed
    /// lower word.
    half: V,
}

/// The sizes and addresses of the operands of one step of a blind rotation, without the key and the
/// result.
#[derive(Clone, Copy)]
struct Operands {
    n: usize,
    rows: usize,
    patterns: usize,
    digits: *const u32,
    weights: *const u32,
}

impl<V: Vector> Reducer<V> {
    #[inline(always)]
    unsafe fn new(q: Modulus, rows: usize) -> Self {
        let q = q.value() as u32;
        // Newton's iteration: 3 bits of an odd number's inverse are itself, and each step doubles them.
        let mut inverse = q;
        for _ in 0..4 {
            inverse = inverse.wrapping_mul(2u32.wrapping_sub(q.wrapping_mul(inverse)));
        }
        // SAFETY: the caller enables the vector's features.
        unsafe {
            Self {
                q: V::words(q),
                two_q: V::words(2 * q),
                factor: V::words(inverse.wrapping_neg()),
                sums: V::doubles((rows as u64 / 2 * u64::from(q) * u64::from(q)).wrapping_neg()),
                start: V::doubles((3 * u64::from(q)) << 31),
                half: V::doubles(1 << 31),
            }
        }
    }

    /// Returns 64-bit numbers divided by 2^32 modulo q, as residues. The numbers are below
    /// 3 2^32 q, or below 12 q^2. `even` has those for the even words of the result, `odd` those
    /// for the odd words.
    #[inline(always)]
    unsafe fn reduce(self, [even, odd]: [V; 2]) -> V {
        // SAFETY: the caller enables the vector's features.
        unsafe {
            let even = even.add(even.mul(self.factor).mul(self.q));
            let odd = odd.add(odd.mul(self.factor).mul(self.q));
            V::join_odd(even, odd).correct(self.two_q).correct(self.q)
        }
    }
}

/// Returns the sums over all rows of digits times key words, for each of G patterns and each column
/// of its gadget ciphertext, at a vector of positions from i on. The first pattern's words begin at
/// `key`; each sum begins with `start`. Of each sum there are two vectors: for the even and for the
/// odd positions.
#[inline(always)]
unsafe fn products<V: Vector, const COLS: usize, const G: usize>(
    with: Operands,
    start: V,
    key: *const u32,
    i: usize,
) -> [[[V; 2]; COLS]; G] {
    // SAFETY: digits are readable for `rows` polynomials. The key has `rows` rows of `patterns` times COLS blocks, and
    // at least G times COLS of each row follow (caller); the caller enables the vector's features.
    unsafe {
        let mut sums = [[[start; 2]; COLS]; G];
        for r in 0..with.rows {
            let even = V::load(with.digits.add(r * with.n + i));
            let odd = even.odd();
            let row = key.add(r * with.patterns * COLS * BLOCK);
            for (g, sums) in sums.iter_mut().enumerate() {
                for (c, sum) in sums.iter_mut().enumerate() {
                    let place = row.add((g * COLS + c) * BLOCK);
                    _mm_prefetch::<_MM_HINT_T1>(place.cast::<i8>().wrapping_add(AHEAD));
                    let word = V::load(place);
                    sum[0] = sum[0].add(even.mul(word));
                    sum[1] = sum[1].add(odd.mul(word.odd()));
                }
            }
        }
        sums
    }
}

/// Returns for each column the sum over G patterns, from pattern `first` on, of the pattern's sum
/// of products times its weight, as residues modulo q.
#[inline(always)]
unsafe fn group<V: Vector, const COLS: usize, const G: usize>(
    reducer: Reducer<V>,
    with: Operands,
    key: *const u32,
    i: usize,
    first: usize,
) -> [V; COLS] {
    // SAFETY: as in `products`; weights are readable for `patterns` times 2 n words, and first + G <= patterns.
    unsafe {
        let sums = products::<V, COLS, G>(with, reducer.sums, key.add(first * COLS * BLOCK), i);
        let mut weighed = [[reducer.start; 2]; COLS];
        let at = with.weights.add(2 * (i - i % BLOCK) + i % BLOCK);
        for (g, sums) in sums.iter().enumerate() {
            let pair = at.add((first + g) * 2 * with.n);
            let (low, high) = (V::load(pair), V::load(pair.add(BLOCK)));
            let (low, high) = ([low, low.odd()], [high, high.odd()]);
            for (sum, weighed) in sums.iter().zip(&mut weighed) {
                for half in 0..2 {
                    let above = sum[half].add(reducer.half).odd();
                    let products =
                        (low[half].mul_signed(sum[half])).add(high[half].mul_signed(above));
                    weighed[half] = weighed[half].add(products);
                }
            }
        }
        let mut out = [V::words(0); COLS];
        for (out, weighed) in out.iter_mut().zip(weighed) {
            *out = reducer.reduce(weighed);
        }
        out
    }
}

/// Computes the sums of one step of a blind rotation for all columns and all positions. Patterns
/// are taken in groups of G. Without weights there is one pattern.
#[inline(always)]
unsafe fn columns<V: Vector, const COLS: usize, const G: usize>(
    q: Modulus,
    with: Operands,
    key: *const u32,
    out: *mut u32,
) {
    // SAFETY: the caller's promise, which is `accumulate`'s.
    unsafe {
        let reducer = Reducer::<V>::new(q, with.rows);
        let words = with.rows * with.patterns * COLS * BLOCK;
        for block in 0..with.n / BLOCK {
            let key = key.add(block * words);
            for part in (0..BLOCK).step_by(V::LANES) {
                let (key, i) = (key.add(part), block * BLOCK + part);
                let mut sums = [V::words(0); COLS];
                if with.weights.is_null() {
                    let [products] = products::<V, COLS, 1>(with, V::words(0), key, i);
                    for (sum, products) in sums.iter_mut().zip(products) {
                        *sum = reducer.reduce(products);
                    }
                } else {
                    let mut first = 0;
                    while first + G <= with.patterns {
                        let more = group::<V, COLS, G>(reducer, with, key, i, first);
                        for (sum, more) in sums.iter_mut().zip(more) {
                            *sum = sum.add_words(more).correct(reducer.q);
                        }
                        first += G;
                    }
                    while first < with.patterns {
                        let more = group::<V, COLS, 1>(reducer, with, key, i, first);
                        for (sum, more) in sums.iter_mut().zip(more) {
                            *sum = sum.add_words(more).correct(reducer.q);
                        }
                        first += 1;
                    }
                }
                for (c, sum) in sums.into_iter().enumerate() {
                    V::store(out.add(c * with.n + i), sum);
                }
            }
        }
    }
}

/// Computes the sums of one step of a blind rotation. The caller has checked the lengths: `digits` holds `rows`
/// polynomials, `out` holds `cols`, and `weights` holds nothing, or 2N words for each pattern. There are at most 12
/// rows and 2 to 4 columns. N is a multiple of 16, and q is odd and below 2^30.
#[inline(always)]
unsafe fn accumulate<V: Vector>(
    q: Modulus,
    shape: KeyShape,
    step: NarrowStep<'_>,
    digits: &[u32],
    weights: &[u32],
    out: &mut [u32],
) {
    let (n, rows, cols, patterns) = (shape.n(), shape.rows(), shape.cols(), step.patterns());
    let weighed = match weights.len() {
        0 => patterns == 1,
        len => len >= 2 * n * patterns,
    };
    assert!(weighed && digits.len() >= rows * n && out.len() >= cols * n);
    assert!(step.words().len() >= patterns * shape.words() && n.is_multiple_of(BLOCK));
    let with = Operands {
        n,
        rows,
        patterns,
        digits: digits.as_ptr(),
        weights: match weights {
            [] => std::ptr::null(),
            some => some.as_ptr(),
        },
    };
    let (key, out) = (step.words().as_ptr(), out.as_mut_ptr());
    // SAFETY: the lengths, just checked; the caller enables the vector's features.
    unsafe {
        // The third number is the number of patterns at once: as many as registers hold the sums of.
        match cols {
            2 => columns::<V, 2, 3>(q, with, key, out),
            3 => columns::<V, 3, 2>(q, with, key, out),
            4 => columns::<V, 4, 1>(q, with, key, out),
            _ => {}
        }
    }
}

/// Looks up the transform of X^a - 1 in the table `lines`, a vector at a time, as
/// [`super::weights::Weights::of`] does.
#[inline(always)]
unsafe fn pick<V: Vector>(lines: &[Pair], exponents: &[u32], a: u32, out: &mut [u32]) {
    let turns = REVERSED.map(|r| r.wrapping_mul(a));
    let (mask, log) = (lines.len() - 1, lines.len().trailing_zeros());
    for (out, &e) in out
        .as_chunks_mut::<{ 2 * BLOCK }>()
        .0
        .iter_mut()
        .zip(exponents)
    {
        let e = a.wrapping_mul(e);
        let line = &lines[e as usize & mask];
        let out = out.as_mut_ptr();
        for part in (0..BLOCK).step_by(V::LANES) {
            // SAFETY: lines and turns have sixteen words, `out` twice as many; the caller enables the vector's features.
            unsafe {
                let index = V::load(turns.as_ptr().add(part)).add_words(V::words(e >> log));
                V::store(out.add(part), V::pick(line.low.as_ptr(), index));
                V::store(out.add(BLOCK + part), V::pick(line.high.as_ptr(), index));
            }
        }
    }
}

macro_rules! entry {
    ($name:ident, $features:literal, $vector:ty) => {
        pub(super) mod $name {
            use super::*;

            /// Computes, for each column, the sum over patterns of weights times the sums over rows
            /// of digits times key words, for one step of a blind rotation. All are in transform
            /// form. Without weights there is one pattern.
            ///
            /// # Safety
            /// The processor must have the features of the vector.
            #[target_feature(enable = $features)]
            pub unsafe fn accumulate(
                q: Modulus,
                shape: KeyShape,
                step: NarrowStep<'_>,
                digits: &[u32],
                weights: &[u32],
                out: &mut [u32],
            ) {
                // SAFETY: the features are enabled here.
                unsafe { super::accumulate::<$vector>(q, shape, step, digits, weights, out) }
            }

            /// Looks up the transform of X^a - 1 in the table `lines`. For each sixteen positions
            /// it writes the factors that multiply the low words of sums, then those that multiply
            /// the high words.
            ///
            /// # Safety
            /// The processor must have the features of the vector.
            #[target_feature(enable = $features)]
            pub unsafe fn pick(lines: &[Pair], exponents: &[u32], a: u32, out: &mut [u32]) {
                // SAFETY: the features are enabled here.
                unsafe { super::pick::<$vector>(lines, exponents, a, out) }
            }
        }
    };
}

entry!(avx2, "avx2", __m256i);
entry!(avx512, "avx512f", __m512i);
