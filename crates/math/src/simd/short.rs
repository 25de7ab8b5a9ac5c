//! Sums of products below 2^32, reduced.

use std::arch::x86_64::*;

use super::{correct, splat};

/// [`simd256::ShortReducer`](crate::simd256::ShortReducer) on eight sums: of a modulus of k bits for which there is one, sums below
/// 2^(31+k).
#[derive(Clone, Copy)]
pub(crate) struct ShortReducer {
    q: __m512i,
    two_q: __m512i,
    ratio: __m512i,
    /// k - 1.
    cut: __m128i,
}

impl ShortReducer {
    /// With the constant that [`ratio`](crate::simd256::ShortReducer::ratio) gives.
    ///
    /// # Safety
    /// The processor must have AVX-512 F.
    #[inline(always)]
    pub(crate) unsafe fn new(q: u64, bits: u32, ratio: u64) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                q: splat(q),
                two_q: splat(2 * q),
                ratio: splat(ratio),
                cut: _mm_cvtsi64_si128(i64::from(bits) - 1),
            }
        }
    }

    /// # Safety
    /// The processor must have AVX-512 F.
    #[inline(always)]
    pub(crate) unsafe fn reduce(self, sum: __m512i) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe {
            let top = _mm512_srl_epi64(sum, self.cut);
            let quotient = _mm512_srli_epi64::<32>(_mm512_mul_epu32(top, self.ratio));
            let rest = _mm512_sub_epi64(sum, _mm512_mul_epu32(quotient, self.q));
            correct(correct(rest, self.two_q), self.q)
        }
    }
}
