// SPDX-License-Identifier: Apache-2.0
//! Fused passes with 52-bit multiply-add (AVX-512 IFMA), for any modulus. Each pass computes the coefficients that fill
//! whole vectors of eight. It returns their number, which is 0 if this backend is not in force, or if the pass does not
//! serve the moduli or the place of the result. Callers check the lengths.

use std::arch::x86_64::*;

use super::avx512::WideReducer;
use super::backend::Backend;
use super::conversion::{Converter, by_way, way};
use super::fused::{PairTerm, Pairwise, Store};
use super::ifma::Accumulator;
use super::ifma::products::{Barrett, WideBarrett};
use super::loops::{Products, vectors};
use super::narrow::{NarrowReducer, SumReducer};
use super::simd::single_products;
use super::sums::LAZY_TERMS;
use crate::simd::{IfmaWide, LANES, LazyMul, correct, load, splat, store};
use crate::{Modulus, Residues, Shoup};

fn in_force() -> bool {
    Backend::current() == Backend::Avx512Ifma
}

/// Returns whether results may be written past the cache: `store` asks for it, and each of the
/// limbs `out` starts at an address that allows it (a multiple of 64 bytes).
pub(super) fn streams<const K: usize>(store: Store, out: [*mut u64; K]) -> bool {
    store == Store::Streamed && out.iter().all(|p| p.addr() % 64 == 0)
}

/// Writes eight words to memory at `p`. With `STREAM` they go past the cache, and `p` is a multiple
/// of 64 bytes.
#[inline(always)]
pub(super) unsafe fn put<const STREAM: bool>(p: *mut u64, x: __m512i) {
    // SAFETY: p is valid for eight words, and aligned where it is streamed to; the caller enables AVX-512 F.
    unsafe {
        match STREAM {
            true => _mm512_stream_si512(p.cast(), x),
            false => store(p, x),
        }
    }
}

/// If `STREAM` is set, makes words that were written past the cache visible to other threads before
/// any later write.
#[inline(always)]
pub(super) unsafe fn settle<const STREAM: bool>() {
    if STREAM {
        // SAFETY: an instruction of every x86-64 processor.
        unsafe { _mm_sfence() }
    }
}

/// Computes a sum or a product of two limbs, for the coefficients that fill whole vectors, and writes it past the
/// cache. Returns their number. It computes nothing, and returns 0, without AVX-512 IFMA or if `out` is not aligned to
/// 64 bytes. The limbs a and b must be at least as long as `out`.
pub(super) fn streamed(what: Pairwise, q: Modulus, out: &mut [u64], a: &[u64], b: &[u64]) -> usize {
    let p = out.as_mut_ptr();
    let multiplies = match what {
        Pairwise::Sum => true,
        Pairwise::Product => single_products(q),
    };
    if !in_force() || !multiplies || !streams(Store::Streamed, [p]) {
        return 0;
    }
    // SAFETY: as in `dot_pair`; the output is aligned, and a product has a loop for the modulus.
    unsafe {
        match what {
            Pairwise::Sum => add_past_cache(q, p, a.as_ptr(), b.as_ptr(), out.len()),
            Pairwise::Product => mul_past_cache(q, p, a.as_ptr(), b.as_ptr(), out.len()),
        }
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn add_past_cache(
    q: Modulus,
    out: *mut u64,
    a: *const u64,
    b: *const u64,
    len: usize,
) -> usize {
    // SAFETY: the pointers are valid for len words (caller).
    unsafe {
        let q = splat(q.value());
        let done = vectors!(len, i => {
            prefetch::<PAGE_AHEAD>(a, i);
            prefetch::<PAGE_AHEAD>(b, i);
            let sum = correct(_mm512_add_epi64(load(a.add(i)), load(b.add(i))), q);
            put::<true>(out.add(i), sum);
        });
        settle::<true>();
        done
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn mul_past_cache(
    q: Modulus,
    out: *mut u64,
    a: *const u64,
    b: *const u64,
    len: usize,
) -> usize {
    // SAFETY: the pointers are valid for len words (caller).
    unsafe {
        match q.bits() {
            ..=50 => mul_past_cache_by(Barrett::new(q), out, a, b, len),
            51..54 => mul_past_cache_by(NarrowReducer::new(q), out, a, b, len),
            _ => mul_past_cache_by(WideBarrett::new(q), out, a, b, len),
        }
    }
}

#[inline(always)]
unsafe fn mul_past_cache_by<P: Products<V = __m512i>>(
    by: P,
    out: *mut u64,
    a: *const u64,
    b: *const u64,
    len: usize,
) -> usize {
    // SAFETY: the pointers are valid for len words, and out is aligned (caller).
    unsafe {
        let done = vectors!(len, i => {
            put::<true>(out.add(i), by.mul(load(a.add(i)), load(b.add(i))));
        });
        settle::<true>();
        done
    }
}

pub(super) fn dot_pair(
    q: Modulus,
    out: [&mut [u64]; 2],
    terms: &[PairTerm<'_>],
    carry: bool,
    turn: Option<&[u32]>,
) -> usize {
    let len = out[0].len();
    // An automorphism moves vectors of eight in limbs of two vectors and more.
    let moves = len.is_power_of_two() && len >= 2 * LANES;
    if !in_force() || (turn.is_some() && !moves) {
        return 0;
    }
    let out = out.map(<[u64]>::as_mut_ptr);
    // SAFETY: the backend is only in force where the processor has its features; all slices have one length, as has the
    // list of sources (caller), and with that list it is a power of two of 16 and more.
    unsafe {
        match (NarrowReducer::fits(q), turn) {
            (true, None) => dot_pair_narrow::<false>(q, out, terms, carry, (len, &[])),
            (false, None) => dot_pair_wide::<false>(q, out, terms, carry, (len, &[])),
            (true, Some(from)) => dot_pair_narrow::<true>(q, out, terms, carry, (len, from)),
            (false, Some(from)) => dot_pair_wide::<true>(q, out, terms, carry, (len, from)),
        }
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn dot_pair_narrow<const TURN: bool>(
    q: Modulus,
    out: [*mut u64; 2],
    terms: &[PairTerm<'_>],
    carry: bool,
    from: (usize, &[u32]),
) -> usize {
    // SAFETY: the caller's promise.
    unsafe { dot_pair_with::<_, TURN>(NarrowReducer::new(q), out, terms, carry, from) }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn dot_pair_wide<const TURN: bool>(
    q: Modulus,
    out: [*mut u64; 2],
    terms: &[PairTerm<'_>],
    carry: bool,
    from: (usize, &[u32]),
) -> usize {
    // SAFETY: the caller's promise.
    unsafe { dot_pair_with::<_, TURN>(WideReducer::new(q), out, terms, carry, from) }
}

/// The number of words by which prefetching is ahead of a loop that reads few limbs. It is a page,
/// at whose end the processor stops to prefetch by itself.
const PAGE_AHEAD: usize = 512;

/// The number of words by which prefetching is ahead of a loop that reads the many limbs of a
/// switching key. The key is larger than the caches. The distance is so short that prefetched words
/// are not evicted before they are read.
const KEY_AHEAD: usize = 64;

#[inline(always)]
unsafe fn prefetch<const AHEAD: usize>(limb: *const u64, i: usize) {
    // SAFETY: a hint on an address, which may lie beyond the end.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(limb.wrapping_add(i + AHEAD).cast()) }
}

/// Loads eight residues of a limb from coefficient i on.
#[inline(always)]
unsafe fn eight(limb: Residues<'_>, i: usize) -> __m512i {
    // SAFETY: the limb has them (caller); the caller enables AVX-512 F.
    unsafe {
        match limb {
            Residues::Wide(words) => load(words.as_ptr().add(i)),
            Residues::Short(words) => {
                _mm512_cvtepu32_epi64(_mm256_loadu_si256(words.as_ptr().add(i).cast()))
            }
        }
    }
}

/// Loads eight residues of a limb of a switching key from coefficient i on. If the limb has words of 64 bits, it also
/// prefetches later residues.
#[inline(always)]
unsafe fn key_eight(limb: Residues<'_>, i: usize) -> __m512i {
    // SAFETY: as in `eight`.
    unsafe {
        if let Residues::Wide(words) = limb {
            prefetch::<KEY_AHEAD>(words.as_ptr(), i);
        }
        eight(limb, i)
    }
}

/// Computes two sums of products of `len` coefficients. With `TURN` the shared factors are read under an automorphism:
/// coefficient i from position `from[i]`. Eight successive coefficients have sources in one vector of eight.
#[inline(always)]
unsafe fn dot_pair_with<R: SumReducer, const TURN: bool>(
    reducer: R,
    [out_a, out_b]: [*mut u64; 2],
    terms: &[PairTerm<'_>],
    carry: bool,
    (len, from): (usize, &[u32]),
) -> usize {
    // SAFETY: every pointer and slice is valid for len words, and with TURN that is a power of two of 16 and more and
    // the length of `from`, so that each vector that it names is there; the caller enables the features.
    unsafe {
        vectors!(len, i => {
            let (mut vector, mut lanes) = (i, _mm512_setzero_si512());
            if TURN {
                let sources = from.as_ptr().add(i);
                vector = *sources as usize & (len - LANES);
                lanes = _mm512_cvtepu32_epi64(_mm256_loadu_si256(sources.cast()));
            }
            let (mut a, mut b) = (_mm512_setzero_si512(), _mm512_setzero_si512());
            if carry {
                (a, b) = (load(out_a.add(i)), load(out_b.add(i)));
            }
            for group in terms.chunks(LAZY_TERMS) {
                let (mut sum_a, mut sum_b) = (Accumulator::new(a), Accumulator::new(b));
                for &(shared, first, second) in group {
                    let mut x = eight(shared, vector);
                    if TURN {
                        // The instruction reads the low three bits of each lane number.
                        x = _mm512_permutexvar_epi64(lanes, x);
                    }
                    let (y, z) = (key_eight(first, i), key_eight(second, i));
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

pub(super) fn tensor(
    q: Modulus,
    out: [&mut [u64]; 3],
    a: [Residues<'_>; 2],
    b: [Residues<'_>; 2],
    store: Store,
) -> usize {
    if !in_force() {
        return 0;
    }
    let len = out[0].len();
    let out = out.map(<[u64]>::as_mut_ptr);
    let stream = streams(store, out);
    // SAFETY: as in `dot_pair`; streamed outputs are aligned.
    unsafe {
        match (a, b) {
            (
                [Residues::Wide(a0), Residues::Wide(a1)],
                [Residues::Wide(b0), Residues::Wide(b1)],
            ) => {
                let operands = [a0, a1, b0, b1].map(<[u64]>::as_ptr);
                match (NarrowReducer::fits(q), stream) {
                    (true, false) => tensor_narrow::<false>(q, out, operands, len),
                    (true, true) => tensor_narrow::<true>(q, out, operands, len),
                    (false, false) => tensor_wide::<_, false>(q, out, operands, len),
                    (false, true) => tensor_wide::<_, true>(q, out, operands, len),
                }
            }
            ([a0, a1], [b0, b1]) => {
                let operands = [a0, a1, b0, b1];
                match stream {
                    false => tensor_wide::<_, false>(q, out, operands, len),
                    true => tensor_wide::<_, true>(q, out, operands, len),
                }
            }
        }
    }
}

/// A limb in words of 32 or 64 bits, from which eight residues are loaded at a time.
trait Limb: Copy {
    /// Loads eight residues, those of coefficients i to i + 7, into lanes of 64 bits.
    ///
    /// # Safety
    /// The limb must have eight residues from coefficient i on; the processor must have AVX-512 F.
    unsafe fn eight(self, i: usize) -> __m512i;
}

impl Limb for *const u64 {
    #[inline(always)]
    unsafe fn eight(self, i: usize) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { load(self.add(i)) }
    }
}

impl Limb for Residues<'_> {
    #[inline(always)]
    unsafe fn eight(self, i: usize) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { eight(self, i) }
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn tensor_narrow<const STREAM: bool>(
    q: Modulus,
    out: [*mut u64; 3],
    operands: [*const u64; 4],
    len: usize,
) -> usize {
    // SAFETY: the caller's promise.
    unsafe { tensor_with::<_, _, STREAM>(NarrowReducer::new(q), out, operands, len) }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn tensor_wide<L: Limb, const STREAM: bool>(
    q: Modulus,
    out: [*mut u64; 3],
    operands: [L; 4],
    len: usize,
) -> usize {
    // SAFETY: the caller's promise.
    unsafe { tensor_with::<_, _, STREAM>(WideReducer::new(q), out, operands, len) }
}

#[inline(always)]
unsafe fn tensor_with<R: SumReducer, L: Limb, const STREAM: bool>(
    reducer: R,
    out: [*mut u64; 3],
    [a0, a1, b0, b1]: [L; 4],
    len: usize,
) -> usize {
    // SAFETY: every operand has len residues; the caller enables the features.
    unsafe {
        let done = vectors!(len, i => {
            let (a0, a1) = (a0.eight(i), a1.eight(i));
            let (b0, b1) = (b0.eight(i), b1.eight(i));
            let (high0, high1) = (_mm512_srli_epi64::<52>(b0), _mm512_srli_epi64::<52>(b1));
            let mut sums = [Accumulator::new(_mm512_setzero_si512()); 3];
            sums[0].add(a0, b0, high0);
            sums[1].add(a0, b1, high1);
            sums[1].add(a1, b0, high0);
            sums[2].add(a1, b1, high1);
            for (out, sum) in out.iter().zip(sums) {
                put::<STREAM>(out.add(i), reducer.reduce_sum(sum));
            }
        });
        settle::<STREAM>();
        done
    }
}

/// Computes out = (a - b) w mod q for a constant w, plus an addend if there is one, for the
/// coefficients that fill whole vectors. Returns their number. `out` may be `b`; both must be valid
/// for as many words as `a` and the addend have.
pub(super) fn sub_scale(
    q: Modulus,
    out: *mut u64,
    a: &[u64],
    b: *const u64,
    w: Shoup,
    addend: Option<&[u64]>,
    store: Store,
) -> usize {
    if !in_force() {
        return 0;
    }
    let stream = streams(store, [out]);
    let (a, len) = (a.as_ptr(), a.len());
    let c = addend.map_or(a, <[u64]>::as_ptr);
    // SAFETY: as in `dot_pair`; the loops load element i before they store it, and what is streamed is aligned.
    unsafe {
        match (addend.is_some(), stream) {
            (true, false) => sub_scale_with::<true, false>(q, out, a, b, w, c, len),
            (true, true) => sub_scale_with::<true, true>(q, out, a, b, w, c, len),
            (false, false) => sub_scale_with::<false, false>(q, out, a, b, w, c, len),
            (false, true) => sub_scale_with::<false, true>(q, out, a, b, w, c, len),
        }
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn sub_scale_with<const ADD: bool, const STREAM: bool>(
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
        let done = vectors!(len, i => {
            prefetch::<PAGE_AHEAD>(a, i);
            // The difference is above 0 and below 2q, the product below 3q, and its sum with the addend below 4q.
            let difference = _mm512_sub_epi64(_mm512_add_epi64(load(a.add(i)), q), load(b.add(i)));
            let mut r = Arithmetic::mul(difference, w, context);
            if ADD {
                prefetch::<PAGE_AHEAD>(c, i);
                r = _mm512_add_epi64(r, load(c.add(i)));
            }
            put::<STREAM>(out.add(i), correct(correct(r, two_q), q));
        });
        settle::<STREAM>();
        done
    }
}

pub(super) fn conv_add(from: Modulus, to: Modulus, out: &mut [u64], a: &[u64], w: u64) -> usize {
    let Some(way) = way(from, to).filter(|_| in_force()) else {
        return 0;
    };
    // SAFETY: as in `dot_pair`.
    unsafe { by_way!(way, w != 0, convert(to, out, a, w)) }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn convert<const WAY: u8, const ADD: bool>(
    to: Modulus,
    out: &mut [u64],
    a: &[u64],
    w: u64,
) -> usize {
    let (len, out, a) = (a.len(), out.as_mut_ptr(), a.as_ptr());
    // SAFETY: both limbs have one length (caller).
    unsafe {
        let converter = Converter::<WAY, ADD>::new(to, w);
        vectors!(len, i => { store(out.add(i), converter.convert(load(a.add(i)))) })
    }
}
