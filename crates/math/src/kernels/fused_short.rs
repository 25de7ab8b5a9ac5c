// SPDX-License-Identifier: Apache-2.0
//! Fused passes in AVX-512 for moduli q < 2^32 that are no power of two. A product is one instruction, and sums of
//! a few products are reduced as in [`short`](super::short). Each pass computes the coefficients that fill whole
//! vectors of eight and returns their number.

use std::arch::x86_64::*;

use super::fused::{PairTerm, Store};
use super::fused_ifma::{put, settle, streams};
use super::loops::vectors;
use super::short::{Reducer, terms};
use crate::simd::{LANES, load, splat, store};
use crate::{Modulus, Residues};

/// The number of residues by which prefetching is ahead of the loop over the operands' limbs.
const AHEAD: usize = 256;

/// Loads eight residues of a limb from coefficient i on, and prefetches those [`AHEAD`] after them.
#[inline(always)]
unsafe fn eight(limb: Residues<'_>, i: usize) -> __m512i {
    // SAFETY: the limb has them (caller), and a hint may go beyond its end; the caller enables AVX-512 F.
    unsafe {
        match limb {
            Residues::Wide(words) => {
                let p = words.as_ptr().add(i);
                _mm_prefetch::<_MM_HINT_T0>(p.wrapping_add(AHEAD).cast());
                load(p)
            }
            Residues::Short(words) => {
                let p = words.as_ptr().add(i);
                _mm_prefetch::<_MM_HINT_T0>(p.wrapping_add(AHEAD).cast());
                _mm512_cvtepu32_epi64(_mm256_loadu_si256(p.cast()))
            }
        }
    }
}

/// Computes two sums of products that share their first factors, as [`super::dot_pair`] does, for the coefficients
/// that fill whole vectors. Returns their number.
///
/// # Safety
/// The processor must have AVX-512 F; every pointer and slice must be valid for `len` residues; q must be one that
/// [`fits`](super::short::fits).
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn dot_pair(
    q: Modulus,
    [out_a, out_b]: [*mut u64; 2],
    products: &[PairTerm<'_>],
    carry: bool,
    len: usize,
) -> usize {
    // SAFETY: the features are enabled here; the rest is the caller's promise.
    unsafe {
        let (reducer, terms) = (Reducer::new(q), terms(q));
        vectors!(len, i => {
            let (mut a, mut b) = (splat(0), splat(0));
            if carry {
                (a, b) = (load(out_a.add(i)), load(out_b.add(i)));
            }
            for group in products.chunks(terms) {
                for &(shared, first, second) in group {
                    let x = eight(shared, i);
                    a = _mm512_add_epi64(a, _mm512_mul_epu32(x, eight(first, i)));
                    b = _mm512_add_epi64(b, _mm512_mul_epu32(x, eight(second, i)));
                }
                (a, b) = (reducer.reduce(a), reducer.reduce(b));
            }
            store(out_a.add(i), a);
            store(out_b.add(i), b);
        })
    }
}

/// Computes the tensor product of two pairs of limbs, as [`super::tensor`] does, for the coefficients that fill
/// whole vectors. Returns their number.
///
/// # Safety
/// As for [`dot_pair`]: AVX-512 F, pointers and slices valid for `len` residues, and a q that fits.
pub(super) unsafe fn tensor(
    q: Modulus,
    out: [*mut u64; 3],
    a: [Residues<'_>; 2],
    b: [Residues<'_>; 2],
    store: Store,
    len: usize,
) -> usize {
    // SAFETY: the caller's promise; streamed outputs are aligned.
    unsafe {
        match streams(store, out) {
            false => tensor_to::<false>(q, out, a, b, len),
            true => tensor_to::<true>(q, out, a, b, len),
        }
    }
}

#[target_feature(enable = "avx512f")]
unsafe fn tensor_to<const STREAM: bool>(
    q: Modulus,
    out: [*mut u64; 3],
    [a0, a1]: [Residues<'_>; 2],
    [b0, b1]: [Residues<'_>; 2],
    len: usize,
) -> usize {
    // SAFETY: the features are enabled here; the rest is the caller's promise.
    unsafe {
        let (reducer, at_once) = (Reducer::new(q), terms(q) > 1);
        let done = vectors!(len, i => {
            let (a0, a1) = (eight(a0, i), eight(a1, i));
            let (b0, b1) = (eight(b0, i), eight(b1, i));
            let mut cross = _mm512_mul_epu32(a0, b1);
            if !at_once {
                cross = reducer.reduce(cross);
            }
            let cross = _mm512_add_epi64(cross, _mm512_mul_epu32(a1, b0));
            put::<STREAM>(out[0].add(i), reducer.reduce(_mm512_mul_epu32(a0, b0)));
            put::<STREAM>(out[1].add(i), reducer.reduce(cross));
            put::<STREAM>(out[2].add(i), reducer.reduce(_mm512_mul_epu32(a1, b1)));
        });
        settle::<STREAM>();
        done
    }
}
