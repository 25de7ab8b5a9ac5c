//! Forward passes.

use std::arch::x86_64::*;

use super::words::{Limb, Sink, Wide, Words};
use super::{CHUNK, leaf_of, load_many, load_quarters, parts_of, store_quarters};
use crate::ntt::butterfly::{Stage, shuffle};
use crate::simd::{LANES, LazyMul};

/// The stages of a block of `len` words, by way of `work`; `index` is the position of the block's twiddle in the table.
/// `FRESH` inputs are below q. Parts that fit the first-level cache are finished one after the other, and so are the
/// parts of parts (depth first).
///
/// # Safety
/// Both pointers are valid for `len` words, a power of two and at least `MIN_LEN`; they may be one. The caller enables
/// the features of A.
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

/// The stages of a block but the first two, from `work` to `out`.
///
/// # Safety
/// `work` is as for [`forward_block`], and `out` takes `len` words. The caller enables the features of A.
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
        if len <= stage.block {
            return finish(stage, work, out, len, 4, 4 * index);
        }
        let leaf = leaf_of(len, stage.block);
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
            finish(
                stage,
                work.add(at),
                out.skip(at),
                leaf,
                1,
                first + at / leaf,
            );
        }
    }
}

/// All stages of `parts` blocks of `len` words together, from `work` to `out`; `index` is the position of the first one's
/// twiddle in the table (m + i for block i of m).
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

/// Two stages on one block, from `from` to `to`; `index` is the position of the block's twiddle. `FRESH` inputs are
/// below q.
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
        for k in (0..quarter).step_by(2 * LANES) {
            let [a, b, c, d] = load_quarters::<W>(from.add(k), quarter);
            let mut low = [a[0], a[1], b[0], b[1]];
            if !FRESH {
                low = stage.before::<false, 4>(low);
            }
            let (x, y) = stage.forward(low, [c[0], c[1], d[0], d[1]], [w; 4]);
            let low = stage.before::<true, 4>([x[0], x[1], y[0], y[1]]);
            let w = [w_low, w_low, w_high, w_high];
            let (x, y) = stage.forward(low, [x[2], x[3], y[2], y[3]], w);
            let out = [[x[0], x[1]], [y[0], y[1]], [x[2], x[3]], [y[2], y[3]]];
            store_quarters(to.add(k), quarter, out);
        }
    }
}

/// The last five stages, or `SIX`, on chunks of eight vectors; `index` is the twiddle position of the first block of 32
/// coefficients. Chunks go two by two, so that each hides the latency of the other.
#[inline(always)]
unsafe fn tail<A: LazyMul, S: Sink<A>, const SIX: bool>(
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
            let mut v: [[__m512i; 8]; 2] =
                [load_many::<Wide, 8>(p), load_many::<Wide, 8>(p.add(CHUNK))];
            let at = [index + 2 * i, index + 2 * i + 2];
            if SIX {
                for c in 0..2 {
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
            for c in 0..2 {
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
            for c in 0..2 {
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
                v[c] = within(stage.forward(x, [e, f, g, h], w));
            }
            for c in 0..2 {
                let (x, y) = pair(v[c]);
                let x = stage.before::<SIX, 4>(x);
                v[c] = within(stage.forward(x, y, stage.twos(4 * at[c])));
            }
            for c in 0..2 {
                let (x, y) = pair(v[c]);
                let x = if SIX {
                    stage.before::<false, 4>(x)
                } else {
                    stage.before::<true, 4>(x)
                };
                v[c] = within(stage.forward(x, y, stage.fours(8 * at[c])));
            }
            for c in 0..2 {
                let (x, y) = pair(v[c]);
                let (x, y) = stage.forward(stage.before::<SIX, 4>(x), y, stage.eights(16 * at[c]));
                out.skip((i + c) * CHUNK).put(stage, x, y);
            }
        }
    }
}

/// [`shuffle`] of each of four pairs.
#[inline(always)]
unsafe fn within((mut x, mut y): ([__m512i; 4], [__m512i; 4])) -> [__m512i; 8] {
    for k in 0..4 {
        // SAFETY: the caller enables AVX-512 F.
        (x[k], y[k]) = unsafe { shuffle(x[k], y[k]) };
    }
    [x[0], x[1], x[2], x[3], y[0], y[1], y[2], y[3]]
}

/// The first elements of four pairs, and the second ones.
#[inline(always)]
fn pair([a, b, c, d, e, f, g, h]: [__m512i; 8]) -> ([__m512i; 4], [__m512i; 4]) {
    ([a, b, c, d], [e, f, g, h])
}
