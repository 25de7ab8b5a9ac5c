//! The sums eight coefficients a vector.

use std::arch::x86_64::*;

use super::{End, GROUP, Group};
use crate::basext::BLOCK;
use crate::simd::{ShortReducer, load, splat, store};

pub(super) use crate::simd::LANES;

/// Vectors worked on together: with the sums of four moduli sixteen registers, and a constant is read once for all of them.
const VECTORS: usize = 4;

/// The sums of one group of `J` moduli.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn group_sums<const J: usize>(
    half: u64,
    group: &Group,
    y: *const u64,
    out: [*mut u64; GROUP],
    len: usize,
) {
    let full = len - len % (VECTORS * LANES);
    // SAFETY: the caller's promise.
    unsafe {
        for c in (0..full).step_by(VECTORS * LANES) {
            vector_sums::<VECTORS, J>(half, group, y, out, c);
        }
        for c in (full..len).step_by(LANES) {
            vector_sums::<1, J>(half, group, y, out, c);
        }
    }
}

/// [`group_sums`] on `V` vectors from coefficient c on.
#[inline(always)]
unsafe fn vector_sums<const V: usize, const J: usize>(
    half: u64,
    group: &Group,
    y: *const u64,
    out: [*mut u64; GROUP],
    c: usize,
) {
    // SAFETY: the pointers are valid from c on for V vectors; the caller enables AVX-512 F. Of a factor the low half of each lane
    // counts, as a signed number.
    unsafe {
        let (half, low) = (splat(half), splat(0xffff_ffff));
        let fold = |sum: __m512i, end: &End| {
            let high = _mm512_mul_epi32(_mm512_srli_epi64::<32>(sum), _mm512_set1_epi32(end.fold));
            _mm512_add_epi64(high, _mm512_and_si512(sum, low))
        };
        let ends: &[End; J] = match group.ends.first_chunk() {
            Some(ends) => ends,
            None => return,
        };
        let mut sums = [[splat(0); V]; J];
        for j in 0..J {
            sums[j] = [splat(ends[j].start); V];
        }
        let mut y = y.add(c);
        for (r, run) in group.runs.iter().enumerate() {
            if r > 0 {
                for j in 0..J {
                    for sum in &mut sums[j] {
                        *sum = fold(*sum, &ends[j]);
                    }
                }
            }
            for constants in run {
                let mut x = [half; V];
                for (v, x) in x.iter_mut().enumerate() {
                    *x = _mm512_sub_epi64(load(y.add(v * LANES)), half);
                }
                for j in 0..J {
                    let w = _mm512_set1_epi32(constants[j]);
                    for v in 0..V {
                        sums[j][v] = _mm512_add_epi64(sums[j][v], _mm512_mul_epi32(x[v], w));
                    }
                }
                y = y.add(BLOCK);
            }
        }
        for _ in 0..group.folds {
            for j in 0..J {
                for sum in &mut sums[j] {
                    *sum = fold(*sum, &ends[j]);
                }
            }
        }
        // Not a loop: what it would index would stand in memory all the while.
        finish(sums[0], &ends[0], out[0].add(c));
        if J > 1 {
            finish(sums[1], &ends[1], out[1].add(c));
        }
        if J > 2 {
            finish(sums[2], &ends[2], out[2].add(c));
        }
        if J > 3 {
            finish(sums[3], &ends[3], out[3].add(c));
        }
    }
}

/// The sums of a modulus, reduced and stored.
#[inline(always)]
unsafe fn finish<const V: usize>(sums: [__m512i; V], end: &End, out: *mut u64) {
    // SAFETY: out is valid for V vectors; the caller enables AVX-512 F.
    unsafe {
        let reducer = ShortReducer::new(end.p, end.bits, end.ratio);
        for (v, sum) in sums.into_iter().enumerate() {
            let sum = _mm512_add_epi64(sum, splat(end.lift));
            store(out.add(v * LANES), reducer.reduce(sum));
        }
    }
}
