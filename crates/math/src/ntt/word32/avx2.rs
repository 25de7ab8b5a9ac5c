//! The 32-bit transform on eight coefficients at a time (AVX2), radix 2, for processors without AVX-512.
//!
//! Ranges are those of the AVX-512 loops: with `LAZY` (q < 2^30) below 4q between forward stages and below 2q between
//! inverse ones, otherwise residues throughout.

use std::arch::x86_64::*;

use super::{Constant32, Ntt32, Twiddles32};
use crate::plans::Order;

/// Residues in one vector.
const LANES: usize = 8;

/// The shortest limb these loops take.
pub(super) const MIN_LEN: usize = 4 * LANES;

type Pair = (__m256i, __m256i);

/// A constant in each lane and its quotient.
#[derive(Clone, Copy)]
struct Constant {
    value: __m256i,
    quotient: __m256i,
}

/// What every butterfly needs.
#[derive(Clone, Copy)]
struct Stage<'a, const LAZY: bool> {
    value: &'a [u32],
    quotient: &'a [u32],
    q: __m256i,
    two_q: __m256i,
    /// q in the low half of each 64-bit lane.
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

/// The words of a table of two, four or eight in the places that `places` says.
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

/// x - m where x >= m, else x.
#[inline(always)]
unsafe fn correct(x: __m256i, m: __m256i) -> __m256i {
    // SAFETY: the caller enables AVX2.
    unsafe { _mm256_min_epu32(x, _mm256_sub_epi32(x, m)) }
}

/// x - y, or x - y + q where that is negative.
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

    /// Twiddle `index` in every lane.
    #[inline(always)]
    unsafe fn twiddle(self, index: usize) -> Constant {
        let (value, quotient) = (self.value[index], self.quotient[index]);
        // SAFETY: the caller enables AVX2.
        unsafe { Self::splat(Constant32 { value, quotient }) }
    }

    /// Eight twiddles from the `COUNT` from `index` on, in the places that `places` says.
    #[inline(always)]
    unsafe fn twiddles<const COUNT: usize>(self, index: usize, places: __m256i) -> Constant {
        // SAFETY: the caller enables AVX2.
        unsafe {
            Constant {
                value: spread(&self.value[index..index + COUNT], places),
                quotient: spread(&self.quotient[index..index + COUNT], places),
            }
        }
    }

    /// x * w mod q: below 2q with `LAZY` (for any 32-bit x), below q without.
    #[inline(always)]
    unsafe fn mul(self, x: __m256i, w: Constant) -> __m256i {
        // SAFETY: the caller enables AVX2.
        unsafe {
            let x_odd = _mm256_srli_epi64::<32>(x);
            let even = _mm256_mul_epu32(x, w.quotient);
            let odd = _mm256_mul_epu32(x_odd, _mm256_srli_epi64::<32>(w.quotient));
            if LAZY {
                // The remainder is below 2q < 2^32, so its low word is all of it.
                let quotient = _mm256_blend_epi32::<0xaa>(_mm256_srli_epi64::<32>(even), odd);
                return _mm256_sub_epi32(
                    _mm256_mullo_epi32(x, w.value),
                    _mm256_mullo_epi32(quotient, self.q),
                );
            }
            let even = self.rest(x, w.value, even);
            let odd = self.rest(x_odd, _mm256_srli_epi64::<32>(w.value), odd);
            _mm256_or_si256(even, _mm256_slli_epi64::<32>(odd))
        }
    }

    /// x * w mod q of the low halves of 64-bit lanes, the quotient in the high half of `quotient`.
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

    /// (x + y, x - y): below 4q with `LAZY`, for x and y below 2q; residues without.
    #[inline(always)]
    unsafe fn sum_difference(self, x: __m256i, y: __m256i) -> Pair {
        // SAFETY: the caller enables AVX2.
        unsafe {
            if LAZY {
                let difference = _mm256_sub_epi32(_mm256_add_epi32(x, self.two_q), y);
                return (_mm256_add_epi32(x, y), difference);
            }
            // The sum is x - (q - y), which does not overflow.
            (
                sub(x, _mm256_sub_epi32(self.q, y), self.q),
                sub(x, y, self.q),
            )
        }
    }

    /// The forward butterfly (x + w y, x - w y).
    #[inline(always)]
    unsafe fn forward(self, (x, y): Pair, w: Constant) -> Pair {
        // SAFETY: the caller enables AVX2.
        unsafe {
            let x = if LAZY { correct(x, self.two_q) } else { x };
            self.sum_difference(x, self.mul(y, w))
        }
    }

    /// The inverse butterfly (x + y, w (x - y)).
    #[inline(always)]
    unsafe fn inverse(self, (x, y): Pair, w: Constant) -> Pair {
        // SAFETY: the caller enables AVX2.
        unsafe {
            let (sum, difference) = self.sum_difference(x, y);
            let sum = if LAZY { correct(sum, self.two_q) } else { sum };
            (sum, self.mul(difference, w))
        }
    }

    /// From a forward stage's range, or a product's, to below q.
    #[inline(always)]
    unsafe fn reduce(self, x: __m256i) -> __m256i {
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
        while half >= LANES {
            for (i, block) in limb.chunks_exact_mut(2 * half).enumerate() {
                let w = stage.twiddle(blocks + i);
                let (low, high) = block.split_at_mut(half);
                for (low, high) in (low.chunks_exact_mut(LANES)).zip(high.chunks_exact_mut(LANES)) {
                    let (low, high) = (low.as_mut_ptr(), high.as_mut_ptr());
                    let (x, y) = stage.forward((load(low), load(high)), w);
                    store(low, x);
                    store(high, y);
                }
            }
            blocks *= 2;
            half /= 2;
        }
        let [two, four, eight] = places();
        for (i, pair) in limb.chunks_exact_mut(2 * LANES).enumerate() {
            let (low, high) = (pair.as_mut_ptr(), pair.as_mut_ptr().add(LANES));
            let at = blocks + 2 * i;
            let pair = halves((load(low), load(high)));
            let pair = quarters(stage.forward(pair, stage.twiddles::<2>(at, two)));
            let pair = split(stage.forward(pair, stage.twiddles::<4>(2 * at, four)));
            let pair = join(stage.forward(pair, stage.twiddles::<8>(4 * at, eight)));
            let (x, y) = halves(quarters(pair));
            store(low, stage.reduce(x));
            store(high, stage.reduce(y));
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
        let [two, four, eight] = places();
        let (mut blocks, mut half) = (limb.len() / (2 * LANES), LANES);
        for (i, pair) in limb.chunks_exact_mut(2 * LANES).enumerate() {
            let (low, high) = (pair.as_mut_ptr(), pair.as_mut_ptr().add(LANES));
            let at = 2 * (blocks + i);
            let pair = split(quarters(halves((load(low), load(high)))));
            let pair = join(stage.inverse(pair, stage.twiddles::<8>(4 * at, eight)));
            let pair = quarters(stage.inverse(pair, stage.twiddles::<4>(2 * at, four)));
            let (x, y) = halves(stage.inverse(pair, stage.twiddles::<2>(at, two)));
            store(low, x);
            store(high, y);
        }
        while blocks > 1 {
            for (i, block) in limb.chunks_exact_mut(2 * half).enumerate() {
                let w = stage.twiddle(blocks + i);
                let (low, high) = block.split_at_mut(half);
                for (low, high) in (low.chunks_exact_mut(LANES)).zip(high.chunks_exact_mut(LANES)) {
                    let (low, high) = (low.as_mut_ptr(), high.as_mut_ptr());
                    let (x, y) = stage.inverse((load(low), load(high)), w);
                    store(low, x);
                    store(high, y);
                }
            }
            blocks /= 2;
            half *= 2;
        }
        let (low, high) = limb.split_at_mut(half);
        for (low, high) in (low.chunks_exact_mut(LANES)).zip(high.chunks_exact_mut(LANES)) {
            let (low, high) = (low.as_mut_ptr(), high.as_mut_ptr());
            let (sum, difference) = stage.sum_difference(load(low), load(high));
            store(low, stage.reduce(stage.mul(sum, n_inv)));
            store(high, stage.reduce(stage.mul(difference, n_inv_twiddle)));
        }
    }
}

/// Where two, four and eight twiddles go in the three stages within a vector.
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

/// (low halves of both, high halves of both); its own inverse. Partners four lanes apart come to the same lane.
#[inline(always)]
unsafe fn halves((x, y): Pair) -> Pair {
    // SAFETY: the caller enables AVX2.
    unsafe {
        (
            _mm256_permute2x128_si256::<0x20>(x, y),
            _mm256_permute2x128_si256::<0x31>(x, y),
        )
    }
}

/// (even quarters of both, odd quarters of both), by turns; its own inverse. After [`halves`], partners two lanes apart
/// come to the same lane.
#[inline(always)]
unsafe fn quarters((x, y): Pair) -> Pair {
    // SAFETY: the caller enables AVX2.
    unsafe { (_mm256_unpacklo_epi64(x, y), _mm256_unpackhi_epi64(x, y)) }
}

/// (even lanes of both, odd lanes of both): after [`quarters`], partners that are neighbours come to the same lane.
#[inline(always)]
unsafe fn split((x, y): Pair) -> Pair {
    // SAFETY: the caller enables AVX2.
    unsafe {
        let (x, y) = (_mm256_castsi256_ps(x), _mm256_castsi256_ps(y));
        (
            _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(x, y)),
            _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(x, y)),
        )
    }
}

/// The inverse of [`split`].
#[inline(always)]
unsafe fn join((x, y): Pair) -> Pair {
    // SAFETY: the caller enables AVX2.
    unsafe { (_mm256_unpacklo_epi32(x, y), _mm256_unpackhi_epi32(x, y)) }
}
