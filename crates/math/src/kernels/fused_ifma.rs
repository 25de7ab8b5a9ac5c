//! Fused passes with 52-bit multiply-add (AVX-512 IFMA), for any modulus. Each does the largest multiple of eight
//! coefficients and returns how many those were: 0 where this backend is not in force. Lengths are the callers' business.

use std::arch::x86_64::*;

use super::avx512::{WideReducer, vectors};
use super::backend::Backend;
use super::fused::PairTerm;
use super::ifma::Accumulator;
use super::narrow::{NarrowReducer, SumReducer};
use super::sums::LAZY_TERMS;
use crate::simd::{IfmaWide, LANES, LazyMul, correct, load, splat, store};
use crate::{Modulus, Shoup};

fn in_force() -> bool {
    Backend::current() == Backend::Avx512Ifma
}

pub(super) fn dot_pair(
    q: Modulus,
    out: [&mut [u64]; 2],
    terms: &[PairTerm<'_>],
    carry: bool,
) -> usize {
    if !in_force() {
        return 0;
    }
    let len = out[0].len();
    let out = out.map(<[u64]>::as_mut_ptr);
    // SAFETY: the backend is only in force where the processor has its features; all slices have one length (caller).
    unsafe {
        match NarrowReducer::fits(q) {
            true => dot_pair_narrow(q, out, terms, carry, len),
            false => dot_pair_wide(q, out, terms, carry, len),
        }
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn dot_pair_narrow(
    q: Modulus,
    out: [*mut u64; 2],
    terms: &[PairTerm<'_>],
    carry: bool,
    len: usize,
) -> usize {
    // SAFETY: the caller's promise.
    unsafe { dot_pair_with(NarrowReducer::new(q), out, terms, carry, len) }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn dot_pair_wide(
    q: Modulus,
    out: [*mut u64; 2],
    terms: &[PairTerm<'_>],
    carry: bool,
    len: usize,
) -> usize {
    // SAFETY: the caller's promise.
    unsafe { dot_pair_with(WideReducer::new(q), out, terms, carry, len) }
}

/// Words ahead of the loop that streams from memory are asked for: a key switching key is larger than the caches, and its
/// limbs are too many streams for the processor to follow by itself.
const AHEAD: usize = 64;

#[inline(always)]
unsafe fn prefetch(limb: &[u64], i: usize) {
    // SAFETY: a hint on an address, which may lie beyond the end.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(limb.as_ptr().wrapping_add(i + AHEAD).cast()) }
}

#[inline(always)]
unsafe fn dot_pair_with<R: SumReducer>(
    reducer: R,
    [out_a, out_b]: [*mut u64; 2],
    terms: &[PairTerm<'_>],
    carry: bool,
    len: usize,
) -> usize {
    // SAFETY: every pointer and slice is valid for len words; the caller enables the features.
    unsafe {
        vectors!(len, i => {
            let (mut a, mut b) = (_mm512_setzero_si512(), _mm512_setzero_si512());
            if carry {
                (a, b) = (load(out_a.add(i)), load(out_b.add(i)));
            }
            for group in terms.chunks(LAZY_TERMS) {
                let (mut sum_a, mut sum_b) = (Accumulator::new(a), Accumulator::new(b));
                for (shared, first, second) in group {
                    prefetch(first, i);
                    prefetch(second, i);
                    let x = load(shared.as_ptr().add(i));
                    let (y, z) = (load(first.as_ptr().add(i)), load(second.as_ptr().add(i)));
                    sum_a.add(x, y, _mm512_srli_epi64::<52>(y));
                    sum_b.add(x, z, _mm512_srli_epi64::<52>(z));
                }
                (a, b) = (reducer.reduce_sum(sum_a), reducer.reduce_sum(sum_b));
            }
            store(out_a.add(i), a);
            store(out_b.add(i), b);
        })
    }
}

pub(super) fn tensor(q: Modulus, out: [&mut [u64]; 3], a: [&[u64]; 2], b: [&[u64]; 2]) -> usize {
    if !in_force() {
        return 0;
    }
    let len = out[0].len();
    let out = out.map(<[u64]>::as_mut_ptr);
    let (a, b) = (a.map(<[u64]>::as_ptr), b.map(<[u64]>::as_ptr));
    // SAFETY: as in `dot_pair`.
    unsafe {
        match NarrowReducer::fits(q) {
            true => tensor_narrow(q, out, a, b, len),
            false => tensor_wide(q, out, a, b, len),
        }
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn tensor_narrow(
    q: Modulus,
    out: [*mut u64; 3],
    a: [*const u64; 2],
    b: [*const u64; 2],
    len: usize,
) -> usize {
    // SAFETY: the caller's promise.
    unsafe { tensor_with(NarrowReducer::new(q), out, a, b, len) }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn tensor_wide(
    q: Modulus,
    out: [*mut u64; 3],
    a: [*const u64; 2],
    b: [*const u64; 2],
    len: usize,
) -> usize {
    // SAFETY: the caller's promise.
    unsafe { tensor_with(WideReducer::new(q), out, a, b, len) }
}

#[inline(always)]
unsafe fn tensor_with<R: SumReducer>(
    reducer: R,
    out: [*mut u64; 3],
    a: [*const u64; 2],
    b: [*const u64; 2],
    len: usize,
) -> usize {
    // SAFETY: every pointer is valid for len words; the caller enables the features.
    unsafe {
        vectors!(len, i => {
            let (a0, a1) = (load(a[0].add(i)), load(a[1].add(i)));
            let (b0, b1) = (load(b[0].add(i)), load(b[1].add(i)));
            let (high0, high1) = (_mm512_srli_epi64::<52>(b0), _mm512_srli_epi64::<52>(b1));
            let mut sums = [Accumulator::new(_mm512_setzero_si512()); 3];
            sums[0].add(a0, b0, high0);
            sums[1].add(a0, b1, high1);
            sums[1].add(a1, b0, high0);
            sums[2].add(a1, b1, high1);
            for (out, sum) in out.iter().zip(sums) {
                store(out.add(i), reducer.reduce_sum(sum));
            }
        })
    }
}

/// `out` may be `b`, both being valid for as many words as `a` and the addend have.
pub(super) fn sub_scale(
    q: Modulus,
    out: *mut u64,
    a: &[u64],
    b: *const u64,
    w: Shoup,
    addend: Option<&[u64]>,
) -> usize {
    if !in_force() {
        return 0;
    }
    // SAFETY: as in `dot_pair`; the loops load element i before they store it.
    unsafe {
        match addend {
            Some(c) => sub_scale_with::<true>(q, out, a.as_ptr(), b, w, c.as_ptr(), a.len()),
            None => sub_scale_with::<false>(q, out, a.as_ptr(), b, w, a.as_ptr(), a.len()),
        }
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn sub_scale_with<const ADD: bool>(
    q: Modulus,
    out: *mut u64,
    a: *const u64,
    b: *const u64,
    w: Shoup,
    c: *const u64,
    len: usize,
) -> usize {
    type Arithmetic = IfmaWide<false>;
    // SAFETY: the pointers are valid for len words (caller).
    unsafe {
        let context = Arithmetic::context(q);
        let w = Arithmetic::constant(splat(w.value), splat(w.quotient));
        let (q, two_q) = (splat(q.value()), splat(2 * q.value()));
        vectors!(len, i => {
            // Above 0 and below 2q; the product below 3q, with the addend 4q.
            let difference = _mm512_sub_epi64(_mm512_add_epi64(load(a.add(i)), q), load(b.add(i)));
            let mut r = Arithmetic::mul(difference, w, context);
            if ADD {
                r = _mm512_add_epi64(r, load(c.add(i)));
            }
            store(out.add(i), correct(correct(r, two_q), q));
        })
    }
}

pub(super) fn conv_add(from: Modulus, to: Modulus, out: &mut [u64], a: &[u64], w: u64) -> usize {
    if !in_force() {
        return 0;
    }
    let (len, out, a) = (a.len(), out.as_mut_ptr(), a.as_ptr());
    // SAFETY: as in `dot_pair`.
    unsafe {
        if from <= to {
            add_below::<false>(to, out, a, w, len)
        } else if from.value() <= 2 * to.value() {
            add_below::<true>(to, out, a, w, len)
        } else if from.bits() <= to.bits() + MORE_BITS {
            reduce_add(to, out, a, w, len)
        } else {
            0
        }
    }
}

/// out = a + w mod q for a below q, or (`ONCE`) below 2q.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn add_below<const ONCE: bool>(
    q: Modulus,
    out: *mut u64,
    a: *const u64,
    w: u64,
    len: usize,
) -> usize {
    // SAFETY: the pointers are valid for len words (caller).
    unsafe {
        let (q, w) = (splat(q.value()), splat(w));
        vectors!(len, i => {
            let mut x = load(a.add(i));
            if ONCE {
                x = correct(x, q);
            }
            store(out.add(i), correct(_mm512_add_epi64(x, w), q));
        })
    }
}

/// How many bits longer the source modulus of [`reduce_add`] may be.
const MORE_BITS: u32 = 40;

/// out = (a mod q) + w mod q for a of at most [`MORE_BITS`] bits more than q.
///
/// With k = bits of q, the quotient is estimated as (a >> (k-2)) * floor(2^(50+k) / q) >> 52, both factors below 2^52:
/// short of a / q by less than 1/2 for the cut, 2^(42-52) for the constant and 1 for the floor. So the remainder comes
/// out below 2q.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn reduce_add(q: Modulus, out: *mut u64, a: *const u64, w: u64, len: usize) -> usize {
    let k = q.bits();
    let ratio = ((1u128 << (50 + k)) / u128::from(q.value())) as u64;
    // SAFETY: the pointers are valid for len words (caller).
    unsafe {
        let shift = splat(u64::from(k - 2));
        let (ratio, zero) = (splat(ratio), _mm512_setzero_si512());
        let (q, w) = (splat(q.value()), splat(w));
        vectors!(len, i => {
            let x = load(a.add(i));
            let quotient = _mm512_madd52hi_epu64(zero, _mm512_srlv_epi64(x, shift), ratio);
            let rest = _mm512_sub_epi64(x, _mm512_mullo_epi64(quotient, q));
            store(out.add(i), correct(_mm512_add_epi64(correct(rest, q), w), q));
        })
    }
}
