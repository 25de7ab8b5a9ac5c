// SPDX-License-Identifier: Apache-2.0
//! Computes sums of products with AVX2, four positions at a time. Parts of products are summed as integers, and doubles reduce
//! each sum.
//!
//! A product of 32-bit residues is one multiplication, whose halves are summed separately. A product of up to 52 bits is four
//! multiplications of halves of 26 bits. Each column is reduced once.

use std::arch::x86_64::*;

use super::key::{AHEAD, GROUP, LINE};
use super::{KeyRows, KeyShape};
use crate::Modulus;
use crate::doubles::{Doubles, Factor, LANES, Pair, from_words};
use crate::simd256::{load, splat, store};

/// The number of bits in each half of a residue of up to 52 bits, which is split into two halves.
const HALF: i32 = 26;

/// A way to multiply residues of some width modulo p, and to sum the products.
trait Products {
    /// The word in which a bootstrapping key holds a residue: 32 or 64 bits.
    type Word: Copy;
    /// A factor of several products, such as a digit that multiplies words of a key, split into the
    /// parts that are multiplied.
    type Digit: Copy;
    /// A sum of products in each lane, held in several parts.
    type Sum: Copy;

    /// Returns an empty sum of products.
    ///
    /// # Safety
    /// The processor must have AVX2 and FMA, as for all functions of this trait.
    unsafe fn zero() -> Self::Sum;
    unsafe fn digit(x: __m256i) -> Self::Digit;
    /// Loads four residues of a key into the 64-bit lanes of a vector.
    ///
    /// # Safety
    /// p must be readable for 4 words.
    unsafe fn load(p: *const Self::Word) -> __m256i;
    unsafe fn add(sum: Self::Sum, x: Self::Digit, y: __m256i) -> Self::Sum;
    /// Returns the residue modulo p of a sum of at most 32 products, in each lane.
    unsafe fn reduce(self, sum: Self::Sum) -> __m256i;
}

/// Products of residues modulo p < 2^32. The low halves and the high halves of products are summed
/// apart.
#[derive(Clone, Copy)]
struct Short {
    arithmetic: Doubles<false>,
    /// The factor 2^32 modulo p, by which the sum of the products' high halves is multiplied.
    high: Factor,
}

impl Short {
    #[inline(always)]
    unsafe fn new(p: Modulus) -> Self {
        // SAFETY: the caller enables AVX2 and FMA.
        unsafe {
            Self {
                arithmetic: Doubles::new(p),
                high: Factor::splat(Pair::new(p, p.reduce(1 << 32))),
            }
        }
    }
}

impl Products for Short {
    type Word = u32;
    type Digit = __m256i;
    type Sum = [__m256i; 2];

    #[inline(always)]
    unsafe fn zero() -> Self::Sum {
        // SAFETY: the caller enables AVX2.
        [unsafe { _mm256_setzero_si256() }; 2]
    }

    #[inline(always)]
    unsafe fn digit(x: __m256i) -> __m256i {
        x
    }

    #[inline(always)]
    unsafe fn load(p: *const u32) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe { _mm256_cvtepu32_epi64(_mm_loadu_si128(p.cast())) }
    }

    #[inline(always)]
    unsafe fn add([low, high]: Self::Sum, x: __m256i, y: __m256i) -> Self::Sum {
        // SAFETY: the caller enables AVX2.
        unsafe {
            let product = _mm256_mul_epu32(x, y);
            [
                _mm256_add_epi64(low, _mm256_and_si256(product, splat(0xffff_ffff))),
                _mm256_add_epi64(high, _mm256_srli_epi64::<32>(product)),
            ]
        }
    }

    /// Returns in each lane the residue modulo p of a sum s0 + 2^32 s1 whose two parts are below
    /// 2^37.
    #[inline(always)]
    unsafe fn reduce(self, [low, high]: Self::Sum) -> __m256i {
        // SAFETY: the caller enables AVX2 and FMA.
        unsafe {
            let high = self.arithmetic.nearest(from_words(high));
            let high = self.arithmetic.mul(high, self.high);
            self.arithmetic
                .to_words(_mm256_add_pd(from_words(low), high))
        }
    }
}

/// Products x0 y0 + 2^26 (x0 y1 + x1 y0) + 2^52 x1 y1 of residues x and y below 2^52, which are split into 26-bit
/// halves x0, x1 and y0, y1.
#[derive(Clone, Copy)]
struct Long<const TIGHT: bool> {
    arithmetic: Doubles<TIGHT>,
    /// The factors 2^52 and 2^78 modulo p, by which the bits of a sum from bit 52 on, and from bit
    /// 78 on, are multiplied.
    high: [Factor; 2],
}

impl<const TIGHT: bool> Long<TIGHT> {
    #[inline(always)]
    unsafe fn new(p: Modulus) -> Self {
        let power = |bits: u32| Pair::new(p, p.pow(p.reduce(2), u64::from(bits)));
        // SAFETY: the caller enables AVX2 and FMA.
        unsafe {
            Self {
                arithmetic: Doubles::new(p),
                high: [Factor::splat(power(52)), Factor::splat(power(78))],
            }
        }
    }
}

impl<const TIGHT: bool> Products for Long<TIGHT> {
    type Word = u64;
    type Digit = [__m256i; 2];
    type Sum = [__m256i; 3];

    #[inline(always)]
    unsafe fn zero() -> Self::Sum {
        // SAFETY: the caller enables AVX2.
        [unsafe { _mm256_setzero_si256() }; 3]
    }

    #[inline(always)]
    unsafe fn digit(x: __m256i) -> Self::Digit {
        // SAFETY: the caller enables AVX2.
        unsafe {
            [
                _mm256_and_si256(x, splat((1 << HALF) - 1)),
                _mm256_srli_epi64::<HALF>(x),
            ]
        }
    }

    #[inline(always)]
    unsafe fn load(p: *const u64) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe { load(p) }
    }

    #[inline(always)]
    unsafe fn add([s0, s1, s2]: Self::Sum, [x0, x1]: Self::Digit, y: __m256i) -> Self::Sum {
        // SAFETY: the caller enables AVX2.
        unsafe {
            let [y0, y1] = Self::digit(y);
            let cross = _mm256_add_epi64(_mm256_mul_epu32(x0, y1), _mm256_mul_epu32(x1, y0));
            [
                _mm256_add_epi64(s0, _mm256_mul_epu32(x0, y0)),
                _mm256_add_epi64(s1, cross),
                _mm256_add_epi64(s2, _mm256_mul_epu32(x1, y1)),
            ]
        }
    }

    /// Returns in each lane the residue modulo p of a sum s0 + 2^26 s1 + 2^52 s2. The three parts
    /// are below 2^57, 2^58 and 2^57.
    #[inline(always)]
    unsafe fn reduce(self, [s0, s1, s2]: Self::Sum) -> __m256i {
        // SAFETY: the caller enables AVX2 and FMA.
        unsafe {
            let mask = splat((1 << HALF) - 1);
            let s1 = _mm256_add_epi64(s1, _mm256_srli_epi64::<HALF>(s0));
            let s2 = _mm256_add_epi64(s2, _mm256_srli_epi64::<HALF>(s1));
            let s1 = _mm256_slli_epi64::<HALF>(_mm256_and_si256(s1, mask));
            let low = _mm256_or_si256(s1, _mm256_and_si256(s0, mask));
            let middle = from_words(_mm256_and_si256(s2, mask));
            let top = from_words(_mm256_srli_epi64::<HALF>(s2));
            // Below 2^26 and 2^32 in magnitude, brought to the residue nearest to 0 where p is smaller.
            let middle = self.arithmetic.nearest(middle);
            let top = self.arithmetic.nearest(top);
            let high = _mm256_add_pd(
                self.arithmetic.mul(middle, self.high[0]),
                self.arithmetic.mul(top, self.high[1]),
            );
            let low = self.arithmetic.nearest(from_words(low));
            self.arithmetic.to_words(_mm256_add_pd(low, high))
        }
    }
}

/// Evaluates an expression with products of residues modulo p of up to 52 bits: in one arithmetic
/// for p of up to 50 bits, in another above.
macro_rules! with_long {
    ($p:expr, $products:ident => $body:expr) => {
        if $p.bits() <= 50 {
            let $products = Long::<false>::new($p);
            $body
        } else {
            let $products = Long::<true>::new($p);
            $body
        }
    };
}

/// Computes out(c) = the sum over rows r of digits(r) key(r, c) mod p for each column c of a gadget
/// ciphertext, four positions at a time. `out` has a polynomial for each column.
///
/// # Safety
/// The processor must have AVX2 and FMA; p is at most 2^52 - 2^12 + 1, and below 2^32 if the key has words of 32 bits.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn accumulate(
    p: Modulus,
    shape: KeyShape,
    digits: &[u64],
    key: KeyRows<'_>,
    out: &mut [u64],
) {
    // SAFETY: the features are enabled here.
    unsafe {
        match key {
            // Four columns of two parts, or two of three, are what registers hold.
            KeyRows::Narrow(key) => {
                by_columns::<Short, 4>(Short::new(p), shape, digits, key, out);
            }
            KeyRows::Wide(key) => {
                with_long!(p, products => by_columns::<_, 2>(products, shape, digits, key, out));
            }
        }
    }
}

/// Computes the sums of all columns of a gadget ciphertext, up to `MOST` columns at a time.
#[inline(always)]
unsafe fn by_columns<P: Products + Copy, const MOST: usize>(
    products: P,
    shape: KeyShape,
    digits: &[u64],
    key: &[P::Word],
    out: &mut [u64],
) {
    let (n, rows, cols) = (shape.n(), shape.rows(), shape.cols());
    assert!(digits.len() >= rows * n && key.len() >= shape.words() && out.len() >= cols * n);
    // SAFETY: the lengths, just checked, and columns below `cols`; the caller enables the features.
    unsafe {
        let mut first = 0;
        while first < cols {
            let now = (cols - first).min(MOST);
            match now {
                1 => columns::<P, 1>(products, shape, digits, key, out, first),
                2 => columns::<P, 2>(products, shape, digits, key, out, first),
                3 => columns::<P, 3>(products, shape, digits, key, out, first),
                _ => columns::<P, 4>(products, shape, digits, key, out, first),
            }
            first += now;
        }
    }
}

/// Computes the sums of the columns `first` to `first` + K - 1 of a gadget ciphertext, at every position.
#[inline(always)]
unsafe fn columns<P: Products + Copy, const K: usize>(
    products: P,
    shape: KeyShape,
    digits: &[u64],
    key: &[P::Word],
    out: &mut [u64],
    first: usize,
) {
    let (n, rows, cols) = (shape.n(), shape.rows(), shape.cols());
    let (digits, out) = (digits.as_ptr(), out.as_mut_ptr());
    let words = rows * cols * GROUP;
    for (block, key) in key.chunks_exact(words).take(n / GROUP).enumerate() {
        for half in [0, LANES] {
            let i = block * GROUP + half;
            // SAFETY: i + 4 <= n; digits and out have rows n and cols n words (caller), and a group of the key has eight
            // words for each row and column, first + K of which there are at most.
            unsafe {
                let mut next = key.as_ptr().add(first * GROUP + half);
                let mut sums = [P::zero(); K];
                for r in 0..rows {
                    // Each of the two halves of a row's words prefetches half of the words ahead.
                    let bytes = cols * GROUP * size_of::<P::Word>() / 2;
                    let ahead = key
                        .as_ptr()
                        .cast::<i8>()
                        .wrapping_add(AHEAD + 2 * r * bytes);
                    for line in 0..bytes.div_ceil(LINE) {
                        let part = half / LANES * bytes + line * LINE;
                        _mm_prefetch::<_MM_HINT_T1>(ahead.wrapping_add(part));
                    }
                    let digit = P::digit(load(digits.add(r * n + i)));
                    for (c, sum) in sums.iter_mut().enumerate() {
                        *sum = P::add(*sum, digit, P::load(next.add(c * GROUP)));
                    }
                    next = next.wrapping_add(cols * GROUP);
                }
                for (c, sum) in sums.into_iter().enumerate() {
                    store(out.add((first + c) * n + i), products.reduce(sum));
                }
            }
        }
    }
}

/// Computes out(c) = the sum over u of weights(u) sums(u, c) mod p for each column c, four
/// positions at a time. Here u numbers the gadget ciphertexts of a step of a blind rotation. `out`
/// has a polynomial for each column.
///
/// # Safety
/// The processor must have AVX2 and FMA; p is at most 2^52 - 2^12 + 1.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn combine(
    p: Modulus,
    [n, terms, cols]: [usize; 3],
    weights: &[u64],
    sums: &[u64],
    out: &mut [u64],
) {
    assert!(weights.len() >= terms * n && sums.len() >= terms * cols * n && out.len() >= cols * n);
    assert!(n.is_multiple_of(LANES));
    // SAFETY: the lengths, just checked; the features are enabled here.
    unsafe {
        with_long!(p, products => weigh(products, [n, terms, cols], weights.as_ptr(), sums.as_ptr(), out.as_mut_ptr()));
    }
}

#[inline(always)]
unsafe fn weigh<P: Products<Word = u64> + Copy>(
    products: P,
    [n, terms, cols]: [usize; 3],
    weights: *const u64,
    sums: *const u64,
    out: *mut u64,
) {
    for c in 0..cols {
        for i in (0..n).step_by(LANES) {
            // SAFETY: the pointers are valid for terms n, terms cols n and cols n words (caller), i + 4 <= n.
            unsafe {
                let mut sum = P::zero();
                for u in 0..terms {
                    let weight = P::digit(load(weights.add(u * n + i)));
                    sum = P::add(sum, weight, P::load(sums.add((u * cols + c) * n + i)));
                }
                store(out.add(c * n + i), products.reduce(sum));
            }
        }
    }
}
