// SPDX-License-Identifier: Apache-2.0
//! Passes of the forward NTT over a limb; each pass computes several stages (AVX-512).

use std::arch::x86_64::*;

use super::words::{Limb, Sink, Wide, Words};
use super::{CHUNK, leaf_of, load_many, load_quarters, parts_of, store_quarters};
use crate::ntt::butterfly::{Stage, both, shuffle};
use crate::simd::{Chunks, LANES, LazyMul};

/// Computes the forward NTT's stages of a block of `len` words in place, with intermediate values in `work`. `index` is
/// the position of the block's twiddle in the table. `FRESH` says that inputs are below q. Parts of at most
/// `stage.block` coefficients are finished one after the other, and so are the parts that contain them (depth first).
///
/// # Safety
/// Both pointers are valid for `len` words, a power of two and at least `MIN_LEN`; they may be equal. `stage` has the
/// tables of a limb in which the block at `index` has this length. The caller enables the features of A.
#[inline(always)]
pub(in crate::ntt) unsafe fn forward_block<A: LazyMul, W: Words, const FRESH: bool>(
    stage: Stage<A>,
    block: *mut W::Word,
    work: *mut u64,
    len: usize,
    index: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        double::<A, W, FRESH>(stage, block, work, len, index);
        forward_rest(stage, work, Limb::<W>(block), len, index);
    }
}

/// Computes all forward stages of a block of `len` words except the first two, from `work` to
/// `out`. `index` is the position of the block's twiddle in the first stage.
///
/// # Safety
/// `work` and `stage` are as for [`forward_block`], and `out` takes `len` words. The caller enables the features of A.
#[inline(always)]
pub(super) unsafe fn forward_rest<A: LazyMul, S: Sink<A>>(
    stage: Stage<A>,
    work: *mut u64,
    out: S,
    len: usize,
    index: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        // A whole block has a copy of all loops, which takes up to 7 % less time on an Intel Xeon, because LLVM
        // interleaves its chunks differently. Tests do without the copy, as it is a third of this crate's compilation.
        if !cfg!(debug_assertions) && len <= stage.block {
            return finish(stage, work, out, len, 4, 4 * index);
        }
        let leaf = leaf_of(len, stage.block);
        let parts = if leaf == len { 4 } else { 1 };
        for at in (0..len).step_by(leaf) {
            let (mut part, mut first) = (len / 4, 4 * index);
            while part > leaf {
                if at % part == 0 {
                    let p = work.add(at);
                    double::<A, Wide, false>(stage, p, p, part, first + at / part);
                }
                part /= 4;
                first *= 4;
            }
            let index = first + at / leaf;
            finish(stage, work.add(at), out.skip(at), leaf, parts, index);
        }
    }
}

/// Computes all further forward stages of `parts` blocks, together `len` words, from `work` to
/// `out`. `index` is the position of the first block's twiddle in the table (m + i for block i of a
/// stage of m blocks).
#[inline(always)]
unsafe fn finish<A: LazyMul, S: Sink<A>>(
    stage: Stage<A>,
    work: *mut u64,
    out: S,
    len: usize,
    mut parts: usize,
    mut index: usize,
) {
    // SAFETY: `work` is valid for len words and `out` takes them; the caller enables the features of A.
    unsafe {
        let last = parts_of(len);
        while parts < last {
            let part = len / parts;
            for j in 0..parts {
                let p = work.add(j * part);
                double::<A, Wide, false>(stage, p, p, part, index + j);
            }
            parts *= 4;
            index *= 4;
        }
        if len == CHUNK * parts {
            tail::<A, S, true>(stage, work, out, len, 2 * index);
        } else {
            tail::<A, S, false>(stage, work, out, len, index);
        }
    }
}

/// Computes two forward stages of one block of `len` words, from `from` to `to`. `index` is the
/// position of the block's twiddle. `FRESH` says that inputs are below q. The loop computes the
/// second stage of one vector of each quarter of the block together with the first stage of the
/// next vector.
#[inline(always)]
unsafe fn double<A: LazyMul, W: Words, const FRESH: bool>(
    stage: Stage<A>,
    from: *const W::Word,
    to: *mut u64,
    len: usize,
    index: usize,
) {
    let quarter = len / 4;
    // SAFETY: both pointers are valid for len words, a multiple of 64; the caller enables the features of A.
    unsafe {
        let w = stage.twiddle(index);
        let (w_low, w_high) = (stage.twiddle(2 * index), stage.twiddle(2 * index + 1));
        let [[a], [b], [c], [d]] = load_quarters::<W, 1>(from, quarter);
        let mut x = [a, b];
        if !FRESH {
            x = stage.before::<false, 2>(x);
        }
        let (x, y) = stage.forward(x, [c, d], [w; 2]);
        let mut waiting = ([x[0], y[0]], [x[1], y[1]]);
        for k in (LANES..quarter).step_by(LANES) {
            let [[a], [b], [c], [d]] = load_quarters::<W, 1>(from.add(k), quarter);
            let mut x = [a, b];
            if !FRESH {
                x = stage.before::<false, 2>(x);
            }
            let (z, [e, f]) = (stage.before::<true, 2>(waiting.0), waiting.1);
            let v = [w_low, w_high, w, w];
            let (x, y) = stage.forward([z[0], z[1], x[0], x[1]], [e, f, c, d], v);
            store_quarters(to.add(k - LANES), quarter, [[x[0]], [y[0]], [x[1]], [y[1]]]);
            waiting = ([x[2], y[2]], [x[3], y[3]]);
        }
        let z = stage.before::<true, 2>(waiting.0);
        let (x, y) = stage.forward(z, waiting.1, [w_low, w_high]);
        store_quarters(
            to.add(quarter - LANES),
            quarter,
            [[x[0]], [y[0]], [x[1]], [y[1]]],
        );
    }
}

/// Computes the last five forward stages, or six with `SIX`, of `len` words, in registers. It takes
/// chunks of eight vectors. `index` is the position of the twiddle of the first block of 32
/// coefficients.
#[inline(always)]
unsafe fn tail<A: LazyMul, S: Sink<A>, const SIX: bool>(
    stage: Stage<A>,
    work: *const u64,
    out: S,
    len: usize,
    index: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        match A::FORWARD {
            Chunks::One => chunks::<A, S, SIX, 1>(stage, work, out, len, index),
            Chunks::Two => chunks::<A, S, SIX, 2>(stage, work, out, len, index),
            Chunks::TwoInStep => in_step::<A, S, SIX>(stage, work, out, len, index),
        }
    }
}

/// Computes the last five forward stages, or six with `SIX`, as [`tail`] does, on `TOGETHER` chunks of eight
/// vectors at a time.
#[inline(always)]
unsafe fn chunks<A: LazyMul, S: Sink<A>, const SIX: bool, const TOGETHER: usize>(
    stage: Stage<A>,
    work: *const u64,
    out: S,
    len: usize,
    index: usize,
) {
    // SAFETY: `work` is valid for len words, a multiple of two chunks, and `out` takes them; the caller enables the features of
    // A.
    unsafe {
        for i in (0..len / CHUNK).step_by(TOGETHER) {
            let p = work.add(i * CHUNK);
            let mut v = [[_mm512_setzero_si512(); 8]; TOGETHER];
            let mut at = [0; TOGETHER];
            for c in 0..TOGETHER {
                v[c] = load_many::<Wide, 8>(p.add(c * CHUNK));
                at[c] = index + 2 * (i + c);
            }
            if SIX {
                for c in 0..TOGETHER {
                    let w = stage.twiddle(at[c] / 2);
                    let [a, b, c0, d, e, f, g, h] = v[c];
                    let (x, y) = stage.forward(
                        stage.before::<false, 4>([a, b, c0, d]),
                        [e, f, g, h],
                        [w; 4],
                    );
                    v[c] = [x[0], x[1], x[2], x[3], y[0], y[1], y[2], y[3]];
                }
            }
            for c in 0..TOGETHER {
                let (w, w_next) = (stage.twiddle(at[c]), stage.twiddle(at[c] + 1));
                let [a, b, c0, d, e, f, g, h] = v[c];
                let (x, y) = stage.forward(
                    stage.before::<SIX, 4>([a, b, e, f]),
                    [c0, d, g, h],
                    [w, w, w_next, w_next],
                );
                // Blocks of two vectors: x0 x1, y0 y1, x2 x3, y2 y3.
                v[c] = [x[0], y[0], x[2], y[2], x[1], y[1], x[3], y[3]];
            }
            for c in 0..TOGETHER {
                let w = [
                    stage.twiddle(2 * at[c]),
                    stage.twiddle(2 * at[c] + 1),
                    stage.twiddle(2 * at[c] + 2),
                    stage.twiddle(2 * at[c] + 3),
                ];
                let [a, b, c0, d, e, f, g, h] = v[c];
                let x = [a, b, c0, d];
                let x = if SIX {
                    stage.before::<false, 4>(x)
                } else {
                    stage.before::<true, 4>(x)
                };
                let (x, y) = within(stage.forward(x, [e, f, g, h], w));
                v[c] = both(x, y);
            }
            for c in 0..TOGETHER {
                let (x, y) = pair(v[c]);
                let x = stage.before::<SIX, 4>(x);
                let (x, y) = within(stage.forward(x, y, stage.twos(4 * at[c])));
                v[c] = both(x, y);
            }
            for c in 0..TOGETHER {
                let (x, y) = pair(v[c]);
                let x = if SIX {
                    stage.before::<false, 4>(x)
                } else {
                    stage.before::<true, 4>(x)
                };
                let (x, y) = within(stage.forward(x, y, stage.fours(8 * at[c])));
                v[c] = both(x, y);
            }
            for c in 0..TOGETHER {
                let (x, y) = pair(v[c]);
                let (x, y) = stage.forward(stage.before::<SIX, 4>(x), y, stage.eights(16 * at[c]));
                out.skip((i + c) * CHUNK).put(stage, x, y);
            }
        }
    }
}

/// Computes the last five forward stages, or six with `SIX`, as [`tail`] does, on two chunks together. Each
/// instruction runs for both chunks before the next instruction.
#[inline(always)]
unsafe fn in_step<A: LazyMul, S: Sink<A>, const SIX: bool>(
    stage: Stage<A>,
    work: *const u64,
    out: S,
    len: usize,
    index: usize,
) {
    // SAFETY: `work` is valid for len words, a multiple of two chunks, and `out` takes them; the caller enables the features of
    // A.
    unsafe {
        for i in (0..len / CHUNK).step_by(2) {
            let p = work.add(i * CHUNK);
            let at = [index + 2 * i, index + 2 * i + 2];
            let mut v = load_many::<Wide, 16>(p);
            if SIX {
                let w = [stage.twiddle(at[0] / 2), stage.twiddle(at[1] / 2)];
                let w = [w[0], w[0], w[0], w[0], w[1], w[1], w[1], w[1]];
                let x = stage.before::<false, 8>(pick(&v, [0, 1, 2, 3, 8, 9, 10, 11]));
                let (x, y) = stage.forward(x, pick(&v, [4, 5, 6, 7, 12, 13, 14, 15]), w);
                v = [
                    x[0], x[1], x[2], x[3], y[0], y[1], y[2], y[3], x[4], x[5], x[6], x[7], y[4],
                    y[5], y[6], y[7],
                ];
            }
            let w = [
                stage.twiddle(at[0]),
                stage.twiddle(at[0] + 1),
                stage.twiddle(at[1]),
                stage.twiddle(at[1] + 1),
            ];
            let w = [w[0], w[0], w[1], w[1], w[2], w[2], w[3], w[3]];
            let x = stage.before::<SIX, 8>(pick(&v, [0, 1, 4, 5, 8, 9, 12, 13]));
            let (x, y) = stage.forward(x, pick(&v, [2, 3, 6, 7, 10, 11, 14, 15]), w);
            let w = [
                stage.twiddle(2 * at[0]),
                stage.twiddle(2 * at[0] + 1),
                stage.twiddle(2 * at[0] + 2),
                stage.twiddle(2 * at[0] + 3),
                stage.twiddle(2 * at[1]),
                stage.twiddle(2 * at[1] + 1),
                stage.twiddle(2 * at[1] + 2),
                stage.twiddle(2 * at[1] + 3),
            ];
            // Blocks of two vectors: x0 x1, y0 y1, x2 x3, y2 y3.
            let (x, y) = (
                [x[0], y[0], x[2], y[2], x[4], y[4], x[6], y[6]],
                [x[1], y[1], x[3], y[3], x[5], y[5], x[7], y[7]],
            );
            let x = if SIX {
                stage.before::<false, 8>(x)
            } else {
                stage.before::<true, 8>(x)
            };
            let (x, y) = within(stage.forward(x, y, w));
            let x = stage.before::<SIX, 8>(x);
            let w = both(stage.twos(4 * at[0]), stage.twos(4 * at[1]));
            let (x, y) = within(stage.forward(x, y, w));
            let x = if SIX {
                stage.before::<false, 8>(x)
            } else {
                stage.before::<true, 8>(x)
            };
            let w = both(stage.fours(8 * at[0]), stage.fours(8 * at[1]));
            let (x, y) = within(stage.forward(x, y, w));
            let x = stage.before::<SIX, 8>(x);
            let w = both(stage.eights(16 * at[0]), stage.eights(16 * at[1]));
            let (x, y) = stage.forward(x, y, w);
            out.skip(i * CHUNK).put(stage, x, y);
        }
    }
}

#[inline(always)]
fn pick<const K: usize, const L: usize>(v: &[__m512i; L], at: [usize; K]) -> [__m512i; K] {
    let mut picked = [v[0]; K];
    for k in 0..K {
        picked[k] = v[at[k]];
    }
    picked
}

/// Shuffles the lanes of each pair of vectors, so that the two coefficients of each butterfly of the next stage lie in
/// the same lane ([`shuffle`]).
#[inline(always)]
unsafe fn within<const K: usize>(
    (mut x, mut y): ([__m512i; K], [__m512i; K]),
) -> ([__m512i; K], [__m512i; K]) {
    for k in 0..K {
        // SAFETY: the caller enables AVX-512 F.
        (x[k], y[k]) = unsafe { shuffle(x[k], y[k]) };
    }
    (x, y)
}

/// Returns, of four successive pairs of vectors, the four first vectors and the four second
/// vectors.
#[inline(always)]
fn pair([a, b, c, d, e, f, g, h]: [__m512i; 8]) -> ([__m512i; 4], [__m512i; 4]) {
    ([a, b, c, d], [e, f, g, h])
}
