// SPDX-License-Identifier: Apache-2.0
//! Modular arithmetic on sixteen 32-bit residues at a time (AVX-512 F): multiplication by constants and both
//! butterflies.
//!
//! Everything is `inline(always)` and `unsafe`: the loop around it must enable AVX-512 F. The code has loops and no closures,
//! because a closure does not inherit the target features of the function into which it is inlined.

use std::arch::x86_64::*;

use super::{Constant32, Ntt32, Twiddles32};

/// An array of K vectors of sixteen residues.
pub(super) type Vectors<const K: usize> = [__m512i; K];

/// A constant factor w modulo q in each lane, with its quotient floor(w 2^32 / q). A second vector
/// has the quotients of the odd lanes in the even lanes.
#[derive(Clone, Copy)]
pub(super) struct Constant {
    value: __m512i,
    quotient: __m512i,
    quotient_odd: __m512i,
}

/// The twiddles of one direction of a transform, and the constants of its butterflies. With `LAZY`
/// q is below 2^30, and numbers are kept below 4q between forward stages and below 2q between
/// inverse stages. Otherwise they are residues throughout.
#[derive(Clone, Copy)]
pub(super) struct Stage32<'a, const LAZY: bool> {
    value: &'a [u32],
    quotient: &'a [u32],
    q: __m512i,
    two_q: __m512i,
    /// The modulus q in the low half of each 64-bit lane.
    q_wide: __m512i,
}

#[inline(always)]
unsafe fn splat(x: u32) -> __m512i {
    // SAFETY: the caller enables AVX-512 F.
    unsafe { _mm512_set1_epi32(x as i32) }
}

/// Returns x - m in each lane with x >= m, else x.
#[inline(always)]
unsafe fn correct<const K: usize>(mut x: Vectors<K>, m: __m512i) -> Vectors<K> {
    for x in &mut x {
        // SAFETY: the caller enables AVX-512 F.
        *x = unsafe { _mm512_min_epu32(*x, _mm512_sub_epi32(*x, m)) };
    }
    x
}

/// Returns a vector with the odd 32-bit lanes of `odd` at their places, and the odd lanes of `even`
/// moved to the even lanes below them.
///
/// It is written as an instruction. The compiler would choose a permutation of two vectors, which fewer units can do and which
/// has one more operand.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn join_high(even: __m512i, odd: __m512i) -> __m512i {
    let joined;
    // SAFETY: an instruction on registers alone; the caller enables AVX-512 F.
    unsafe {
        std::arch::asm!("vmovshdup {0} {{{1}}}, {2}", inlateout(zmm_reg) odd => joined, in(kreg) 0x5555u16, in(zmm_reg) even,
            options(nomem, nostack, preserves_flags));
    }
    joined
}

impl<'a, const LAZY: bool> Stage32<'a, LAZY> {
    #[inline(always)]
    pub(super) unsafe fn new(plan: &Ntt32, twiddles: &'a Twiddles32) -> Self {
        let q = plan.q.value();
        // SAFETY: the caller enables AVX-512 F.
        unsafe {
            Self {
                value: &twiddles.value,
                quotient: &twiddles.quotient,
                q: splat(q as u32),
                // Only read with `LAZY`, where it fits.
                two_q: splat((2 * q) as u32),
                q_wide: _mm512_set1_epi64(q as i64),
            }
        }
    }

    #[inline(always)]
    unsafe fn constant(value: __m512i, quotient: __m512i) -> Constant {
        // SAFETY: the caller enables AVX-512 F.
        Constant {
            value,
            quotient,
            quotient_odd: unsafe { _mm512_srli_epi64::<32>(quotient) },
        }
    }

    /// Returns the constant factor w, with its quotient, in every lane.
    #[inline(always)]
    pub(super) unsafe fn splat(w: Constant32) -> Constant {
        // SAFETY: the caller enables AVX-512 F.
        unsafe {
            let quotient = splat(w.quotient);
            Constant {
                value: splat(w.value),
                quotient,
                quotient_odd: quotient,
            }
        }
    }

    /// Returns twiddle `index` in every lane.
    #[inline(always)]
    pub(super) unsafe fn twiddle(self, index: usize) -> Constant {
        debug_assert!(index < self.value.len());
        // SAFETY: index < n, the length of both tables; the caller enables AVX-512 F.
        unsafe {
            Self::splat(Constant32 {
                value: *self.value.get_unchecked(index),
                quotient: *self.quotient.get_unchecked(index),
            })
        }
    }

    /// Returns for each of K successive pairs of vectors a vector of `COUNT` (2, 4, 8 or 16)
    /// twiddles, from number `index` on. A pair's twiddles follow one another in the lanes, again
    /// and again.
    #[inline(always)]
    pub(super) unsafe fn turns<const COUNT: usize, const K: usize>(
        self,
        index: usize,
    ) -> [Constant; K] {
        debug_assert!(index + COUNT * K <= self.value.len());
        // SAFETY: the tables hold index + COUNT * K words; the caller enables AVX-512 F.
        unsafe {
            let zero = _mm512_setzero_si512();
            let mut w = [Constant {
                value: zero,
                quotient: zero,
                quotient_odd: zero,
            }; K];
            for (k, w) in w.iter_mut().enumerate() {
                let at = index + COUNT * k;
                *w = Self::constant(
                    by_turns::<COUNT>(self.value.as_ptr().add(at)),
                    by_turns::<COUNT>(self.quotient.as_ptr().add(at)),
                );
            }
            w
        }
    }

    /// Computes products congruent to x * w modulo q for K pairs of vectors x and w. With `LAZY`
    /// they are below 2q, for any 32-bit x; otherwise they are below q.
    #[inline(always)]
    unsafe fn mul<const K: usize>(self, mut x: Vectors<K>, w: [Constant; K]) -> Vectors<K> {
        // SAFETY: the caller enables AVX-512 F.
        unsafe {
            let (mut even, mut odd) = (x, x);
            for k in 0..K {
                even[k] = _mm512_mul_epu32(x[k], w[k].quotient);
                odd[k] = _mm512_mul_epu32(_mm512_srli_epi64::<32>(x[k]), w[k].quotient_odd);
            }
            if LAZY {
                // The remainder is below 2q < 2^32, so its low word is all of it.
                for k in 0..K {
                    even[k] = join_high(even[k], odd[k]);
                }
                for k in 0..K {
                    x[k] = _mm512_sub_epi32(
                        _mm512_mullo_epi32(x[k], w[k].value),
                        _mm512_mullo_epi32(even[k], self.q),
                    );
                }
            } else {
                // Remainders below 2q < 2^33, in 64-bit lanes.
                for k in 0..K {
                    let mut part = [even[k], odd[k]];
                    let from = [x[k], _mm512_srli_epi64::<32>(x[k])];
                    let by = [w[k].value, _mm512_srli_epi64::<32>(w[k].value)];
                    for j in 0..2 {
                        let quotient = _mm512_srli_epi64::<32>(part[j]);
                        let rest = _mm512_sub_epi64(
                            _mm512_mul_epu32(from[j], by[j]),
                            _mm512_mul_epu32(quotient, self.q_wide),
                        );
                        part[j] = _mm512_min_epu64(rest, _mm512_sub_epi64(rest, self.q_wide));
                    }
                    x[k] = _mm512_or_si512(part[0], _mm512_slli_epi64::<32>(part[1]));
                }
            }
            x
        }
    }

    /// Computes (x + y, x - y) mod q for K pairs of vectors of residues x and y, for any q < 2^32.
    #[inline(always)]
    unsafe fn add_sub<const K: usize>(
        self,
        mut x: Vectors<K>,
        mut y: Vectors<K>,
    ) -> (Vectors<K>, Vectors<K>) {
        for k in 0..K {
            // SAFETY: the caller enables AVX-512 F. The sum is x - (q - y), which does not overflow.
            unsafe {
                let rest = _mm512_sub_epi32(self.q, y[k]);
                let small = _mm512_cmplt_epu32_mask(x[k], rest);
                let borrow = _mm512_cmplt_epu32_mask(x[k], y[k]);
                let sum = _mm512_sub_epi32(x[k], rest);
                let difference = _mm512_sub_epi32(x[k], y[k]);
                x[k] = _mm512_mask_add_epi32(sum, small, sum, self.q);
                y[k] = _mm512_mask_add_epi32(difference, borrow, difference, self.q);
            }
        }
        (x, y)
    }

    /// Computes the forward butterfly (x + w y, x - w y) for K pairs of vectors.
    #[inline(always)]
    pub(super) unsafe fn forward<const K: usize>(
        self,
        mut x: Vectors<K>,
        y: Vectors<K>,
        w: [Constant; K],
    ) -> (Vectors<K>, Vectors<K>) {
        // SAFETY: the caller enables AVX-512 F.
        unsafe {
            let mut t = self.mul(y, w);
            if !LAZY {
                return self.add_sub(x, t);
            }
            x = correct(x, self.two_q);
            for k in 0..K {
                let sum = _mm512_add_epi32(x[k], t[k]);
                t[k] = _mm512_sub_epi32(_mm512_add_epi32(x[k], self.two_q), t[k]);
                x[k] = sum;
            }
            (x, t)
        }
    }

    /// Reduces results of a forward stage to residues below q. With `LAZY` such a result
    /// is below 4q; otherwise it is a residue already.
    #[inline(always)]
    pub(super) unsafe fn reduce<const K: usize>(self, x: Vectors<K>) -> Vectors<K> {
        if !LAZY {
            return x;
        }
        // SAFETY: the caller enables AVX-512 F.
        unsafe { correct(correct(x, self.two_q), self.q) }
    }

    /// Computes the inverse butterfly (x + y, w (x - y)) for K pairs of vectors.
    #[inline(always)]
    pub(super) unsafe fn inverse<const K: usize>(
        self,
        x: Vectors<K>,
        y: Vectors<K>,
        w: [Constant; K],
    ) -> (Vectors<K>, Vectors<K>) {
        // SAFETY: the caller enables AVX-512 F.
        unsafe {
            let (sum, difference) = self.sum_difference(x, y);
            let sum = if LAZY { correct(sum, self.two_q) } else { sum };
            (sum, self.mul(difference, w))
        }
    }

    /// Computes the inverse butterfly of the last stage for K pairs of vectors. The sum is
    /// multiplied by 1/n, the difference by the twiddle times 1/n, and both are reduced to
    /// residues.
    #[inline(always)]
    pub(super) unsafe fn inverse_last<const K: usize>(
        self,
        x: Vectors<K>,
        y: Vectors<K>,
        n_inv: Constant,
        n_inv_twiddle: Constant,
    ) -> (Vectors<K>, Vectors<K>) {
        // SAFETY: the caller enables AVX-512 F.
        unsafe {
            let (sum, difference) = self.sum_difference(x, y);
            let (sum, difference) = (
                self.mul(sum, [n_inv; K]),
                self.mul(difference, [n_inv_twiddle; K]),
            );
            if !LAZY {
                return (sum, difference);
            }
            (correct(sum, self.q), correct(difference, self.q))
        }
    }

    /// Computes (x + y, x - y) modulo q for K pairs of vectors. With `LAZY` the results are below
    /// 4q, otherwise they are residues.
    #[inline(always)]
    unsafe fn sum_difference<const K: usize>(
        self,
        mut x: Vectors<K>,
        mut y: Vectors<K>,
    ) -> (Vectors<K>, Vectors<K>) {
        // SAFETY: the caller enables AVX-512 F.
        unsafe {
            if !LAZY {
                return self.add_sub(x, y);
            }
            for k in 0..K {
                let sum = _mm512_add_epi32(x[k], y[k]);
                y[k] = _mm512_sub_epi32(_mm512_add_epi32(x[k], self.two_q), y[k]);
                x[k] = sum;
            }
            (x, y)
        }
    }
}

/// Loads `COUNT` words into a vector, in whose lanes they follow one another again and again.
#[inline(always)]
unsafe fn by_turns<const COUNT: usize>(p: *const u32) -> __m512i {
    // SAFETY: p is readable for COUNT words; the caller enables AVX-512 F.
    unsafe {
        match COUNT {
            2 => _mm512_set1_epi64(p.cast::<i64>().read_unaligned()),
            4 => _mm512_broadcast_i32x4(_mm_loadu_si128(p.cast())),
            8 => _mm512_broadcast_i64x4(_mm256_loadu_si256(p.cast())),
            _ => _mm512_loadu_si512(p.cast()),
        }
    }
}

/// The perfect shuffle of 32 lanes of each pair: (e0 ... e15, e16 ... e31) to (e0 e16 e1 e17 ..., e8 e24 ...). Before
/// each of the last four forward stages it brings the two coefficients of each butterfly to the same lane of the two
/// vectors. Before these stages lane l then holds block l mod 2, l mod 4, l mod 8 and l. A fifth shuffle brings the
/// coefficients back to natural order.
#[inline(always)]
pub(super) unsafe fn shuffle<const K: usize>(
    mut x: Vectors<K>,
    mut y: Vectors<K>,
) -> (Vectors<K>, Vectors<K>) {
    for k in 0..K {
        // SAFETY: the caller enables AVX-512 F.
        unsafe {
            let low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
            let high =
                _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
            (x[k], y[k]) = (
                _mm512_permutex2var_epi32(x[k], low, y[k]),
                _mm512_permutex2var_epi32(x[k], high, y[k]),
            );
        }
    }
    (x, y)
}

/// Undoes the perfect shuffle of 32 lanes that [`shuffle`] does, for each pair of vectors.
#[inline(always)]
pub(super) unsafe fn unshuffle<const K: usize>(
    mut x: Vectors<K>,
    mut y: Vectors<K>,
) -> (Vectors<K>, Vectors<K>) {
    for k in 0..K {
        // SAFETY: the caller enables AVX-512 F.
        unsafe {
            let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
            let odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
            (x[k], y[k]) = (
                _mm512_permutex2var_epi32(x[k], even, y[k]),
                _mm512_permutex2var_epi32(x[k], odd, y[k]),
            );
        }
    }
    (x, y)
}
