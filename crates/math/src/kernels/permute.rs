// SPDX-License-Identifier: Apache-2.0
//! Permutes the positions of a limb in evaluation form, which is how an automorphism acts there. It moves eight
//! positions at a time (AVX-512 F).
//!
//! Positions 8m ... 8m + 7 belong to the exponents e_m + 2 N/8 r of the 2N-th root of unity, for r
//! in bit-reversed order. Times an odd g these are again eight exponents 2 N/8 apart. So each
//! output block of eight positions comes from one input block of eight, with its lanes permuted.

use std::arch::x86_64::*;

use super::auto::Word;
use super::backend::Backend;
use crate::simd::{LANES, store};

/// Writes the value at input position `source[i]`, taken modulo the length of `from`, to output position i. Returns the
/// number of positions that it wrote. That is 0 if the backend has no AVX-512 F, the limb has fewer than 16 words, or
/// the three lengths are not one power of two. Otherwise it is all. The sources must be those of an automorphism
/// ([`super::AutoEvalPlan::sources`], or those of a part).
pub(super) fn permute<W: Word>(out: &mut [u64], from: &[W], source: &[u32]) -> usize {
    let backend = Backend::current();
    if !matches!(backend, Backend::Avx512 | Backend::Avx512Ifma)
        || from.len() < 2 * LANES
        || (from.len(), source.len()) != (out.len(), out.len())
        || !from.len().is_power_of_two()
    {
        return 0;
    }
    // SAFETY: the backend is only in force where the processor has its features; lengths were checked.
    unsafe { permute_blocks(out, from, source) };
    out.len()
}

#[target_feature(enable = "avx512f")]
unsafe fn permute_blocks<W: Word>(out: &mut [u64], from: &[W], source: &[u32]) {
    let mask = from.len() - LANES;
    for (out, source) in (out.chunks_exact_mut(LANES)).zip(source.chunks_exact(LANES)) {
        let block = source[0] as usize & mask;
        // SAFETY: block is a multiple of 8 below the length; both chunks are of 8.
        unsafe {
            let lanes = _mm512_cvtepu32_epi64(_mm256_loadu_si256(source.as_ptr().cast()));
            // The instruction reads only the low three bits of each lane number.
            let x = _mm512_permutexvar_epi64(lanes, W::eight(from.as_ptr().add(block)));
            store(out.as_mut_ptr(), x);
        }
    }
}
