//! Four residues at a time: the AVX2 arithmetic that the transform and the kernels share.
//!
//! Every function here is `inline(always)` and carries no target feature of its own: it takes those of the loop it is
//! used in, which must enable AVX2 (hence `unsafe`).

use std::arch::x86_64::*;

use crate::{Modulus, Shoup};

/// Residues in one vector.
pub(crate) const LANES: usize = 4;

/// A constant multiplicand in each lane, with both halves of the value and of floor(value * 2^64 / q).
#[derive(Clone, Copy)]
pub(crate) struct Constant {
    value: __m256i,
    value_high: __m256i,
    quotient: __m256i,
    quotient_high: __m256i,
}

impl Constant {
    /// # Safety
    /// The processor must have AVX2.
    #[inline(always)]
    pub(crate) unsafe fn new(value: __m256i, quotient: __m256i) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                value,
                value_high: _mm256_srli_epi64::<32>(value),
                quotient,
                quotient_high: _mm256_srli_epi64::<32>(quotient),
            }
        }
    }

    /// # Safety
    /// The processor must have AVX2.
    #[inline(always)]
    pub(crate) unsafe fn splat(w: Shoup) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::new(splat(w.value), splat(w.quotient)) }
    }
}

/// What is fixed by the modulus.
#[derive(Clone, Copy)]
pub(crate) struct Context {
    pub(crate) q: __m256i,
    pub(crate) two_q: __m256i,
    pub(crate) q_high: __m256i,
}

impl Context {
    /// # Safety
    /// The processor must have AVX2.
    #[inline(always)]
    pub(crate) unsafe fn new(q: Modulus) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                q: splat(q.value()),
                two_q: splat(2 * q.value()),
                q_high: splat(q.value() >> 32),
            }
        }
    }

    /// x * w mod q below 2q, for any x. The quotient leaves out the carries of the low products: it is short by less
    /// than 4, so the remainder is below 4q < 2^63 and one correction brings it below 2q.
    ///
    /// # Safety
    /// The processor must have AVX2.
    #[inline(always)]
    pub(crate) unsafe fn mul(self, x: __m256i, w: Constant) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe {
            let x_high = _mm256_srli_epi64::<32>(x);
            let quotient = mul_high_short(x, w.quotient, w.quotient_high);
            let product = mul_low(x, x_high, w.value, w.value_high);
            let quotient_high = _mm256_srli_epi64::<32>(quotient);
            let multiple = mul_low(quotient, quotient_high, self.q, self.q_high);
            correct(_mm256_sub_epi64(product, multiple), self.two_q)
        }
    }

    /// From below 4q to below q.
    ///
    /// # Safety
    /// The processor must have AVX2.
    #[inline(always)]
    pub(crate) unsafe fn reduce(self, x: __m256i) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe { correct(correct(x, self.two_q), self.q) }
    }
}

/// x in every lane.
///
/// # Safety
/// The processor must have AVX2.
#[inline(always)]
pub(crate) unsafe fn splat(x: u64) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe { _mm256_set1_epi64x(x as i64) }
}

/// x - m where x >= m, else x; both below 2^63.
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

/// The high word of x * y, or one or two less: the carries out of the low words are left out.
/// `y_high` is y >> 32.
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

/// The low word of x * y, from both halves of each.
///
/// # Safety
/// The processor must have AVX2.
#[inline(always)]
pub(crate) unsafe fn mul_low(x: __m256i, x_high: __m256i, y: __m256i, y_high: __m256i) -> __m256i {
    // SAFETY: the caller enables AVX2.
    unsafe {
        let cross = _mm256_add_epi64(_mm256_mul_epu32(x_high, y), _mm256_mul_epu32(x, y_high));
        _mm256_add_epi64(_mm256_mul_epu32(x, y), _mm256_slli_epi64::<32>(cross))
    }
}

/// Four words from memory.
///
/// # Safety
/// p must be readable for 4 words; the processor must have AVX2.
#[inline(always)]
pub(crate) unsafe fn load(p: *const u64) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe { _mm256_loadu_si256(p.cast()) }
}

/// Four words to memory.
///
/// # Safety
/// p must be writable for 4 words; the processor must have AVX2.
#[inline(always)]
pub(crate) unsafe fn store(p: *mut u64, x: __m256i) {
    // SAFETY: the caller's promise.
    unsafe { _mm256_storeu_si256(p.cast(), x) }
}
