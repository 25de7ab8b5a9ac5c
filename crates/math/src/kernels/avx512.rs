//! Kernels on eight coefficients at a time (AVX-512 F and DQ), for any modulus.
//!
//! Each processes the largest multiple of eight coefficients and returns how many those were.

use std::arch::x86_64::*;

use super::sums::LAZY_TERMS;
use crate::simd::{
    DoubleWord, LANES, LazyMul, correct, load, mul_high_short, mul_wide, splat, store,
};
use crate::{Modulus, Shoup};

/// Any modulus below 2^61.
type Arithmetic = DoubleWord<false>;

/// Runs the body for each full vector at offset `$i` and returns the number of coefficients covered.
macro_rules! vectors {
    ($len:expr, $i:ident => $body:block) => {{
        let done = $len - $len % LANES;
        for $i in (0..done).step_by(LANES) {
            $body
        }
        done
    }};
}
pub(super) use vectors;

/// A constant in every lane.
#[target_feature(enable = "avx512f,avx512dq")]
fn constant(w: Shoup) -> <Arithmetic as LazyMul>::Constant {
    // SAFETY: the features are enabled here.
    unsafe { Arithmetic::constant(splat(w.value), splat(w.quotient)) }
}

/// From below 4q to below q.
#[inline(always)]
unsafe fn reduce_product(x: __m512i, two_q: __m512i, q: __m512i) -> __m512i {
    // SAFETY: the caller enables AVX-512 F.
    unsafe { correct(correct(x, two_q), q) }
}

/// Barrett reduction of products of residues.
///
/// With k = bits of q, a product P < 2^2k is cut to P1 = P >> (k-2) < 2^(k+2), and the quotient is estimated as the
/// high word of P1 * floor(2^(k+62) / q). It is short of P / q by less than 4: 1/2 each from the cut and the constant,
/// 3 from [`mul_high_short`]. So the remainder comes out below 4q.
#[derive(Clone, Copy)]
struct Barrett {
    q: __m512i,
    two_q: __m512i,
    ratio: __m512i,
    ratio_high: __m512i,
    shift_low: __m512i,
    shift_high: __m512i,
}

impl Barrett {
    #[inline(always)]
    unsafe fn new(q: Modulus) -> Self {
        let k = q.bits();
        let ratio = ((1u128 << (k + 62)) / u128::from(q.value())) as u64;
        // SAFETY: the caller enables AVX-512 F.
        unsafe {
            Self {
                q: splat(q.value()),
                two_q: splat(2 * q.value()),
                ratio: splat(ratio),
                ratio_high: splat(ratio >> 32),
                shift_low: splat(u64::from(k - 2)),
                shift_high: splat(u64::from(66 - k)),
            }
        }
    }

    /// a * b mod q, below 4q.
    #[inline(always)]
    unsafe fn mul(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller enables AVX-512 F and DQ.
        unsafe {
            let (high, low) = mul_wide(a, b);
            let cut = _mm512_or_si512(
                _mm512_sllv_epi64(high, self.shift_high),
                _mm512_srlv_epi64(low, self.shift_low),
            );
            let quotient = mul_high_short(cut, self.ratio, self.ratio_high);
            _mm512_sub_epi64(low, _mm512_mullo_epi64(quotient, self.q))
        }
    }
}

#[target_feature(enable = "avx512f,avx512dq")]
pub(super) unsafe fn add(
    q: Modulus,
    out: *mut u64,
    a: *const u64,
    b: *const u64,
    len: usize,
) -> usize {
    // SAFETY: the pointers are valid for len words (caller).
    unsafe {
        let q = splat(q.value());
        vectors!(len, i => { store(out.add(i), correct(_mm512_add_epi64(load(a.add(i)), load(b.add(i))), q)) })
    }
}

#[target_feature(enable = "avx512f,avx512dq")]
pub(super) unsafe fn sub(
    q: Modulus,
    out: *mut u64,
    a: *const u64,
    b: *const u64,
    len: usize,
) -> usize {
    // SAFETY: the pointers are valid for len words (caller).
    unsafe {
        let q = splat(q.value());
        vectors!(len, i => {
            let d = _mm512_sub_epi64(load(a.add(i)), load(b.add(i)));
            store(out.add(i), _mm512_min_epu64(d, _mm512_add_epi64(d, q)))
        })
    }
}

#[target_feature(enable = "avx512f,avx512dq")]
pub(super) unsafe fn neg(q: Modulus, out: *mut u64, a: *const u64, len: usize) -> usize {
    // SAFETY: the pointers are valid for len words (caller).
    unsafe {
        let (q, zero) = (splat(q.value()), _mm512_setzero_si512());
        vectors!(len, i => {
            let d = _mm512_sub_epi64(zero, load(a.add(i)));
            store(out.add(i), _mm512_min_epu64(d, _mm512_add_epi64(d, q)))
        })
    }
}

#[target_feature(enable = "avx512f,avx512dq")]
pub(super) unsafe fn add_scalar(
    q: Modulus,
    out: *mut u64,
    a: *const u64,
    w: u64,
    len: usize,
) -> usize {
    // SAFETY: the pointers are valid for len words (caller).
    unsafe {
        let (q, w) = (splat(q.value()), splat(w));
        vectors!(len, i => { store(out.add(i), correct(_mm512_add_epi64(load(a.add(i)), w), q)) })
    }
}

#[target_feature(enable = "avx512f,avx512dq")]
pub(super) unsafe fn mul(
    q: Modulus,
    out: *mut u64,
    a: *const u64,
    b: *const u64,
    len: usize,
) -> usize {
    // SAFETY: the pointers are valid for len words (caller).
    unsafe {
        let barrett = Barrett::new(q);
        vectors!(len, i => {
            let r = barrett.mul(load(a.add(i)), load(b.add(i)));
            store(out.add(i), reduce_product(r, barrett.two_q, barrett.q))
        })
    }
}

#[target_feature(enable = "avx512f,avx512dq")]
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
        let barrett = Barrett::new(q);
        vectors!(len, i => {
            let r = correct(barrett.mul(load(a.add(i)), load(b.add(i))), barrett.two_q);
            // Below 2q and q: one more of each.
            let sum = _mm512_add_epi64(r, load(acc.add(i)));
            store(out.add(i), reduce_product(sum, barrett.two_q, barrett.q))
        })
    }
}

#[target_feature(enable = "avx512f,avx512dq")]
pub(super) unsafe fn mul_shoup(
    q: Modulus,
    out: *mut u64,
    a: *const u64,
    w: Shoup,
    len: usize,
) -> usize {
    // SAFETY: the pointers are valid for len words (caller).
    unsafe {
        let context = Arithmetic::context(q);
        let (w, two_q, q) = (constant(w), splat(2 * q.value()), splat(q.value()));
        vectors!(len, i => {
            let r = Arithmetic::mul(load(a.add(i)), w, context);
            store(out.add(i), reduce_product(r, two_q, q))
        })
    }
}

/// a mod q for any 64-bit a: multiplication by one.
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) unsafe fn reduce(q: Modulus, out: *mut u64, a: *const u64, len: usize) -> usize {
    // SAFETY: the pointers are valid for len words (caller).
    unsafe { mul_shoup(q, out, a, q.shoup(1), len) }
}

#[target_feature(enable = "avx512f,avx512dq")]
pub(super) unsafe fn dot(
    q: Modulus,
    out: *mut u64,
    terms: &[(&[u64], &[u64])],
    len: usize,
) -> usize {
    // SAFETY: the pointer and every slice are valid for len words (caller).
    unsafe {
        let reducer = WideReducer::new(q);
        let one = splat(1);
        vectors!(len, i => {
            let mut sum = _mm512_setzero_si512();
            for group in terms.chunks(LAZY_TERMS) {
                let (mut high, mut low) = (_mm512_setzero_si512(), sum);
                for (a, b) in group {
                    let (h, l) = mul_wide(load(a.as_ptr().add(i)), load(b.as_ptr().add(i)));
                    low = _mm512_add_epi64(low, l);
                    high = _mm512_add_epi64(high, h);
                    high = _mm512_mask_add_epi64(high, _mm512_cmplt_epu64_mask(low, l), high, one);
                }
                sum = reducer.reduce(high, low);
            }
            store(out.add(i), sum)
        })
    }
}

#[target_feature(enable = "avx512f,avx512dq")]
pub(super) unsafe fn dot_scalars(
    q: Modulus,
    out: *mut u64,
    limbs: &[&[u64]],
    constants: &[Shoup],
    len: usize,
) -> usize {
    // SAFETY: the pointer and every slice are valid for len words (caller).
    unsafe {
        let context = Arithmetic::context(q);
        let (four_q, two_q, q) = (splat(4 * q.value()), splat(2 * q.value()), splat(q.value()));
        vectors!(len, i => {
            // The sum stays below 4q, a product is: together below 8q < 2^64.
            let mut sum = _mm512_setzero_si512();
            for (a, &w) in limbs.iter().zip(constants) {
                let product = Arithmetic::mul(load(a.as_ptr().add(i)), constant(w), context);
                sum = correct(_mm512_add_epi64(sum, product), four_q);
            }
            store(out.add(i), reduce_product(sum, two_q, q))
        })
    }
}

/// Reduction of any 128-bit number high * 2^64 + low, as two products by constants: 2^64 mod q and 1.
#[derive(Clone, Copy)]
pub(crate) struct WideReducer {
    context: <Arithmetic as LazyMul>::Context,
    high_factor: <Arithmetic as LazyMul>::Constant,
    one: <Arithmetic as LazyMul>::Constant,
    four_q: __m512i,
    two_q: __m512i,
    q: __m512i,
}

impl WideReducer {
    /// # Safety
    /// The caller must enable AVX-512 F and DQ.
    #[inline(always)]
    pub(crate) unsafe fn new(q: Modulus) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                context: Arithmetic::context(q),
                high_factor: constant(q.shoup(q.reduce_wide(1 << 64))),
                one: constant(q.shoup(1)),
                four_q: splat(4 * q.value()),
                two_q: splat(2 * q.value()),
                q: splat(q.value()),
            }
        }
    }

    /// The residue below q.
    ///
    /// # Safety
    /// The caller must enable AVX-512 F and DQ.
    #[inline(always)]
    pub(crate) unsafe fn reduce(self, high: __m512i, low: __m512i) -> __m512i {
        // SAFETY: the caller's promise. Both products are below 4q, their sum below 8q < 2^64.
        unsafe {
            let high = Arithmetic::mul(high, self.high_factor, self.context);
            let low = Arithmetic::mul(low, self.one, self.context);
            reduce_product(
                correct(_mm512_add_epi64(high, low), self.four_q),
                self.two_q,
                self.q,
            )
        }
    }
}
