//! The transform on eight coefficients at a time.
//!
//! Stages are taken two by two (radix 4) to halve the traffic to memory, and blocks too large for the first-level
//! cache are finished one after the other rather than stage by stage. The last three stages, in which partners sit in
//! one vector, run on two vectors whose lanes are permuted so that each stage's twiddles lie in memory in lane order.
//!
//! Between stages values are below 2 c (or 4 c where the word has room), with c = `BOUND` * q a bound on any product;
//! see [`LazyMul`] and [`Stage`].
//!
//! # The floor
//!
//! 512-bit instructions run on two ports (0 and 5), a 64-bit low product taking three of their slots. Slots of a
//! butterfly on eight coefficients (an eighth of N/2 log2 N butterflies):
//!
//! | arithmetic                   | multiplications                    | moves, sums | range       | forward | inverse |
//! | ---------------------------- | ---------------------------------- | ----------- | ----------- | ------- | ------- |
//! | 52-bit, q < 2^46             | 4 (quotient, x w, q, 2x)           | 1           | none        | 5       | 9       |
//! | 52-bit, q < 2^50             | 4                                  | 1           | 2           | 7       | 9       |
//! | 64-bit, quotients by 52-bit  | 3 for the quotient, 3 + 3 low      | 6           | 1 (2)       | 16      | 17      |
//! | 64-bit without 52-bit        | 3 for the quotient, 3 + 3 low      | 9           | 1 (2)       | 19      | 20      |
//!
//! To this come 8 shuffles (port 5 alone) for the last three stages of each two vectors, and the final reduction. At
//! N = 2^14, q < 2^60: 14336 butterflies of 16 slots are 115 thousand cycles, with shuffles and reduction 127 thousand;
//! at q < 2^50, 50 and 62 thousand.

use std::arch::x86_64::*;

use super::NttPlan;
use super::butterfly::{Last, Stage, shuffle, unshuffle};
use crate::Backend;
use crate::simd::{DoubleWord, Ifma, IfmaWide, LANES, LazyMul, load, store};

/// The shortest limb these loops take.
pub(super) const MIN_LEN: usize = 2 * TAIL;

/// Blocks of this many coefficients (four vectors) run their last five stages in registers.
const TAIL: usize = 4 * LANES;

/// Blocks of at most this many coefficients (32 KiB) stay in the first-level cache.
const CACHED: usize = 1 << 12;

/// A transform from which the arithmetic has been chosen.
macro_rules! entry {
    ($name:ident, $generic:ident, $arithmetic:ty, $features:literal) => {
        #[target_feature(enable = $features)]
        fn $name(plan: &NttPlan, limb: &mut [u64]) {
            // SAFETY: the features are enabled here, and the limb has the length of the plan (checked by the caller).
            unsafe { $generic::<$arithmetic>(plan, limb) }
        }
    };
}

entry!(
    forward_ifma_46,
    forward_with,
    Ifma<true>,
    "avx512f,avx512dq,avx512ifma"
);
entry!(
    forward_ifma_50,
    forward_with,
    Ifma<false>,
    "avx512f,avx512dq,avx512ifma"
);
entry!(
    forward_ifma_60,
    forward_with,
    IfmaWide<true>,
    "avx512f,avx512dq,avx512ifma"
);
entry!(
    forward_ifma_61,
    forward_with,
    IfmaWide<false>,
    "avx512f,avx512dq,avx512ifma"
);
entry!(
    forward_60,
    forward_with,
    DoubleWord<true>,
    "avx512f,avx512dq"
);
entry!(
    forward_61,
    forward_with,
    DoubleWord<false>,
    "avx512f,avx512dq"
);
entry!(
    inverse_ifma_46,
    inverse_with,
    Ifma<true>,
    "avx512f,avx512dq,avx512ifma"
);
entry!(
    inverse_ifma_50,
    inverse_with,
    Ifma<false>,
    "avx512f,avx512dq,avx512ifma"
);
entry!(
    inverse_ifma_60,
    inverse_with,
    IfmaWide<true>,
    "avx512f,avx512dq,avx512ifma"
);
entry!(
    inverse_ifma_61,
    inverse_with,
    IfmaWide<false>,
    "avx512f,avx512dq,avx512ifma"
);
entry!(
    inverse_60,
    inverse_with,
    DoubleWord<true>,
    "avx512f,avx512dq"
);
entry!(
    inverse_61,
    inverse_with,
    DoubleWord<false>,
    "avx512f,avx512dq"
);

/// Runs the forward transform on `backend`, which must be one of this processor's AVX-512 ones.
pub(super) fn forward(plan: &NttPlan, limb: &mut [u64], backend: Backend) {
    // SAFETY: `Backend::current` only gives backends whose features the processor has.
    unsafe {
        match (backend, plan.q.bits()) {
            (Backend::Avx512Ifma, ..=46) => forward_ifma_46(plan, limb),
            (Backend::Avx512Ifma, ..=50) => forward_ifma_50(plan, limb),
            (Backend::Avx512Ifma, ..=60) => forward_ifma_60(plan, limb),
            (Backend::Avx512Ifma, _) => forward_ifma_61(plan, limb),
            (_, ..=60) => forward_60(plan, limb),
            _ => forward_61(plan, limb),
        }
    }
}

/// Runs the inverse transform on `backend`, which must be one of this processor's AVX-512 ones.
pub(super) fn inverse(plan: &NttPlan, limb: &mut [u64], backend: Backend) {
    // SAFETY: as in `forward`.
    unsafe {
        match (backend, plan.q.bits()) {
            (Backend::Avx512Ifma, ..=46) => inverse_ifma_46(plan, limb),
            (Backend::Avx512Ifma, ..=50) => inverse_ifma_50(plan, limb),
            (Backend::Avx512Ifma, ..=60) => inverse_ifma_60(plan, limb),
            (Backend::Avx512Ifma, _) => inverse_ifma_61(plan, limb),
            (_, ..=60) => inverse_60(plan, limb),
            _ => inverse_61(plan, limb),
        }
    }
}

#[inline(always)]
unsafe fn forward_with<A: LazyMul>(plan: &NttPlan, limb: &mut [u64]) {
    let n = limb.len();
    let p = limb.as_mut_ptr();
    // SAFETY: all offsets below stay within the n words of the limb; the caller enables the features of A.
    unsafe {
        let stage = Stage::<A>::new(plan, &plan.forward);
        // Two by two leaves an odd stage out when log2(n / 8) is odd: it goes first.
        let odd = (n / LANES).trailing_zeros() % 2 == 1;
        if odd {
            forward_single(stage, p, n);
        }
        let (mut blocks, mut len) = if odd { (2, n / 2) } else { (4, n / 4) };
        if !odd {
            forward_double::<A, true>(stage, p, n, 1);
        }
        while len > CACHED {
            for i in 0..blocks {
                forward_double::<A, false>(stage, p.add(i * len), len, blocks + i);
            }
            blocks *= 4;
            len /= 4;
        }
        if len == TAIL {
            // The tail takes two blocks at a time.
            return forward_tail(stage, p, n, blocks);
        }
        for i in 0..blocks {
            let block = p.add(i * len);
            let (mut part_len, mut index, mut parts) = (len, blocks + i, 1);
            while part_len > TAIL {
                for j in 0..parts {
                    forward_double::<A, false>(stage, block.add(j * part_len), part_len, index + j);
                }
                parts *= 4;
                part_len /= 4;
                index *= 4;
            }
            forward_tail(stage, block, len, index);
        }
    }
}

/// The first stage of the whole limb.
#[inline(always)]
unsafe fn forward_single<A: LazyMul>(stage: Stage<A>, p: *mut u64, n: usize) {
    // SAFETY: p is valid for n words, a multiple of 64; the caller enables the features of A.
    unsafe {
        let w = stage.twiddle(1);
        for k in (0..n / 2).step_by(4 * LANES) {
            let (low, high) = (p.add(k), p.add(n / 2 + k));
            // Inputs are below q: no correction.
            let (x, y) = stage.forward(load_many(low), load_many(high), [w; 4]);
            store_many(low, x);
            store_many(high, y);
        }
    }
}

/// Two stages on one block; `index` is the position of the block's twiddle in the table (m + i for block i of m).
/// `FRESH` inputs are below q.
#[inline(always)]
unsafe fn forward_double<A: LazyMul, const FRESH: bool>(
    stage: Stage<A>,
    p: *mut u64,
    len: usize,
    index: usize,
) {
    let quarter = len / 4;
    // SAFETY: p is valid for len words, a multiple of 64; the caller enables the features of A.
    unsafe {
        let w = stage.twiddle(index);
        let (w_low, w_high) = (stage.twiddle(2 * index), stage.twiddle(2 * index + 1));
        for k in (0..quarter).step_by(2 * LANES) {
            let p = p.add(k);
            let a = load_quarters(p, quarter);
            let v = [w_low, w_low, w_high, w_high];
            let c = double_butterfly::<A, FRESH>(stage, a, [w; 4], v);
            store_quarters(p, quarter, c);
        }
    }
}

/// Two vectors from each quarter of a block.
#[inline(always)]
unsafe fn load_quarters(p: *const u64, quarter: usize) -> [[__m512i; 2]; 4] {
    // SAFETY: p is valid for two vectors at each multiple of the quarter; the caller enables AVX-512 F.
    unsafe {
        [
            load_many(p),
            load_many(p.add(quarter)),
            load_many(p.add(2 * quarter)),
            load_many(p.add(3 * quarter)),
        ]
    }
}

/// Two vectors to each quarter of a block.
#[inline(always)]
unsafe fn store_quarters(p: *mut u64, quarter: usize, x: [[__m512i; 2]; 4]) {
    for (j, x) in x.into_iter().enumerate() {
        // SAFETY: p is valid for two vectors at each multiple of the quarter; the caller enables AVX-512 F.
        unsafe { store_many(p.add(j * quarter), x) };
    }
}

/// Two stages on four pairs of vectors a distance apart: the first with the twiddles w, the second with v. `FRESH`
/// inputs are below q, and need no correction.
#[inline(always)]
unsafe fn double_butterfly<A: LazyMul, const FRESH: bool>(
    stage: Stage<A>,
    [a0, a1, a2, a3]: [[__m512i; 2]; 4],
    w: [A::Constant; 4],
    v: [A::Constant; 4],
) -> [[__m512i; 2]; 4] {
    // SAFETY: the caller enables the features of A.
    unsafe {
        let mut low = [a0[0], a0[1], a1[0], a1[1]];
        if !FRESH {
            low = stage.before_first(low);
        }
        let (b, c) = stage.forward(low, [a2[0], a2[1], a3[0], a3[1]], w);
        let low = stage.before_second([b[0], b[1], c[0], c[1]]);
        let (d, e) = stage.forward(low, [b[2], b[3], c[2], c[3]], v);
        [[d[0], d[1]], [e[0], e[1]], [d[2], d[3]], [e[2], e[3]]]
    }
}

/// The last five stages on `len` coefficients, two blocks of 32 at a time; `index` is the twiddle position of the first
/// of these blocks.
#[inline(always)]
unsafe fn forward_tail<A: LazyMul>(stage: Stage<A>, p: *mut u64, len: usize, index: usize) {
    // SAFETY: p is valid for len words, a multiple of 64; the caller enables the features of A.
    unsafe {
        for i in (0..len / TAIL).step_by(2) {
            let (p, at) = (p.add(i * TAIL), index + i);
            let a = load_many::<4>(p);
            let b = load_many::<4>(p.add(TAIL));
            let a = [[a[0], b[0]], [a[1], b[1]], [a[2], b[2]], [a[3], b[3]]];
            let (w, w_next) = (stage.twiddle(at), stage.twiddle(at + 1));
            let v = [
                stage.twiddle(2 * at),
                stage.twiddle(2 * at + 2),
                stage.twiddle(2 * at + 1),
                stage.twiddle(2 * at + 3),
            ];
            let w = [w, w_next, w, w_next];
            let [c0, c1, c2, c3] = double_butterfly::<A, false>(stage, a, w, v);
            let (x, y) = within(
                stage,
                [c0[0], c2[0], c0[1], c2[1]],
                [c1[0], c3[0], c1[1], c3[1]],
                4 * at,
            );
            for j in 0..4 {
                store(p.add(2 * j * LANES), x[j]);
                store(p.add((2 * j + 1) * LANES), y[j]);
            }
        }
    }
}

/// The last three stages on four pairs of neighbouring vectors; `index` is the twiddle position of the first block of
/// eight.
#[inline(always)]
unsafe fn within<A: LazyMul>(
    stage: Stage<A>,
    x: [__m512i; 4],
    y: [__m512i; 4],
    index: usize,
) -> ([__m512i; 4], [__m512i; 4]) {
    // SAFETY: the caller enables the features of A.
    unsafe {
        let (x, y) = shuffle_many(x, y);
        let (x, y) = stage.forward(stage.before_first(x), y, stage.twos(index));
        let (x, y) = shuffle_many(x, y);
        let (x, y) = stage.forward(stage.before_second(x), y, stage.fours(2 * index));
        let (x, y) = shuffle_many(x, y);
        let (x, y) = stage.forward(stage.before_first(x), y, stage.eights(4 * index));
        shuffle_many(stage.reduce_fully(x), stage.reduce_fully(y))
    }
}

/// [`shuffle`] of each pair.
#[inline(always)]
unsafe fn shuffle_many<const K: usize>(
    mut x: [__m512i; K],
    mut y: [__m512i; K],
) -> ([__m512i; K], [__m512i; K]) {
    for k in 0..K {
        // SAFETY: the caller enables AVX-512 F.
        (x[k], y[k]) = unsafe { shuffle(x[k], y[k]) };
    }
    (x, y)
}

/// [`unshuffle`] of each pair.
#[inline(always)]
unsafe fn unshuffle_many<const K: usize>(
    mut x: [__m512i; K],
    mut y: [__m512i; K],
) -> ([__m512i; K], [__m512i; K]) {
    for k in 0..K {
        // SAFETY: the caller enables AVX-512 F.
        (x[k], y[k]) = unsafe { unshuffle(x[k], y[k]) };
    }
    (x, y)
}

/// K vectors from memory.
#[inline(always)]
unsafe fn load_many<const K: usize>(p: *const u64) -> [__m512i; K] {
    // SAFETY: p is valid for K vectors; the caller enables AVX-512 F.
    unsafe {
        let mut x = [_mm512_setzero_si512(); K];
        for (k, x) in x.iter_mut().enumerate() {
            *x = load(p.add(k * LANES));
        }
        x
    }
}

/// K vectors to memory.
#[inline(always)]
unsafe fn store_many<const K: usize>(p: *mut u64, x: [__m512i; K]) {
    for (k, x) in x.into_iter().enumerate() {
        // SAFETY: p is valid for K vectors; the caller enables AVX-512 F.
        unsafe { store(p.add(k * LANES), x) };
    }
}

#[inline(always)]
unsafe fn inverse_with<A: LazyMul>(plan: &NttPlan, limb: &mut [u64]) {
    let n = limb.len();
    let p = limb.as_mut_ptr();
    // SAFETY: all offsets below stay within the n words of the limb; the caller enables the features of A.
    unsafe {
        let stage = Stage::<A>::new(plan, &plan.inverse);
        let last = Last::<A>::new(plan);
        let odd = (n / LANES).trailing_zeros() % 2 == 1;
        let (mut blocks, mut len) = if odd { (2, n / 2) } else { (1, n) };
        while len > CACHED {
            blocks *= 4;
            len /= 4;
        }
        if len == TAIL {
            // The tail takes two blocks at a time.
            inverse_tail(stage, p, n, blocks);
            return inverse_single_last(stage, p, n, last);
        }
        for i in 0..blocks {
            let block = p.add(i * len);
            let (mut part_len, mut parts) = (TAIL, len / TAIL);
            let mut index = (blocks + i) * parts;
            inverse_tail(stage, block, len, index);
            while part_len < len {
                part_len *= 4;
                index /= 4;
                parts /= 4;
                for j in 0..parts {
                    inverse_two(stage, last, n, block.add(j * part_len), part_len, index + j);
                }
            }
        }
        while blocks > 2 {
            blocks /= 4;
            len *= 4;
            for i in 0..blocks {
                inverse_two(stage, last, n, p.add(i * len), len, blocks + i);
            }
        }
        if odd {
            inverse_single_last(stage, p, n, last);
        }
    }
}

/// Two stages on one block of a limb of n words: the last two when the block is the limb. A function, because a closure
/// would not be compiled with the caller's features.
#[inline(always)]
unsafe fn inverse_two<A: LazyMul>(
    stage: Stage<A>,
    last: Last<A>,
    n: usize,
    p: *mut u64,
    len: usize,
    index: usize,
) {
    // SAFETY: p is valid for len words; the caller enables the features of A.
    unsafe {
        if len == n {
            inverse_double_last(stage, p, n, last)
        } else {
            inverse_double(stage, p, len, index)
        }
    }
}

/// The first five stages on `len` coefficients, two blocks of 32 at a time; `index` is the twiddle position of the first
/// of these blocks.
#[inline(always)]
unsafe fn inverse_tail<A: LazyMul>(stage: Stage<A>, p: *mut u64, len: usize, index: usize) {
    // SAFETY: p is valid for len words, a multiple of 64; the caller enables the features of A.
    unsafe {
        for i in (0..len / TAIL).step_by(2) {
            let (p, at) = (p.add(i * TAIL), index + i);
            let a = load_many::<8>(p);
            let (x, y) = inverse_within(
                stage,
                [a[0], a[2], a[4], a[6]],
                [a[1], a[3], a[5], a[7]],
                4 * at,
            );
            let (w, w_next) = (stage.twiddle(at), stage.twiddle(at + 1));
            let v = [
                stage.twiddle(2 * at),
                stage.twiddle(2 * at + 2),
                stage.twiddle(2 * at + 1),
                stage.twiddle(2 * at + 3),
            ];
            let c = [[x[0], x[2]], [y[0], y[2]], [x[1], x[3]], [y[1], y[3]]];
            let c = inverse_double_butterfly(stage, c, v, [w, w_next, w, w_next]);
            for (j, [a, b]) in c.into_iter().enumerate() {
                store(p.add(j * LANES), a);
                store(p.add(TAIL + j * LANES), b);
            }
        }
    }
}

/// The first three stages on four pairs of neighbouring vectors; `index` is the twiddle position of the first block of
/// eight.
#[inline(always)]
unsafe fn inverse_within<A: LazyMul>(
    stage: Stage<A>,
    x: [__m512i; 4],
    y: [__m512i; 4],
    index: usize,
) -> ([__m512i; 4], [__m512i; 4]) {
    // SAFETY: the caller enables the features of A.
    unsafe {
        let (x, y) = unshuffle_many(x, y);
        let (x, y) = stage.inverse::<true, 4>(x, y, stage.eights(4 * index));
        let (x, y) = unshuffle_many(x, y);
        let (x, y) = stage.inverse::<false, 4>(x, y, stage.fours(2 * index));
        let (x, y) = unshuffle_many(x, y);
        let (x, y) = stage.inverse::<false, 4>(x, y, stage.twos(index));
        unshuffle_many(x, y)
    }
}

/// Two inverse stages on four pairs of vectors a distance apart: the first with the twiddles v, the second with w.
#[inline(always)]
unsafe fn inverse_double_butterfly<A: LazyMul>(
    stage: Stage<A>,
    [a0, a1, a2, a3]: [[__m512i; 2]; 4],
    v: [A::Constant; 4],
    w: [A::Constant; 4],
) -> [[__m512i; 2]; 4] {
    // SAFETY: the caller enables the features of A.
    unsafe {
        let (b, d) = stage.inverse::<false, 4>(
            [a0[0], a0[1], a2[0], a2[1]],
            [a1[0], a1[1], a3[0], a3[1]],
            v,
        );
        let (c, e) =
            stage.inverse::<false, 4>([b[0], b[1], d[0], d[1]], [b[2], b[3], d[2], d[3]], w);
        [[c[0], c[1]], [c[2], c[3]], [e[0], e[1]], [e[2], e[3]]]
    }
}

/// Two stages on one block; `index` is the twiddle position of the block they end with.
#[inline(always)]
unsafe fn inverse_double<A: LazyMul>(stage: Stage<A>, p: *mut u64, len: usize, index: usize) {
    let quarter = len / 4;
    // SAFETY: p is valid for len words, a multiple of 64; the caller enables the features of A.
    unsafe {
        let w = stage.twiddle(index);
        let (w_low, w_high) = (stage.twiddle(2 * index), stage.twiddle(2 * index + 1));
        for k in (0..quarter).step_by(2 * LANES) {
            let p = p.add(k);
            let a = load_quarters(p, quarter);
            let c = inverse_double_butterfly(stage, a, [w_low, w_low, w_high, w_high], [w; 4]);
            store_quarters(p, quarter, c);
        }
    }
}

/// The last two stages of the whole limb, with the factor 1/n.
#[inline(always)]
unsafe fn inverse_double_last<A: LazyMul>(stage: Stage<A>, p: *mut u64, n: usize, last: Last<A>) {
    let quarter = n / 4;
    // SAFETY: p is valid for n words, a multiple of 64; the caller enables the features of A.
    unsafe {
        let (w_low, w_high) = (stage.twiddle(2), stage.twiddle(3));
        for k in (0..quarter).step_by(2 * LANES) {
            let p = p.add(k);
            let [a0, a1, a2, a3] = load_quarters(p, quarter);
            let (b, d) = stage.inverse::<false, 4>(
                [a0[0], a0[1], a2[0], a2[1]],
                [a1[0], a1[1], a3[0], a3[1]],
                [w_low, w_low, w_high, w_high],
            );
            let (c, e) =
                stage.inverse_last([b[0], b[1], d[0], d[1]], [b[2], b[3], d[2], d[3]], last);
            let c = [[c[0], c[1]], [c[2], c[3]], [e[0], e[1]], [e[2], e[3]]];
            store_quarters(p, quarter, c);
        }
    }
}

/// The last stage of the whole limb, with the factor 1/n.
#[inline(always)]
unsafe fn inverse_single_last<A: LazyMul>(stage: Stage<A>, p: *mut u64, n: usize, last: Last<A>) {
    // SAFETY: p is valid for n words, a multiple of 64; the caller enables the features of A.
    unsafe {
        for k in (0..n / 2).step_by(4 * LANES) {
            let (low, high) = (p.add(k), p.add(n / 2 + k));
            let (x, y) = stage.inverse_last::<4>(load_many(low), load_many(high), last);
            store_many(low, x);
            store_many(high, y);
        }
    }
}
