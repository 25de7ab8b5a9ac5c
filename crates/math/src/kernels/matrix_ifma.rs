// SPDX-License-Identifier: Apache-2.0
//! Products of a matrix and a vector of limbs with 52-bit multiply-add (AVX-512 IFMA), for any modulus. Each factor is
//! loaded once for up to four rows, whose sums stay in registers.

use std::arch::x86_64::*;

use super::avx512::WideReducer;
use super::backend::Backend;
use super::ifma::Accumulator;
use super::loops::vectors;
use super::narrow::{NarrowReducer, SumReducer};
use super::sums::LAZY_TERMS;
use crate::Modulus;
use crate::simd::{LANES, load, splat, store};

/// The most rows whose sums fit into registers together with the factors.
const ROWS: usize = 4;

/// The number of words by which prefetching into the second-level cache is ahead of the loop.
const AHEAD: usize = 256;

/// The number of bits up to which the factors of a product each fit into one 52-bit part.
const SHORT_BITS: u32 = 52;

/// Computes what [`super::matrix::mat_vec`] says for the coefficients that fill whole vectors of eight. Returns their
/// number, which is 0 if this backend is not in force. The caller has checked the lengths.
pub(super) fn mat_vec(
    q: Modulus,
    sums: &mut [[&mut [u64]; 2]],
    factors: &[[&[u64]; 2]],
    diagonals: &[&[u64]],
    len: usize,
) -> usize {
    if Backend::current() != Backend::Avx512Ifma || len < LANES {
        return 0;
    }
    let diagonals = diagonals.iter().map(|values| Diagonal::of(values, len));
    let Some(diagonals) = diagonals.collect::<Option<Vec<_>>>() else {
        return 0;
    };
    let count = factors.len();
    for (r, rows) in sums.chunks_mut(ROWS).enumerate() {
        let own = diagonals.get(r * ROWS * count..).unwrap_or(&[]);
        // SAFETY: the backend is only in force where the processor has its features. All limbs have `len` words, of
        // which each diagonal holds its blocks, and `own` begins with those of the rows.
        unsafe {
            match rows {
                [a, b, c, d] => by_reducer(q, [a, b, c, d], factors, own, len),
                [a, b, c] => by_reducer(q, [a, b, c], factors, own, len),
                [a, b] => by_reducer(q, [a, b], factors, own, len),
                [a] => by_reducer(q, [a], factors, own, len),
                _ => {}
            }
        }
    }
    len
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn by_reducer<const R: usize>(
    q: Modulus,
    out: [&mut [&mut [u64]; 2]; R],
    factors: &[[&[u64]; 2]],
    diagonals: &[Diagonal<'_>],
    len: usize,
) {
    let out = out.map(|[a, b]| [a.as_mut_ptr(), b.as_mut_ptr()]);
    // SAFETY: the caller's promise.
    unsafe {
        match (NarrowReducer::fits(q), q.bits() <= SHORT_BITS) {
            (true, true) => rows::<_, R, true>(NarrowReducer::new(q), out, factors, diagonals, len),
            (true, false) => {
                rows::<_, R, false>(NarrowReducer::new(q), out, factors, diagonals, len)
            }
            (false, true) => rows::<_, R, true>(WideReducer::new(q), out, factors, diagonals, len),
            (false, false) => {
                rows::<_, R, false>(WideReducer::new(q), out, factors, diagonals, len)
            }
        }
    }
}

/// A diagonal of a limb's length, a power of two. It has one value for each block of equal residues.
struct Diagonal<'a> {
    values: &'a [u64],
    /// The base-2 logarithm of the number of residues in a block.
    log_run: u32,
}

impl<'a> Diagonal<'a> {
    /// Returns `None` unless `len` and the number of values are powers of two. The caller ensures that the number of
    /// values divides `len`.
    fn of(values: &'a [u64], len: usize) -> Option<Self> {
        let powers = [len, values.len()].iter().all(|n| n.is_power_of_two());
        powers.then(|| Self {
            values,
            log_run: len.trailing_zeros() - values.len().trailing_zeros(),
        })
    }

    /// Loads the residues of coefficients i to i + 7.
    ///
    /// # Safety
    /// The processor must have AVX-512 F; i must be a multiple of 8 below the limb's length, which must be 8 or more.
    #[inline(always)]
    unsafe fn eight(&self, i: usize) -> __m512i {
        // SAFETY: 8 >> log_run values, or one, exist from place i >> log_run on.
        unsafe {
            let from = self.values.as_ptr().add(i >> self.log_run);
            match self.log_run {
                0 => load(from),
                1 => {
                    let four = _mm256_loadu_si256(from.cast());
                    let twice = _mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3);
                    _mm512_permutexvar_epi64(twice, _mm512_castsi256_si512(four))
                }
                2 => {
                    let two = _mm_loadu_si128(from.cast());
                    let often = _mm512_setr_epi64(0, 0, 0, 0, 1, 1, 1, 1);
                    _mm512_permutexvar_epi64(often, _mm512_castsi128_si512(two))
                }
                _ => splat(*from),
            }
        }
    }
}

/// Computes the sums of `R` rows. With `SHORT`, all residues are below 2^52.
#[inline(always)]
unsafe fn rows<Reducer: SumReducer, const R: usize, const SHORT: bool>(
    reducer: Reducer,
    out: [[*mut u64; 2]; R],
    factors: &[[&[u64]; 2]],
    diagonals: &[Diagonal<'_>],
    len: usize,
) {
    let count = factors.len();
    // SAFETY: all limbs have len words, 8 or more, as have the diagonals of each row (caller); the caller enables the
    // features.
    unsafe {
        vectors!(len, i => {
            let mut sums = [[_mm512_setzero_si512(); 2]; R];
            for start in (0..count).step_by(LAZY_TERMS) {
                let mut parts = sums.map(|polys| polys.map(|sum| Accumulator::new(sum)));
                for k in start..count.min(start + LAZY_TERMS) {
                    let [x, y] = *factors.get_unchecked(k);
                    for limb in [x, y] {
                        let next = limb.as_ptr().wrapping_add(i + AHEAD);
                        _mm_prefetch::<_MM_HINT_T1>(next.cast());
                    }
                    let (x, y) = (load(x.as_ptr().add(i)), load(y.as_ptr().add(i)));
                    for (r, [a, b]) in parts.iter_mut().enumerate() {
                        let d = diagonals.get_unchecked(r * count + k).eight(i);
                        match SHORT {
                            true => {
                                a.add_short(x, d);
                                b.add_short(y, d);
                            }
                            false => {
                                let high = _mm512_srli_epi64::<52>(d);
                                a.add(x, d, high);
                                b.add(y, d, high);
                            }
                        }
                    }
                }
                for (sums, parts) in sums.iter_mut().zip(parts) {
                    *sums = parts.map(|part| reducer.reduce_sum(part));
                }
            }
            for (out, sums) in out.iter().zip(sums) {
                store(out[0].add(i), sums[0]);
                store(out[1].add(i), sums[1]);
            }
        });
    }
}
