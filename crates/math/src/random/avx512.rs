// SPDX-License-Identifier: Apache-2.0
//! Computes sixteen ChaCha20 blocks at a time (AVX-512 F and DQ), for seed expansion and the
//! generator. Vector w of the state holds state word w of all blocks, one block in each 32-bit
//! lane.

use std::arch::x86_64::*;

use crate::Modulus;
use crate::kernels::avx512::WideReducer;
use crate::simd::LANES;

/// The number of ChaCha20 blocks that are computed together, one in each 32-bit lane of a vector.
const BLOCKS: usize = 16;
const RESIDUES: usize = 4 * BLOCKS;

/// The constants of RFC 8439: the text "expand 32-byte k".
const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// Expands keystream number `stream` of the seed into residues modulo q. It fills the longest
/// prefix of `out` that is a multiple of 64 residues, and returns the prefix's length. The residues
/// are those of [`crate::expand_uniform`].
///
/// # Safety
/// The processor must have AVX-512 F and DQ.
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) unsafe fn expand(seed: &[u8; 32], stream: u64, q: Modulus, out: &mut [u64]) -> usize {
    let mut start = first_states(seed, stream);
    // SAFETY: the features are enabled here.
    let reducer = unsafe { WideReducer::new(q) };
    // Where the residues of blocks 0 1 4 5 8 9 12 13, and of 2 3 6 7 10 11 14 15, go.
    let low_blocks = _mm512_setr_epi64(0, 4, 16, 20, 32, 36, 48, 52);
    let high_blocks = _mm512_add_epi64(low_blocks, _mm512_set1_epi64(8));
    let (groups, _) = out.as_chunks_mut::<RESIDUES>();
    for group in groups.iter_mut() {
        let words = block(&start);
        for (r, word) in words.as_chunks::<4>().0.iter().enumerate() {
            let [w0, w1, w2, w3] = *word;
            let base = group.as_mut_ptr().wrapping_add(r);
            // SAFETY: the features are enabled here; the largest offset is 3 + 52 + 8 = RESIDUES - 1.
            unsafe {
                let low =
                    reducer.reduce(_mm512_unpacklo_epi32(w2, w3), _mm512_unpacklo_epi32(w0, w1));
                _mm512_i64scatter_epi64::<{ LANES as i32 }>(base.cast(), low_blocks, low);
                let high =
                    reducer.reduce(_mm512_unpackhi_epi32(w2, w3), _mm512_unpackhi_epi32(w0, w1));
                _mm512_i64scatter_epi64::<{ LANES as i32 }>(base.cast(), high_blocks, high);
            }
        }
        start[12] = next_counters(start[12]);
    }
    groups.len() * RESIDUES
}

/// Writes the keystream of `key` and `stream`, from block `first` on, over the longest prefix of `out` that is a multiple of
/// sixteen blocks. Returns the length of this prefix.
///
/// # Safety
/// The processor must have AVX-512 F and DQ.
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) unsafe fn keystream(key: &[u8; 32], stream: u64, first: u32, out: &mut [u8]) -> usize {
    let mut start = first_states(key, stream);
    start[12] = _mm512_add_epi32(start[12], _mm512_set1_epi32(first as i32));
    let (groups, _) = out.as_chunks_mut::<{ 64 * BLOCKS }>();
    for group in groups.iter_mut() {
        let words = block(&start);
        for (quarter, words) in words.as_chunks::<4>().0.iter().enumerate() {
            let [w0, w1, w2, w3] = *words;
            let low = (_mm512_unpacklo_epi32(w0, w1), _mm512_unpacklo_epi32(w2, w3));
            let high = (_mm512_unpackhi_epi32(w0, w1), _mm512_unpackhi_epi32(w2, w3));
            // Lane l of vector k is this quarter of block 4 l + k.
            let vectors = [
                _mm512_unpacklo_epi64(low.0, low.1),
                _mm512_unpackhi_epi64(low.0, low.1),
                _mm512_unpacklo_epi64(high.0, high.1),
                _mm512_unpackhi_epi64(high.0, high.1),
            ];
            for (k, vector) in vectors.into_iter().enumerate() {
                // SAFETY: both are 64 bytes without padding, of which every value is valid.
                let lanes: [[u8; 16]; 4] = unsafe { std::mem::transmute(vector) };
                for (l, lane) in lanes.iter().enumerate() {
                    let at = 64 * (4 * l + k) + 16 * quarter;
                    group[at..at + 16].copy_from_slice(lane);
                }
            }
        }
        start[12] = next_counters(start[12]);
    }
    groups.len() * 64 * BLOCKS
}

/// Returns the ChaCha20 input states of the keystream's blocks 0 to 15.
#[inline]
#[target_feature(enable = "avx512f")]
fn first_states(key: &[u8; 32], stream: u64) -> [__m512i; 16] {
    let mut start = [_mm512_setzero_si512(); 16];
    for (vector, constant) in start.iter_mut().zip(CONSTANTS) {
        *vector = _mm512_set1_epi32(constant as i32);
    }
    for (vector, word) in start[4..12].iter_mut().zip(key.as_chunks::<4>().0) {
        *vector = _mm512_set1_epi32(i32::from_le_bytes(*word));
    }
    start[12] = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    start[13] = _mm512_set1_epi32(stream as i32);
    start[14] = _mm512_set1_epi32((stream >> 32) as i32);
    start
}

#[inline]
#[target_feature(enable = "avx512f")]
fn next_counters(counters: __m512i) -> __m512i {
    _mm512_add_epi32(counters, _mm512_set1_epi32(BLOCKS as i32))
}

/// Computes the ChaCha20 block function on the input states of sixteen blocks.
#[inline]
#[target_feature(enable = "avx512f")]
fn block(start: &[__m512i; 16]) -> [__m512i; 16] {
    let mut x = *start;
    for _ in 0..10 {
        quarter::<0, 4, 8, 12>(&mut x);
        quarter::<1, 5, 9, 13>(&mut x);
        quarter::<2, 6, 10, 14>(&mut x);
        quarter::<3, 7, 11, 15>(&mut x);
        quarter::<0, 5, 10, 15>(&mut x);
        quarter::<1, 6, 11, 12>(&mut x);
        quarter::<2, 7, 8, 13>(&mut x);
        quarter::<3, 4, 9, 14>(&mut x);
    }
    for (word, first) in x.iter_mut().zip(start) {
        *word = _mm512_add_epi32(*word, *first);
    }
    x
}

/// Computes the quarter round of ChaCha20 on the state words number A, B, C and D of all sixteen
/// blocks.
#[inline]
#[target_feature(enable = "avx512f")]
fn quarter<const A: usize, const B: usize, const C: usize, const D: usize>(x: &mut [__m512i; 16]) {
    x[A] = _mm512_add_epi32(x[A], x[B]);
    x[D] = _mm512_rol_epi32::<16>(_mm512_xor_si512(x[D], x[A]));
    x[C] = _mm512_add_epi32(x[C], x[D]);
    x[B] = _mm512_rol_epi32::<12>(_mm512_xor_si512(x[B], x[C]));
    x[A] = _mm512_add_epi32(x[A], x[B]);
    x[D] = _mm512_rol_epi32::<8>(_mm512_xor_si512(x[D], x[A]));
    x[C] = _mm512_add_epi32(x[C], x[D]);
    x[B] = _mm512_rol_epi32::<7>(_mm512_xor_si512(x[B], x[C]));
}
