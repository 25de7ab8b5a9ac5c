// SPDX-License-Identifier: Apache-2.0
//! Reads and writes the words of a limb for a transform, which computes on 64-bit lanes. Only its first loads and last
//! stores depend on the width of the limb's words.

use std::arch::x86_64::*;

use crate::ntt::butterfly::{Stage, shuffle, unshuffle};
use crate::simd::{LANES, LazyMul, load, store};

/// The width of the words of a limb, and how they are loaded and stored.
///
/// # Safety
/// For every function: pointers must be valid for the words read or written, and the caller must enable the features of
/// the arithmetic.
pub(in crate::ntt) trait Words {
    type Word;

    /// Loads eight words, one into each lane.
    unsafe fn load(p: *const Self::Word) -> __m512i;

    /// Loads sixteen words and returns the even ones and the odd ones.
    unsafe fn load_pairs(p: *const Self::Word) -> (__m512i, __m512i);

    /// Reduces the results of the last forward stage to residues below q and stores them: those in
    /// x in the even words, those in y in the odd words.
    unsafe fn store_pairs<A: LazyMul, const K: usize>(
        stage: Stage<A>,
        p: *mut Self::Word,
        x: [__m512i; K],
        y: [__m512i; K],
    );

    /// Reduces 16 products, in two vectors, to residues below q and stores them in order.
    unsafe fn store_products<A: LazyMul>(stage: Stage<A>, p: *mut Self::Word, x: [__m512i; 2]);
}

/// A receiver of the results of a forward transform, which stores them or computes with them. It
/// has a current position.
///
/// # Safety
/// For every function: the memory of the receiver must have room for the words that are put, and the caller must enable
/// the features of A.
pub(in crate::ntt) trait Sink<A: LazyMul>: Copy {
    /// Returns a receiver for the same limb whose position is `words` words further on.
    unsafe fn skip(self, words: usize) -> Self;

    /// Receives the results of the last forward stage, from the current position on: x for the even
    /// words, y for the odd words.
    unsafe fn put<const K: usize>(self, stage: Stage<A>, x: [__m512i; K], y: [__m512i; K]);
}

/// A receiver that stores residues in a limb in memory.
pub(in crate::ntt) struct Limb<W: Words>(pub *mut W::Word);

impl<W: Words> Clone for Limb<W> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<W: Words> Copy for Limb<W> {}

impl<A: LazyMul, W: Words> Sink<A> for Limb<W> {
    #[inline(always)]
    unsafe fn skip(self, words: usize) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { self.0.add(words) })
    }

    #[inline(always)]
    unsafe fn put<const K: usize>(self, stage: Stage<A>, x: [__m512i; K], y: [__m512i; K]) {
        // SAFETY: the caller's promise.
        unsafe { W::store_pairs(stage, self.0, x, y) }
    }
}

/// The memory width of limbs in words of 64 bits.
pub(in crate::ntt) struct Wide;

impl Words for Wide {
    type Word = u64;

    #[inline(always)]
    unsafe fn load(p: *const u64) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { load(p) }
    }

    #[inline(always)]
    unsafe fn load_pairs(p: *const u64) -> (__m512i, __m512i) {
        // SAFETY: the caller's promise.
        unsafe { unshuffle(load(p), load(p.add(LANES))) }
    }

    #[inline(always)]
    unsafe fn store_pairs<A: LazyMul, const K: usize>(
        stage: Stage<A>,
        p: *mut u64,
        x: [__m512i; K],
        y: [__m512i; K],
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let (x, y) = (stage.reduce_fully(x), stage.reduce_fully(y));
            for k in 0..K {
                let (x, y) = shuffle(x[k], y[k]);
                store(p.add(2 * k * LANES), x);
                store(p.add((2 * k + 1) * LANES), y);
            }
        }
    }

    #[inline(always)]
    unsafe fn store_products<A: LazyMul>(stage: Stage<A>, p: *mut u64, x: [__m512i; 2]) {
        // SAFETY: the caller's promise.
        unsafe {
            let [x, y] = stage.reduce_products(x);
            store(p, x);
            store(p.add(LANES), y);
        }
    }
}

/// The memory width of limbs in words of 32 bits, modulo q < 2^32. With `SPARE` q is below 2^31.
/// Then a number below 2q fits a word, and is reduced in words of 32 bits.
pub(in crate::ntt) struct Narrow<const SPARE: bool>;

impl<const SPARE: bool> Words for Narrow<SPARE> {
    type Word = u32;

    #[inline(always)]
    unsafe fn load(p: *const u32) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { _mm512_cvtepu32_epi64(_mm256_loadu_si256(p.cast())) }
    }

    #[inline(always)]
    unsafe fn load_pairs(p: *const u32) -> (__m512i, __m512i) {
        // SAFETY: the caller's promise.
        unsafe {
            let words = load(p.cast());
            let even = _mm512_and_si512(words, _mm512_set1_epi64(0xffff_ffff));
            (even, _mm512_srli_epi64::<32>(words))
        }
    }

    #[inline(always)]
    unsafe fn store_pairs<A: LazyMul, const K: usize>(
        stage: Stage<A>,
        p: *mut u32,
        x: [__m512i; K],
        y: [__m512i; K],
    ) {
        // SAFETY: the caller's promise. The low halves of x take the even places, those of y the odd ones.
        unsafe {
            let (x, y) = if SPARE {
                (stage.reduce_twice(x), stage.reduce_twice(y))
            } else {
                (stage.reduce_fully(x), stage.reduce_fully(y))
            };
            for k in 0..K {
                let words = _mm512_mask_shuffle_epi32::<0b10_10_00_00>(x[k], 0xaaaa, y[k]);
                store_words::<SPARE>(p.add(2 * k * LANES), words, stage.q);
            }
        }
    }

    #[inline(always)]
    unsafe fn store_products<A: LazyMul>(stage: Stage<A>, p: *mut u32, mut x: [__m512i; 2]) {
        // SAFETY: the caller's promise.
        unsafe {
            if !SPARE {
                x = stage.reduce_products(x);
            }
            let low_halves =
                _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
            let words = _mm512_permutex2var_epi32(x[0], low_halves, x[1]);
            store_words::<SPARE>(p, words, stage.q);
        }
    }
}

/// Stores sixteen words of 32 bits at `p`. With `SPARE` they are below 2q and are first reduced
/// below q. The vector `q` has the modulus in lanes of 64 bits.
#[inline(always)]
unsafe fn store_words<const SPARE: bool>(p: *mut u32, mut words: __m512i, q: __m512i) {
    // SAFETY: p is writable for sixteen words; the caller enables AVX-512 F.
    unsafe {
        if SPARE {
            let q = _mm512_shuffle_epi32::<0b10_10_00_00>(q);
            words = _mm512_min_epu32(words, _mm512_sub_epi32(words, q));
        }
        store(p.cast(), words);
    }
}
