// SPDX-License-Identifier: Apache-2.0
//! Loops that add up the weighted sums of a base extension for moduli below 2^32 ([`super`]), for vectors
//! of any width.

use super::{End, GROUP, Group};
use crate::basext::BLOCK;
use crate::simd::short::{Short, ShortReducer};

/// Computes the sums of terms times constants modulo the `J` target moduli of one group, `VECTORS` vectors of
/// coefficients at a time.
///
/// # Safety
/// The caller enables the instructions that [`Short`] requires. Row i of y must be valid for `len` words,
/// as must every output of the group.
#[inline(always)]
pub(super) unsafe fn group_sums<S: Short, const VECTORS: usize, const J: usize>(
    half: u64,
    group: &Group,
    y: *const u64,
    out: [*mut u64; GROUP],
    len: usize,
) {
    let full = len - len % (VECTORS * S::LANES);
    // SAFETY: the caller's promise.
    unsafe {
        for c in (0..full).step_by(VECTORS * S::LANES) {
            vector_sums::<S, VECTORS, J>(half, group, y, out, c);
        }
        for c in (full..len).step_by(S::LANES) {
            vector_sums::<S, 1, J>(half, group, y, out, c);
        }
    }
}

/// Computes the sums of terms times constants modulo the `J` target moduli of one group, for `V` vectors of
/// coefficients from coefficient c on.
#[inline(always)]
unsafe fn vector_sums<S: Short, const V: usize, const J: usize>(
    half: u64,
    group: &Group,
    y: *const u64,
    out: [*mut u64; GROUP],
    c: usize,
) {
    // SAFETY: the pointers are valid from c on for V vectors; the rest is the caller's promise. Of a factor the low half of each lane
    // counts, as a signed number.
    unsafe {
        let half = S::splat(half);
        let ends: &[End; J] = match group.ends.first_chunk() {
            Some(ends) => ends,
            None => return,
        };
        let mut sums = [[S::splat(0); V]; J];
        for j in 0..J {
            sums[j] = [S::splat(ends[j].start); V];
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
                    *x = S::load(y.add(v * S::LANES)).sub(half);
                }
                for j in 0..J {
                    let w = S::signed(constants[j]);
                    for v in 0..V {
                        sums[j][v] = sums[j][v].add(x[v].mul_signed(w));
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
        // No loop, because its indices would keep the sums in memory instead of registers.
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

/// Makes a sum modulo p smaller: a sum T_1 2^32 + T_0 becomes T_1 f + T_0, where f is 2^32 modulo
/// p, nearest to zero. p is the target modulus to which `end` belongs.
#[inline(always)]
unsafe fn fold<S: Short>(sum: S, end: &End) -> S {
    // SAFETY: the caller's promise.
    unsafe {
        let high = sum.high().mul_signed(S::signed(end.fold));
        high.add(sum.and(S::splat(0xffff_ffff)))
    }
}

/// Reduces the sums modulo one target modulus to residues, and stores these residues at `out`.
#[inline(always)]
unsafe fn finish<S: Short, const V: usize>(sums: [S; V], end: &End, out: *mut u64) {
    // SAFETY: the caller's promise; out is valid for V vectors.
    unsafe {
        let reducer = ShortReducer::new(end.p, end.bits, end.ratio);
        for (v, sum) in sums.into_iter().enumerate() {
            let sum = sum.add(S::splat(end.lift));
            reducer.reduce(sum).store(out.add(v * S::LANES));
        }
    }
}
