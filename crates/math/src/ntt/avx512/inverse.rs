// SPDX-License-Identifier: Apache-2.0
//! Passes of the inverse NTT over a limb; each pass computes several stages (AVX-512).

use std::arch::x86_64::*;

use super::words::{Wide, Words};
use super::{CHUNK, leaf_of, load_quarters, parts_of, store_many, store_quarters};
use crate::ntt::butterfly::{Last, Stage, both, unshuffle};
use crate::simd::{Chunks, LANES, LazyMul};

/// Computes the inverse NTT of a limb of `len` words in place, with intermediate values in `work`. Parts of at most
/// `stage.block` coefficients are finished one after the other, and so are the parts that contain them (depth first).
///
/// # Safety
/// Both pointers are valid for `len` words, a power of two and at least `MIN_LEN`; they may be equal. `stage` has the
/// tables of a limb of this length. The caller enables the features of A.
#[inline(always)]
pub(in crate::ntt) unsafe fn inverse_whole<A: LazyMul, W: Words>(
    stage: Stage<A>,
    limb: *mut W::Word,
    work: *mut u64,
    len: usize,
    last: Last<A>,
) {
    // SAFETY: the caller's promise.
    unsafe {
        begin::<A, W>(stage, limb, work, len, 1);
        double_last::<A, W>(stage, work, limb, len, last);
    }
}

/// Computes the inverse NTT's stages of a block of `len` words in place, with intermediate values in `work`. `index` is
/// the position of the block's twiddle in the table. The results are residues below q. They are not multiplied by 1/n.
///
/// # Safety
/// As for [`inverse_whole`]: both pointers are valid for `len` words, a power of two and at least `MIN_LEN`. `stage`
/// has the tables of a limb in which the block at `index` has this length. The caller enables the features of A.
#[inline(always)]
pub(in crate::ntt) unsafe fn inverse_block<A: LazyMul, W: Words>(
    stage: Stage<A>,
    block: *mut W::Word,
    work: *mut u64,
    len: usize,
    index: usize,
) {
    let quarter = len / 4;
    // SAFETY: the caller's promise.
    unsafe {
        begin::<A, W>(stage, block, work, len, index);
        let w = stage.twiddle(index);
        let (w_low, w_high) = (stage.twiddle(2 * index), stage.twiddle(2 * index + 1));
        for k in (0..quarter).step_by(2 * LANES) {
            let x = load_quarters::<Wide, 2>(work.add(k), quarter);
            let [a, b, c, d] = two_stages(stage, x, [w_low, w_low, w_high, w_high], w);
            for (j, x) in [stage.reduce_twice(a), stage.reduce_twice(b), c, d]
                .into_iter()
                .enumerate()
            {
                W::store_products(stage, block.add(k + j * quarter), x);
            }
        }
    }
}

/// Computes all inverse stages of a block of `len` words except the last two, from `from` to `work`. `index` is the position
/// of the block's twiddle.
#[inline(always)]
unsafe fn begin<A: LazyMul, W: Words>(
    stage: Stage<A>,
    from: *const W::Word,
    work: *mut u64,
    len: usize,
    index: usize,
) {
    // SAFETY: both pointers are valid for len words; the caller enables the features of A.
    unsafe {
        // As in `forward_rest`: a copy for whole blocks, which tests do without.
        if !cfg!(debug_assertions) && len <= stage.block {
            return leaf::<A, W>(stage, from, work, len, index);
        }
        let small = leaf_of(len, stage.block);
        for at in (0..len).step_by(small) {
            leaf::<A, W>(
                stage,
                from.add(at),
                work.add(at),
                small,
                (index * len + at) / small,
            );
            let mut part = small;
            while part < len && (at + small).is_multiple_of(part) {
                let start = at + small - part;
                double(stage, work.add(start), part, (index * len + start) / part);
                part *= 4;
            }
        }
    }
}

/// Computes all inverse stages of a block of `len` words except the last two, from `from` to `work`, for a block that
/// is finished before the next block begins. `index` is the position of the block's twiddle.
#[inline(always)]
unsafe fn leaf<A: LazyMul, W: Words>(
    stage: Stage<A>,
    from: *const W::Word,
    work: *mut u64,
    len: usize,
    index: usize,
) {
    // SAFETY: both pointers are valid for len words; the caller enables the features of A.
    unsafe {
        let mut parts = parts_of(len);
        if len == CHUNK * parts {
            tail::<A, W, true>(stage, from, work, len, 2 * index * parts);
        } else {
            tail::<A, W, false>(stage, from, work, len, index * parts);
        }
        while parts > 4 {
            parts /= 4;
            let part = len / parts;
            for j in 0..parts {
                double(stage, work.add(j * part), part, index * parts + j);
            }
        }
    }
}

/// Computes the first five inverse stages, or six with `SIX`, of `len` words. It takes chunks of
/// eight vectors. `index` is the position of the twiddle of the first block of 32 coefficients.
#[inline(always)]
unsafe fn tail<A: LazyMul, W: Words, const SIX: bool>(
    stage: Stage<A>,
    from: *const W::Word,
    work: *mut u64,
    len: usize,
    index: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        match A::INVERSE {
            Chunks::One => chunks::<A, W, SIX, 1>(stage, from, work, len, index),
            Chunks::Two => chunks::<A, W, SIX, 2>(stage, from, work, len, index),
            Chunks::TwoInStep => in_step::<A, W, SIX>(stage, from, work, len, index),
        }
    }
}

/// Computes the first five inverse stages, or six with `SIX`, as [`tail`] does, on `TOGETHER` chunks of eight
/// vectors at a time.
#[inline(always)]
unsafe fn chunks<A: LazyMul, W: Words, const SIX: bool, const TOGETHER: usize>(
    stage: Stage<A>,
    from: *const W::Word,
    work: *mut u64,
    len: usize,
    index: usize,
) {
    // SAFETY: both pointers are valid for len words, a multiple of two chunks; the caller enables the features of A.
    unsafe {
        for i in (0..len / CHUNK).step_by(TOGETHER) {
            let p = from.add(i * CHUNK);
            let mut v = [([_mm512_setzero_si512(); 4], [_mm512_setzero_si512(); 4]); TOGETHER];
            let mut at = [0; TOGETHER];
            for c in 0..TOGETHER {
                v[c] = load_pairs::<W>(p.add(c * CHUNK));
                at[c] = index + 2 * (i + c);
            }
            for c in 0..TOGETHER {
                let (x, y) = v[c];
                v[c] = within(stage.inverse::<true, 4>(x, y, stage.eights(16 * at[c])));
            }
            for c in 0..TOGETHER {
                let (x, y) = v[c];
                v[c] = within(stage.inverse::<false, 4>(x, y, stage.fours(8 * at[c])));
            }
            for c in 0..TOGETHER {
                let (x, y) = v[c];
                v[c] = within(stage.inverse::<false, 4>(x, y, stage.twos(4 * at[c])));
            }
            for c in 0..TOGETHER {
                let w = [
                    stage.twiddle(2 * at[c]),
                    stage.twiddle(2 * at[c] + 1),
                    stage.twiddle(2 * at[c] + 2),
                    stage.twiddle(2 * at[c] + 3),
                ];
                let (x, y) = v[c];
                let (x, y) = stage.inverse::<false, 4>(x, y, w);
                v[c] = ([x[0], y[0], x[2], y[2]], [x[1], y[1], x[3], y[3]]);
            }
            for c in 0..TOGETHER {
                let (w, w_next) = (stage.twiddle(at[c]), stage.twiddle(at[c] + 1));
                let (x, y) = v[c];
                let (x, y) = stage.inverse::<false, 4>(x, y, [w, w, w_next, w_next]);
                v[c] = ([x[0], x[1], y[0], y[1]], [x[2], x[3], y[2], y[3]]);
            }
            if SIX {
                for c in 0..TOGETHER {
                    let (x, y) = v[c];
                    v[c] = stage.inverse::<false, 4>(x, y, [stage.twiddle(at[c] / 2); 4]);
                }
            }
            for (c, (low, high)) in v.into_iter().enumerate() {
                let p = work.add((i + c) * CHUNK);
                store_many(p, stage.settle(low));
                store_many(p.add(CHUNK / 2), stage.settle(high));
            }
        }
    }
}

/// Computes the first five inverse stages, or six with `SIX`, as [`tail`] does, on two chunks together. Each
/// instruction runs for both chunks before the next instruction.
#[inline(always)]
unsafe fn in_step<A: LazyMul, W: Words, const SIX: bool>(
    stage: Stage<A>,
    from: *const W::Word,
    work: *mut u64,
    len: usize,
    index: usize,
) {
    // SAFETY: both pointers are valid for len words, a multiple of two chunks; the caller enables the features of A.
    unsafe {
        for i in (0..len / CHUNK).step_by(2) {
            let at = [index + 2 * i, index + 2 * i + 2];
            let (mut x, mut y) = ([_mm512_setzero_si512(); 8], [_mm512_setzero_si512(); 8]);
            for k in 0..8 {
                (x[k], y[k]) = W::load_pairs(from.add(i * CHUNK + 2 * k * LANES));
            }
            let w = both(stage.eights(16 * at[0]), stage.eights(16 * at[1]));
            let (x, y) = within(stage.inverse::<true, 8>(x, y, w));
            let w = both(stage.fours(8 * at[0]), stage.fours(8 * at[1]));
            let (x, y) = within(stage.inverse::<false, 8>(x, y, w));
            let w = both(stage.twos(4 * at[0]), stage.twos(4 * at[1]));
            let (x, y) = within(stage.inverse::<false, 8>(x, y, w));
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
            let (x, y) = stage.inverse::<false, 8>(x, y, w);
            let w = [
                stage.twiddle(at[0]),
                stage.twiddle(at[0] + 1),
                stage.twiddle(at[1]),
                stage.twiddle(at[1] + 1),
            ];
            let w = [w[0], w[0], w[1], w[1], w[2], w[2], w[3], w[3]];
            let (mut x, mut y) = stage.inverse::<false, 8>(
                [x[0], y[0], x[2], y[2], x[4], y[4], x[6], y[6]],
                [x[1], y[1], x[3], y[3], x[5], y[5], x[7], y[7]],
                w,
            );
            (x, y) = (
                [x[0], x[1], y[0], y[1], x[4], x[5], y[4], y[5]],
                [x[2], x[3], y[2], y[3], x[6], x[7], y[6], y[7]],
            );
            if SIX {
                let w = [stage.twiddle(at[0] / 2), stage.twiddle(at[1] / 2)];
                let w = [w[0], w[0], w[0], w[0], w[1], w[1], w[1], w[1]];
                (x, y) = stage.inverse::<false, 8>(x, y, w);
            }
            let (x, y) = (stage.settle(x), stage.settle(y));
            let p = work.add(i * CHUNK);
            store_many(p, [x[0], x[1], x[2], x[3], y[0], y[1], y[2], y[3]]);
            store_many(
                p.add(CHUNK),
                [x[4], x[5], x[6], x[7], y[4], y[5], y[6], y[7]],
            );
        }
    }
}

/// Loads four pairs of vectors. The first vector of a pair has the even ones of sixteen successive words, the second
/// the odd ones.
#[inline(always)]
unsafe fn load_pairs<W: Words>(p: *const W::Word) -> ([__m512i; 4], [__m512i; 4]) {
    // SAFETY: p is valid for a chunk; the caller enables AVX-512 F.
    unsafe {
        let (mut x, mut y) = ([_mm512_setzero_si512(); 4], [_mm512_setzero_si512(); 4]);
        for k in 0..4 {
            (x[k], y[k]) = W::load_pairs(p.add(2 * k * LANES));
        }
        (x, y)
    }
}

/// Undoes the shuffle of the lanes of each pair of vectors ([`unshuffle`]).
#[inline(always)]
unsafe fn within<const K: usize>(
    (mut x, mut y): ([__m512i; K], [__m512i; K]),
) -> ([__m512i; K], [__m512i; K]) {
    for k in 0..K {
        // SAFETY: the caller enables AVX-512 F.
        (x[k], y[k]) = unsafe { unshuffle(x[k], y[k]) };
    }
    (x, y)
}

/// Computes two inverse stages of one block on two vectors of each quarter of the block. The first
/// stage has the twiddles v, the second the twiddle w.
#[inline(always)]
unsafe fn two_stages<A: LazyMul>(
    stage: Stage<A>,
    [a, b, c, d]: [[__m512i; 2]; 4],
    v: [A::Constant; 4],
    w: A::Constant,
) -> [[__m512i; 2]; 4] {
    // SAFETY: the caller enables the features of A.
    unsafe {
        let (x, y) =
            stage.inverse::<false, 4>([a[0], a[1], c[0], c[1]], [b[0], b[1], d[0], d[1]], v);
        let (x, y) =
            stage.inverse::<false, 4>([x[0], x[1], y[0], y[1]], [x[2], x[3], y[2], y[3]], [w; 4]);
        [[x[0], x[1]], [x[2], x[3]], [y[0], y[1]], [y[2], y[3]]]
    }
}

/// Computes two inverse stages of one block of `len` words in place. `index` is the position of the
/// twiddle of the block after these stages. The loop computes the second stage of one vector of
/// each quarter of the block together with the first stage of the next vector.
#[inline(always)]
unsafe fn double<A: LazyMul>(stage: Stage<A>, p: *mut u64, len: usize, index: usize) {
    let quarter = len / 4;
    // SAFETY: p is valid for len words, a multiple of 64; the caller enables the features of A.
    unsafe {
        let w = stage.twiddle(index);
        let (w_low, w_high) = (stage.twiddle(2 * index), stage.twiddle(2 * index + 1));
        let [[a], [b], [c], [d]] = load_quarters::<Wide, 1>(p, quarter);
        let (x, y) = stage.inverse::<false, 2>([a, c], [b, d], [w_low, w_high]);
        let mut waiting = ([x[0], y[0]], [x[1], y[1]]);
        for k in (LANES..quarter).step_by(LANES) {
            let [[a], [b], [c], [d]] = load_quarters::<Wide, 1>(p.add(k), quarter);
            let ([e, f], [g, h]) = waiting;
            let v = [w, w, w_low, w_high];
            let (x, y) = stage.inverse::<false, 4>([e, f, a, c], [g, h, b, d], v);
            store_quarters(p.add(k - LANES), quarter, [[x[0]], [x[1]], [y[0]], [y[1]]]);
            waiting = ([x[2], y[2]], [x[3], y[3]]);
        }
        let (x, y) = stage.inverse::<false, 2>(waiting.0, waiting.1, [w; 2]);
        store_quarters(
            p.add(quarter - LANES),
            quarter,
            [[x[0]], [x[1]], [y[0]], [y[1]]],
        );
    }
}

/// Computes the last two inverse stages of a limb of n words, from `from` to `to`, and multiplies
/// the results by 1/n.
#[inline(always)]
unsafe fn double_last<A: LazyMul, W: Words>(
    stage: Stage<A>,
    from: *const u64,
    to: *mut W::Word,
    n: usize,
    last: Last<A>,
) {
    let quarter = n / 4;
    // SAFETY: both pointers are valid for n words, a multiple of 64; the caller enables the features of A.
    unsafe {
        let (w_low, w_high) = (stage.twiddle(2), stage.twiddle(3));
        for k in (0..quarter).step_by(2 * LANES) {
            let [a, b, c, d] = load_quarters::<Wide, 2>(from.add(k), quarter);
            let (x, y) = stage.inverse::<false, 4>(
                [a[0], a[1], c[0], c[1]],
                [b[0], b[1], d[0], d[1]],
                [w_low, w_low, w_high, w_high],
            );
            let (x, y) =
                stage.inverse_last([x[0], x[1], y[0], y[1]], [x[2], x[3], y[2], y[3]], last);
            let out = [[x[0], x[1]], [x[2], x[3]], [y[0], y[1]], [y[2], y[3]]];
            for (j, x) in out.into_iter().enumerate() {
                W::store_products(stage, to.add(k + j * quarter), x);
            }
        }
    }
}
