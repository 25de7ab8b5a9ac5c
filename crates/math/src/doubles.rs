// SPDX-License-Identifier: Apache-2.0
//! Modular arithmetic on four residues at a time as doubles (AVX2 with FMA), for moduli of at most 51 bits and for 2^52
//! - 2^12 + 1.
//!
//! AVX2 multiplies 32 bits by 32, so that one product modulo 50 bits takes about ten of its multiplications. With doubles it takes four,
//! and all results are exact. A double holds any integer up to 2^53 in magnitude. A product y w is two doubles, h + l with h = fl(y w) and
//! l = fma(y, w, -h). With b near y w / q, h - b q is an integer below 2^53 again, so that fma computes it without an error. Only b is
//! rounded. b decides by which multiple of q a number differs from its residue, never which residue that is. [`Doubles::to_words`] returns
//! the residue that is at least 0 and below q.
//!
//! Sizes below are in units of q. A factor w is at most 1/2, with w / q rounded to a double. So b is wrong by at most
//! |y| q / 2^54 for that rounding, as much again for the rounding of the product y w / q (which an fma does not round),
//! and 1/2.
//!
//! | | q | b | bound of a product | bound of \|y\| |
//! | --- | --- | --- | --- | --- |
//! | `Doubles<false>` | up to 50 bits | fma(y, w / q, 3 2^51) - 3 2^51, exact to the nearest while b < 2^51 | 1/2 + \|y\| / 16 | below 4 |
//! | `Doubles<true>` | up to 2^52 - 2^12 + 1 | rounded by an instruction of its own | 1/2 + \|y\| / 2 | below 2 |
//!
//! Every function here is `inline(always)` and has no target feature of its own. The loop that uses it must enable AVX2 and FMA (hence
//! `unsafe`).

use std::arch::x86_64::*;

use crate::Modulus;

/// The number of residues in one vector.
pub(crate) const LANES: usize = 4;

/// The number 2^52. The low 52 bits of a double from 2^52 up to 2^53 are the integer that it represents, minus 2^52.
const TOP: f64 = (1u64 << 52) as f64;
/// The number 1.5 * 2^52. Adding it to a double and subtracting it again rounds the double to an integer.
const ROUNDER: f64 = 1.5 * TOP;

/// Four constant factors, one in each lane, each at most q / 2 in magnitude, with their quotients
/// by the modulus q.
#[derive(Clone, Copy)]
pub(crate) struct Factor {
    pub(crate) value: __m256d,
    pub(crate) ratio: __m256d,
}

/// A constant factor w modulo q as it is kept in memory: the integer nearest to 0 that is congruent
/// to w, and its quotient by q.
#[derive(Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) value: f64,
    pub(crate) ratio: f64,
}

impl Pair {
    /// Makes the pair of a factor w, for w < q < 2^53.
    pub(crate) fn new(q: Modulus, w: u64) -> Self {
        let value = q.centred(w) as f64;
        Self {
            value,
            ratio: value / q.value() as f64,
        }
    }
}

impl Factor {
    /// Puts the constant factor `pair`, its number and its quotient, into every lane of two
    /// vectors.
    ///
    /// # Safety
    /// The processor must have AVX2.
    #[inline(always)]
    pub(crate) unsafe fn splat(pair: Pair) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                value: _mm256_set1_pd(pair.value),
                ratio: _mm256_set1_pd(pair.ratio),
            }
        }
    }
}

/// The constants of a modulus q for arithmetic on doubles. `TIGHT` is true for moduli above 50 bits.
#[derive(Clone, Copy)]
pub(crate) struct Doubles<const TIGHT: bool> {
    q: __m256d,
    inverse: __m256d,
}

impl<const TIGHT: bool> Doubles<TIGHT> {
    /// Prepares arithmetic on doubles modulo q: puts q and the constants that derive from it into every lane of vectors.
    ///
    /// # Safety
    /// The processor must have AVX2 and FMA; q has at most 50 bits, or for `TIGHT` is at most 2^52 - 2^12 + 1.
    #[inline(always)]
    pub(crate) unsafe fn new(q: Modulus) -> Self {
        let q = q.value() as f64;
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                q: _mm256_set1_pd(q),
                inverse: _mm256_set1_pd(1.0 / q),
            }
        }
    }

    /// Returns in each lane an integer near x r, where x is a number to be multiplied by a constant
    /// factor w modulo q, and r is w / q.
    #[inline(always)]
    unsafe fn quotient(self, x: __m256d, ratio: __m256d) -> __m256d {
        // SAFETY: the caller enables AVX2 and FMA.
        unsafe {
            if TIGHT {
                const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
                _mm256_round_pd::<NEAREST>(_mm256_mul_pd(x, ratio))
            } else {
                let rounder = _mm256_set1_pd(ROUNDER);
                _mm256_sub_pd(_mm256_fmadd_pd(x, ratio, rounder), rounder)
            }
        }
    }

    /// Returns in each lane a number congruent to y w modulo q, for a constant factor w. The table
    /// in this module's documentation bounds its magnitude.
    ///
    /// # Safety
    /// The processor must have AVX2 and FMA.
    #[inline(always)]
    pub(crate) unsafe fn mul(self, y: __m256d, w: Factor) -> __m256d {
        // SAFETY: the caller's promise.
        unsafe {
            let high = _mm256_mul_pd(y, w.value);
            let low = _mm256_fmsub_pd(y, w.value, high);
            let b = self.quotient(y, w.ratio);
            _mm256_add_pd(_mm256_fnmadd_pd(b, self.q, high), low)
        }
    }

    /// Returns in each lane a number congruent to x modulo q, in magnitude at most (1/2 + 2^-50) q.
    /// x is any integer below 2^53 and below 2^51 q in magnitude.
    ///
    /// # Safety
    /// The processor must have AVX2 and FMA.
    #[inline(always)]
    pub(crate) unsafe fn nearest(self, x: __m256d) -> __m256d {
        // SAFETY: the caller's promise.
        unsafe { _mm256_fnmadd_pd(self.quotient(x, self.inverse), self.q, x) }
    }

    /// Returns the residue below q of any integer below 2^53 and below 2^51 q in magnitude, in each lane.
    ///
    /// # Safety
    /// The processor must have AVX2 and FMA.
    #[inline(always)]
    pub(crate) unsafe fn to_words(self, x: __m256d) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe {
            let x = self.nearest(x);
            let below = _mm256_cmp_pd::<_CMP_LT_OQ>(x, _mm256_setzero_pd());
            let x = _mm256_add_pd(x, _mm256_and_pd(below, self.q));
            let top = _mm256_set1_pd(TOP);
            _mm256_castpd_si256(_mm256_xor_pd(_mm256_add_pd(x, top), top))
        }
    }
}

/// Converts words below 2^52 to doubles.
///
/// # Safety
/// The processor must have AVX2.
#[inline(always)]
pub(crate) unsafe fn from_words(x: __m256i) -> __m256d {
    // SAFETY: the caller's promise.
    unsafe {
        let top = _mm256_set1_pd(TOP);
        _mm256_sub_pd(_mm256_or_pd(_mm256_castsi256_pd(x), top), top)
    }
}
