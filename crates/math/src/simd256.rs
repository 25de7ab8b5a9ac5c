// SPDX-License-Identifier: Apache-2.0
//! AVX2 arithmetic on four residues at a time, which transforms and kernels share.
//!
//! Every function here is `inline(always)` and has no target feature of its own. The loop that uses it must enable AVX2
//! (hence `unsafe`).

use std::arch::x86_64::*;

use crate::{Modulus, Shoup};

/// The number of residues in one vector.
pub(crate) const LANES: usize = 4;

/// A constant factor w modulo q in each lane: w, w with its 32-bit halves exchanged, floor(w 2^64 / q), and the upper
/// half of this quotient.
#[derive(Clone, Copy)]
pub(crate) struct Constant {
    value: __m256i,
    value_swapped: __m256i,
    quotient: __m256i,
    quotient_high: __m256i,
}

impl Constant {
    /// Prepares a constant factor in each lane from its value and its quotient floor(value * 2^64 / q).
    ///
    /// # Safety
    /// The processor must have AVX2.
    #[inline(always)]
    pub(crate) unsafe fn new(value: __m256i, quotient: __m256i) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                value,
                value_swapped: swapped(value),
                quotient,
                quotient_high: _mm256_srli_epi64::<32>(quotient),
            }
        }
    }

    /// Puts one constant factor, with its quotient, into every lane.
    ///
    /// # Safety
    /// The processor must have AVX2.
    #[inline(always)]
    pub(crate) unsafe fn splat(w: Shoup) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::new(splat(w.value), splat(w.quotient)) }
    }
}

/// The modulus q and the numbers that derive from it, in every lane, for the AVX2 arithmetic.
#[derive(Clone, Copy)]
pub(crate) struct Context {
    pub(crate) q: __m256i,
    pub(crate) two_q: __m256i,
    q_swapped: __m256i,
    /// The mask that selects the upper 32 bits of each 64-bit lane.
    upper: __m256i,
}

impl Context {
    /// Puts the modulus q and the numbers that derive from it into every lane.
    ///
    /// # Safety
    /// The processor must have AVX2.
    #[inline(always)]
    pub(crate) unsafe fn new(q: Modulus) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                q: splat(q.value()),
                two_q: splat(2 * q.value()),
                q_swapped: swapped(splat(q.value())),
                upper: splat(!0 << 32),
            }
        }
    }

    /// Returns numbers below 4q that are congruent to x * w modulo q, for any x, for K pairs of
    /// vectors together. Instructions on one pair run while those on another wait. The estimated
    /// quotient leaves out the carries of the products of low halves, so it is short by less
    /// than 4.
    ///
    /// # Safety
    /// The processor must have AVX2.
    #[inline(always)]
    pub(crate) unsafe fn mul_lazy<const K: usize>(
        self,
        mut x: [__m256i; K],
        w: [Constant; K],
    ) -> [__m256i; K] {
        // SAFETY: the caller's promise. Of both products the low words count: the product of the low halves, and the low
        // words of the crossed ones, all of which one instruction makes on lanes of 32 bits.
        unsafe {
            let (mut quotient, mut crossed) = (x, x);
            let mut high = x;
            for k in 0..K {
                high[k] = _mm256_srli_epi64::<32>(x[k]);
            }
            for k in 0..K {
                quotient[k] = _mm256_mul_epu32(x[k], w[k].quotient_high);
                crossed[k] = _mm256_mul_epu32(high[k], w[k].quotient);
                high[k] = _mm256_mul_epu32(high[k], w[k].quotient_high);
            }
            for k in 0..K {
                let parts = _mm256_add_epi64(
                    _mm256_srli_epi64::<32>(quotient[k]),
                    _mm256_srli_epi64::<32>(crossed[k]),
                );
                quotient[k] = _mm256_add_epi64(high[k], parts);
            }
            for k in 0..K {
                crossed[k] = _mm256_mullo_epi32(x[k], w[k].value_swapped);
                x[k] = _mm256_mul_epu32(x[k], w[k].value);
            }
            for k in 0..K {
                let multiple = _mm256_mullo_epi32(quotient[k], self.q_swapped);
                crossed[k] = _mm256_sub_epi32(crossed[k], multiple);
                x[k] = _mm256_sub_epi64(x[k], _mm256_mul_epu32(quotient[k], self.q));
            }
            for k in 0..K {
                x[k] = self.with_crossed(x[k], crossed[k]);
            }
            x
        }
    }

    /// Returns in each lane a number below 2q that is congruent to x * w modulo q, for any x. The
    /// product is first below 4q < 2^63, so that one correction suffices.
    ///
    /// # Safety
    /// The processor must have AVX2.
    #[inline(always)]
    pub(crate) unsafe fn mul(self, x: __m256i, w: Constant) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe { correct(self.mul_lazy([x], [w])[0], self.two_q) }
    }

    /// Returns in each lane the low word of x times the modulus q.
    ///
    /// # Safety
    /// The processor must have AVX2.
    #[inline(always)]
    pub(crate) unsafe fn multiple(self, x: __m256i) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe {
            let crossed = _mm256_mullo_epi32(x, self.q_swapped);
            self.with_crossed(_mm256_mul_epu32(x, self.q), crossed)
        }
    }

    /// Returns in each lane the low word of a product: `low` plus 2^32 times the sum of the two
    /// 32-bit halves of `crossed`. `low` is the product of the factors' low halves, and `crossed`
    /// has the products of a low and a high half.
    #[inline(always)]
    unsafe fn with_crossed(self, low: __m256i, crossed: __m256i) -> __m256i {
        // SAFETY: the caller enables AVX2.
        unsafe {
            let first = _mm256_slli_epi64::<32>(crossed);
            let second = _mm256_and_si256(crossed, self.upper);
            _mm256_add_epi64(low, _mm256_add_epi64(first, second))
        }
    }

    /// Reduces numbers below 4q to residues below q, in each lane.
    ///
    /// # Safety
    /// The processor must have AVX2.
    #[inline(always)]
    pub(crate) unsafe fn reduce(self, x: __m256i) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe { correct(correct(x, self.two_q), self.q) }
    }
}

/// Returns x in every lane.
///
/// # Safety
/// The processor must have AVX2.
#[inline(always)]
pub(crate) unsafe fn splat(x: u64) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe { _mm256_set1_epi64x(x as i64) }
}

/// Returns x - m in each lane with x >= m, else x. The difference x - m must be at least -2^63 and below 2^63.
///
/// # Safety
/// The processor must have AVX2.
#[inline(always)]
pub(crate) unsafe fn correct(x: __m256i, m: __m256i) -> __m256i {
    // SAFETY: the caller's promise. The blend goes by the sign bit of each lane.
    unsafe {
        let less = _mm256_castsi256_pd(_mm256_sub_epi64(x, m));
        _mm256_castpd_si256(_mm256_blendv_pd(less, _mm256_castsi256_pd(x), less))
    }
}

/// Returns in each lane the high word of x * y, or one or two less, because the carries of the
/// products of low halves are left out. `y_high` is y >> 32.
///
/// # Safety
/// The processor must have AVX2.
#[inline(always)]
pub(crate) unsafe fn mul_high_short(x: __m256i, y: __m256i, y_high: __m256i) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe {
        let x_high = _mm256_srli_epi64::<32>(x);
        let cross = _mm256_srli_epi64::<32>(_mm256_mul_epu32(x, y_high));
        let other = _mm256_srli_epi64::<32>(_mm256_mul_epu32(x_high, y));
        _mm256_add_epi64(
            _mm256_mul_epu32(x_high, y_high),
            _mm256_add_epi64(cross, other),
        )
    }
}

/// Returns each 64-bit lane with its two halves exchanged.
#[inline(always)]
unsafe fn swapped(x: __m256i) -> __m256i {
    // SAFETY: the caller enables AVX2.
    unsafe { _mm256_shuffle_epi32::<0b10_11_00_01>(x) }
}

/// Loads four words from memory.
///
/// # Safety
/// p must be readable for 4 words; the processor must have AVX2.
#[inline(always)]
pub(crate) unsafe fn load(p: *const u64) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe { _mm256_loadu_si256(p.cast()) }
}

/// Stores four words to memory.
///
/// # Safety
/// p must be writable for 4 words; the processor must have AVX2.
#[inline(always)]
pub(crate) unsafe fn store(p: *mut u64, x: __m256i) {
    // SAFETY: the caller's promise.
    unsafe { _mm256_storeu_si256(p.cast(), x) }
}

/// Returns for each of K pairs of vectors one vector of both low 128-bit halves, and one of both
/// high halves. The function is its own inverse.
///
/// # Safety
/// The processor must have AVX2.
#[inline(always)]
pub(crate) unsafe fn halves<const K: usize>(
    mut x: [__m256i; K],
    mut y: [__m256i; K],
) -> ([__m256i; K], [__m256i; K]) {
    for k in 0..K {
        // SAFETY: the caller's promise.
        (x[k], y[k]) = unsafe {
            (
                _mm256_permute2x128_si256::<0x20>(x[k], y[k]),
                _mm256_permute2x128_si256::<0x31>(x[k], y[k]),
            )
        };
    }
    (x, y)
}

/// Returns for each of K pairs of vectors one vector in which the even 64-bit lanes of both
/// alternate, and one with the odd lanes of both. The function is its own inverse.
///
/// # Safety
/// The processor must have AVX2.
#[inline(always)]
pub(crate) unsafe fn neighbours<const K: usize>(
    mut x: [__m256i; K],
    mut y: [__m256i; K],
) -> ([__m256i; K], [__m256i; K]) {
    for k in 0..K {
        // SAFETY: the caller's promise.
        (x[k], y[k]) = unsafe {
            (
                _mm256_unpacklo_epi64(x[k], y[k]),
                _mm256_unpackhi_epi64(x[k], y[k]),
            )
        };
    }
    (x, y)
}
