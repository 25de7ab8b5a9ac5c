//! Kernels with 52-bit multiply-add (AVX-512 IFMA), eight coefficients at a time.
//!
//! Sums of products gain for any modulus: seven multiply-adds take a whole 64 x 64 product into three accumulators.
//! Single products have a reduction of their own below 2^50 and from 54 bits on, and that of sums between. Each function
//! processes the largest multiple of eight coefficients and returns how many those were.

use std::arch::x86_64::*;

use super::avx512::{WideReducer, vectors};
use super::narrow::{NarrowReducer, SumReducer, product};
use super::sums::LAZY_TERMS;
use crate::simd::{
    Ifma as Ifma52, IfmaWide, LANES, LazyMul, TIGHT, WideQuotient, WideShoup, correct, load, splat,
    store,
};
use crate::{Modulus, Shoup};

type Ifma = Ifma52<TIGHT>;

/// A sum of products as s0 + s1 2^52 + s2 2^104, each part far below 2^64 for up to 32 terms.
#[derive(Clone, Copy)]
pub(super) struct Accumulator {
    pub s0: __m512i,
    pub s1: __m512i,
    pub s2: __m512i,
}

impl Accumulator {
    #[inline(always)]
    pub unsafe fn new(start: __m512i) -> Self {
        // SAFETY: the caller enables AVX-512 F.
        let zero = unsafe { _mm512_setzero_si512() };
        Self {
            s0: start,
            s1: zero,
            s2: zero,
        }
    }

    /// Adds x * y; multiply-add reads the low 52 bits of its factors, so only the high parts are moved.
    #[inline(always)]
    pub unsafe fn add(&mut self, x: __m512i, y: __m512i, y_high: __m512i) {
        // SAFETY: the caller enables AVX-512 IFMA.
        unsafe {
            let x_high = _mm512_srli_epi64::<52>(x);
            self.s0 = _mm512_madd52lo_epu64(self.s0, x, y);
            self.s1 = _mm512_madd52hi_epu64(self.s1, x, y);
            self.s2 = _mm512_madd52hi_epu64(self.s2, x, y_high);
            self.s1 = _mm512_madd52lo_epu64(self.s1, x, y_high);
            self.s2 = _mm512_madd52hi_epu64(self.s2, x_high, y);
            self.s1 = _mm512_madd52lo_epu64(self.s1, x_high, y);
            self.s2 = _mm512_madd52lo_epu64(self.s2, x_high, y_high);
        }
    }

    /// The sum as (high word, low word).
    #[inline(always)]
    pub unsafe fn words(self) -> (__m512i, __m512i) {
        // SAFETY: the caller enables AVX-512 F.
        unsafe {
            let low = _mm512_add_epi64(self.s0, _mm512_slli_epi64::<52>(self.s1));
            let high = _mm512_add_epi64(
                _mm512_srli_epi64::<12>(self.s1),
                _mm512_slli_epi64::<40>(self.s2),
            );
            let carry = _mm512_cmplt_epu64_mask(low, self.s0);
            (_mm512_mask_add_epi64(high, carry, high, splat(1)), low)
        }
    }
}

pub(super) unsafe fn dot(
    q: Modulus,
    out: *mut u64,
    terms: &[(&[u64], &[u64])],
    len: usize,
) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        match NarrowReducer::fits(q) {
            true => dot_narrow(q, out, terms, len),
            false => dot_wide(q, out, terms, len),
        }
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn dot_narrow(q: Modulus, out: *mut u64, terms: &[(&[u64], &[u64])], len: usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe { dot_with(NarrowReducer::new(q), out, terms, len) }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn dot_wide(q: Modulus, out: *mut u64, terms: &[(&[u64], &[u64])], len: usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe { dot_with(WideReducer::new(q), out, terms, len) }
}

#[inline(always)]
unsafe fn dot_with<R: SumReducer>(
    reducer: R,
    out: *mut u64,
    terms: &[(&[u64], &[u64])],
    len: usize,
) -> usize {
    // SAFETY: the pointer and every slice are valid for len words; the caller enables the features.
    unsafe {
        vectors!(len, i => {
            let mut sum = _mm512_setzero_si512();
            for group in terms.chunks(LAZY_TERMS) {
                let mut accumulator = Accumulator::new(sum);
                for (a, b) in group {
                    let b = load(b.as_ptr().add(i));
                    accumulator.add(load(a.as_ptr().add(i)), b, _mm512_srli_epi64::<52>(b));
                }
                sum = reducer.reduce_sum(accumulator);
            }
            store(out.add(i), sum)
        })
    }
}

/// Vectors that share one load of each constant.
const UNROLL: usize = 4;

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) unsafe fn dot_scalars(
    q: Modulus,
    out: *mut u64,
    limbs: &[&[u64]],
    constants: &[Shoup],
    len: usize,
) -> usize {
    let unrolled = len - len % (UNROLL * LANES);
    let done = len - len % LANES;
    // SAFETY: the pointer and every slice are valid for len words (caller).
    unsafe {
        let reducer = WideReducer::new(q);
        for i in (0..unrolled).step_by(UNROLL * LANES) {
            dot_scalars_at::<UNROLL>(reducer, out, limbs, constants, i);
        }
        for i in (unrolled..done).step_by(LANES) {
            dot_scalars_at::<1>(reducer, out, limbs, constants, i);
        }
    }
    done
}

/// [`dot_scalars`] on `V` vectors from coefficient i on.
#[inline(always)]
unsafe fn dot_scalars_at<const V: usize>(
    reducer: WideReducer,
    out: *mut u64,
    limbs: &[&[u64]],
    constants: &[Shoup],
    i: usize,
) {
    // SAFETY: the pointer and every slice are valid from i on for V vectors; the caller enables AVX-512 IFMA.
    unsafe {
        let mut sums = [_mm512_setzero_si512(); V];
        for (limbs, constants) in limbs.chunks(LAZY_TERMS).zip(constants.chunks(LAZY_TERMS)) {
            let mut accumulators = [Accumulator::new(sums[0]); V];
            for v in 1..V {
                accumulators[v] = Accumulator::new(sums[v]);
            }
            for (a, w) in limbs.iter().zip(constants) {
                let w = splat(w.value);
                let w_high = _mm512_srli_epi64::<52>(w);
                for (v, accumulator) in accumulators.iter_mut().enumerate() {
                    accumulator.add(load(a.as_ptr().add(i + v * LANES)), w, w_high);
                }
            }
            for (sum, accumulator) in sums.iter_mut().zip(accumulators) {
                let (high, low) = accumulator.words();
                *sum = reducer.reduce(high, low);
            }
        }
        for (v, sum) in sums.into_iter().enumerate() {
            store(out.add(i + v * LANES), sum);
        }
    }
}

/// Barrett reduction of products of residues below 2^50.
///
/// With k = bits of q, a product P < 2^2k is cut to P1 = P >> (k-2) < 2^(k+2) <= 2^52, and the quotient is estimated as
/// P1 * floor(2^(k+50) / q) >> 52. It is short of P / q by less than 2.5: 1/2 from the cut, 1 each from the constant and
/// the floor. So the remainder comes out below 3q.
#[derive(Clone, Copy)]
struct Barrett {
    q: __m512i,
    two_q: __m512i,
    minus_q: __m512i,
    mask: __m512i,
    ratio: __m512i,
    shift_low: __m512i,
    shift_high: __m512i,
}

impl Barrett {
    #[inline(always)]
    unsafe fn new(q: Modulus) -> Self {
        let k = q.bits();
        // At most 2^51, as q >= 2^(k-1).
        let ratio = ((1u128 << (k + 50)) / u128::from(q.value())) as u64;
        // SAFETY: the caller enables AVX-512 F.
        unsafe {
            Self {
                q: splat(q.value()),
                two_q: splat(2 * q.value()),
                minus_q: splat((1 << 52) - q.value()),
                mask: splat((1 << 52) - 1),
                ratio: splat(ratio),
                shift_low: splat(u64::from(k - 2)),
                shift_high: splat(u64::from(54 - k)),
            }
        }
    }

    /// a * b mod q, below 3q.
    #[inline(always)]
    unsafe fn mul(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller enables AVX-512 F and IFMA.
        unsafe {
            let zero = _mm512_setzero_si512();
            let high = _mm512_madd52hi_epu64(zero, a, b);
            let low = _mm512_madd52lo_epu64(zero, a, b);
            let cut = _mm512_or_si512(
                _mm512_sllv_epi64(high, self.shift_high),
                _mm512_srlv_epi64(low, self.shift_low),
            );
            let quotient = _mm512_madd52hi_epu64(zero, cut, self.ratio);
            _mm512_and_si512(
                _mm512_madd52lo_epu64(low, quotient, self.minus_q),
                self.mask,
            )
        }
    }
}

/// Barrett reduction of products of residues of 54 to 61 bits.
///
/// With k = bits of q, a product P = s0 + s1 2^52 + s2 2^104 < 2^2k is cut to P1 = (s1 + s2 2^52) >> (k-54), which is
/// P >> (k-2) or one less, and the quotient is estimated as the high word of P1 * floor(2^(k+62) / q), as
/// [`IfmaWide`] does. It is short of P / q by less than 4: 1/2 each from the cut, the one less and the constant, and
/// 2 + 2^-20 from the floors. So the remainder comes out below 4q.
#[derive(Clone, Copy)]
struct WideBarrett {
    q: __m512i,
    two_q: __m512i,
    ratio: WideQuotient,
    shift_s1: __m512i,
    shift_s2: __m512i,
}

impl WideBarrett {
    #[inline(always)]
    unsafe fn new(q: Modulus) -> Self {
        let k = q.bits();
        let ratio = ((1u128 << (k + 62)) / u128::from(q.value())) as u64;
        // SAFETY: the caller enables AVX-512 F.
        unsafe {
            Self {
                q: splat(q.value()),
                two_q: splat(2 * q.value()),
                ratio: WideQuotient::new(ratio),
                shift_s1: splat(u64::from(k - 54)),
                shift_s2: splat(u64::from(106 - k)),
            }
        }
    }

    /// a * b mod q, below 2q.
    #[inline(always)]
    unsafe fn mul(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller enables AVX-512 F, DQ and IFMA.
        unsafe {
            let mut product = Accumulator::new(_mm512_setzero_si512());
            product.add(a, b, _mm512_srli_epi64::<52>(b));
            let Accumulator { s0, s1, s2 } = product;
            let cut = _mm512_add_epi64(
                _mm512_srlv_epi64(s1, self.shift_s1),
                _mm512_sllv_epi64(s2, self.shift_s2),
            );
            let multiple = _mm512_mullo_epi64(self.ratio.of(cut), self.q);
            let low = _mm512_add_epi64(s0, _mm512_slli_epi64::<52>(s1));
            correct(_mm512_sub_epi64(low, multiple), self.two_q)
        }
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) unsafe fn mul(
    q: Modulus,
    out: *mut u64,
    a: *const u64,
    b: *const u64,
    len: usize,
) -> usize {
    // SAFETY: the pointers are valid for len words (caller).
    unsafe {
        if (51..54).contains(&q.bits()) {
            return product(q, out, None, a, b, len);
        }
        if q.bits() > 50 {
            let barrett = WideBarrett::new(q);
            return vectors!(len, i => {
                let r = barrett.mul(load(a.add(i)), load(b.add(i)));
                store(out.add(i), correct(r, barrett.q))
            });
        }
        let barrett = Barrett::new(q);
        vectors!(len, i => {
            let r = barrett.mul(load(a.add(i)), load(b.add(i)));
            store(out.add(i), correct(correct(r, barrett.two_q), barrett.q))
        })
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) unsafe fn mac(
    q: Modulus,
    out: *mut u64,
    acc: *const u64,
    a: *const u64,
    b: *const u64,
    len: usize,
) -> usize {
    // SAFETY: the pointers are valid for len words (caller).
    unsafe {
        if (51..54).contains(&q.bits()) {
            return product(q, out, Some(acc), a, b, len);
        }
        if q.bits() > 50 {
            let barrett = WideBarrett::new(q);
            return vectors!(len, i => {
                // Below 2q and q: 3q in all.
                let sum = _mm512_add_epi64(barrett.mul(load(a.add(i)), load(b.add(i))), load(acc.add(i)));
                store(out.add(i), correct(correct(sum, barrett.two_q), barrett.q))
            });
        }
        let barrett = Barrett::new(q);
        vectors!(len, i => {
            // Below 3q and q: 4q in all.
            let sum = _mm512_add_epi64(barrett.mul(load(a.add(i)), load(b.add(i))), load(acc.add(i)));
            store(out.add(i), correct(correct(sum, barrett.two_q), barrett.q))
        })
    }
}

/// a * w mod q for residues a.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) unsafe fn mul_shoup(
    q: Modulus,
    out: *mut u64,
    a: *const u64,
    w: Shoup,
    len: usize,
) -> usize {
    // SAFETY: the pointers are valid for len words (caller).
    unsafe {
        if q.bits() <= 50 {
            mul_constant::<Ifma>(q, out, a, w, len)
        } else {
            mul_constant::<IfmaWide<false>>(q, out, a, w, len)
        }
    }
}

/// [`mul_shoup`] in one arithmetic.
#[inline(always)]
unsafe fn mul_constant<A: LazyMul>(
    q: Modulus,
    out: *mut u64,
    a: *const u64,
    w: Shoup,
    len: usize,
) -> usize {
    // SAFETY: the pointers are valid for len words; the caller enables the features of A.
    unsafe {
        let context = A::context(q);
        let (w, q) = (A::broadcast(&WideShoup::new(q, w)), splat(q.value()));
        vectors!(len, i => {
            let [product] = A::reduce_products(A::mul_many([load(a.add(i))], [w], context), q, context);
            store(out.add(i), product)
        })
    }
}
