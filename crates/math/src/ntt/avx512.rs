//! The transform on eight coefficients at a time.
//!
//! Stages are taken two by two (radix 4) to halve the traffic to memory, and blocks too large for the first-level
//! cache are finished one after the other rather than stage by stage. The last three stages, in which partners sit in
//! one vector, run on two vectors whose lanes are permuted so that each stage's twiddles lie in memory in lane order.
//!
//! Between stages values are below 2 c (or 4 c where the word has room), with c = `BOUND` * q a bound on any product;
//! see [`LazyMul`] and [`Stage`].

use super::NttPlan;
use super::butterfly::{Last, Stage, shuffle, unshuffle};
use crate::Backend;
use crate::simd::{DoubleWord, Ifma, LANES, LazyMul, load, store};

/// The shortest limb these loops take.
pub(super) const MIN_LEN: usize = 4 * LANES;

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
    forward_ifma,
    forward_with,
    Ifma,
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
    inverse_ifma,
    inverse_with,
    Ifma,
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
        match plan.q.bits() {
            ..=50 if backend == Backend::Avx512Ifma => forward_ifma(plan, limb),
            ..=60 => forward_60(plan, limb),
            _ => forward_61(plan, limb),
        }
    }
}

/// Runs the inverse transform on `backend`, which must be one of this processor's AVX-512 ones.
pub(super) fn inverse(plan: &NttPlan, limb: &mut [u64], backend: Backend) {
    // SAFETY: as in `forward`.
    unsafe {
        match plan.q.bits() {
            ..=50 if backend == Backend::Avx512Ifma => inverse_ifma(plan, limb),
            ..=60 => inverse_60(plan, limb),
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
        let (mut blocks, mut len) = if odd { (2, n / 2) } else { (1, n) };
        while len > CACHED {
            for i in 0..blocks {
                forward_double(stage, p.add(i * len), len, blocks + i);
            }
            blocks *= 4;
            len /= 4;
        }
        for i in 0..blocks {
            let block = p.add(i * len);
            let (mut part_len, mut index, mut parts) = (len, blocks + i, 1);
            while part_len > LANES {
                for j in 0..parts {
                    forward_double(stage, block.add(j * part_len), part_len, index + j);
                }
                parts *= 4;
                part_len /= 4;
                index *= 4;
            }
            forward_within(stage, block, len, index);
        }
    }
}

/// The first stage of the whole limb.
#[inline(always)]
unsafe fn forward_single<A: LazyMul>(stage: Stage<A>, p: *mut u64, n: usize) {
    // SAFETY: p is valid for n words, a multiple of 16; the caller enables the features of A.
    unsafe {
        let w = stage.twiddle(1);
        for k in (0..n / 2).step_by(LANES) {
            let (low, high) = (p.add(k), p.add(n / 2 + k));
            // Inputs are below q: no correction.
            let (x, y) = stage.forward(load(low), load(high), w);
            store(low, x);
            store(high, y);
        }
    }
}

/// Two stages on one block; `index` is the position of the block's twiddle in the table (m + i for block i of m).
#[inline(always)]
unsafe fn forward_double<A: LazyMul>(stage: Stage<A>, p: *mut u64, len: usize, index: usize) {
    let quarter = len / 4;
    // SAFETY: p is valid for len words, a multiple of 32; the caller enables the features of A.
    unsafe {
        let w = stage.twiddle(index);
        let (w_low, w_high) = (stage.twiddle(2 * index), stage.twiddle(2 * index + 1));
        for k in (0..quarter).step_by(LANES) {
            let at = [
                p.add(k),
                p.add(quarter + k),
                p.add(2 * quarter + k),
                p.add(3 * quarter + k),
            ];
            let a = at.map(|p| load(p));
            let (b0, b2) = stage.forward(stage.before_first(a[0]), a[2], w);
            let (b1, b3) = stage.forward(stage.before_first(a[1]), a[3], w);
            let (c0, c1) = stage.forward(stage.before_second(b0), b1, w_low);
            let (c2, c3) = stage.forward(stage.before_second(b2), b3, w_high);
            for (p, c) in at.into_iter().zip([c0, c1, c2, c3]) {
                store(p, c);
            }
        }
    }
}

/// The last three stages on `len` coefficients; `index` is the twiddle position of their first block of eight.
#[inline(always)]
unsafe fn forward_within<A: LazyMul>(stage: Stage<A>, p: *mut u64, len: usize, index: usize) {
    // SAFETY: p is valid for len words, a multiple of 16; the caller enables the features of A.
    unsafe {
        for k in (0..len).step_by(2 * LANES) {
            let (p, at) = (p.add(k), index + k / LANES);
            let (x, y) = shuffle(load(p), load(p.add(LANES)));
            let (x, y) = stage.forward(stage.before_first(x), y, stage.two_twiddles(at));
            let (x, y) = shuffle(x, y);
            let (x, y) = stage.forward(stage.before_second(x), y, stage.four_twiddles(2 * at));
            let (x, y) = shuffle(x, y);
            let (x, y) = stage.forward(stage.before_first(x), y, stage.eight_twiddles(4 * at));
            let (x, y) = shuffle(stage.reduce_fully(x), stage.reduce_fully(y));
            store(p, x);
            store(p.add(LANES), y);
        }
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
        for i in 0..blocks {
            let block = p.add(i * len);
            let (mut part_len, mut index, mut parts) =
                (LANES, (blocks + i) * (len / LANES), len / LANES);
            inverse_within(stage, block, len, index);
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

/// The first three stages on `len` coefficients; `index` is the twiddle position of their first block of eight.
#[inline(always)]
unsafe fn inverse_within<A: LazyMul>(stage: Stage<A>, p: *mut u64, len: usize, index: usize) {
    // SAFETY: p is valid for len words, a multiple of 16; the caller enables the features of A.
    unsafe {
        for k in (0..len).step_by(2 * LANES) {
            let (p, at) = (p.add(k), index + k / LANES);
            let (x, y) = unshuffle(load(p), load(p.add(LANES)));
            let (x, y) = stage.inverse(x, y, stage.eight_twiddles(4 * at));
            let (x, y) = unshuffle(x, y);
            let (x, y) = stage.inverse(x, y, stage.four_twiddles(2 * at));
            let (x, y) = unshuffle(x, y);
            let (x, y) = stage.inverse(x, y, stage.two_twiddles(at));
            let (x, y) = unshuffle(x, y);
            store(p, x);
            store(p.add(LANES), y);
        }
    }
}

/// Two stages on one block; `index` is the twiddle position of the block they end with.
#[inline(always)]
unsafe fn inverse_double<A: LazyMul>(stage: Stage<A>, p: *mut u64, len: usize, index: usize) {
    let quarter = len / 4;
    // SAFETY: p is valid for len words, a multiple of 32; the caller enables the features of A.
    unsafe {
        let w = stage.twiddle(index);
        let (w_low, w_high) = (stage.twiddle(2 * index), stage.twiddle(2 * index + 1));
        for k in (0..quarter).step_by(LANES) {
            let at = [
                p.add(k),
                p.add(quarter + k),
                p.add(2 * quarter + k),
                p.add(3 * quarter + k),
            ];
            let a = at.map(|p| load(p));
            let (b0, b1) = stage.inverse(a[0], a[1], w_low);
            let (b2, b3) = stage.inverse(a[2], a[3], w_high);
            let (c0, c2) = stage.inverse(b0, b2, w);
            let (c1, c3) = stage.inverse(b1, b3, w);
            for (p, c) in at.into_iter().zip([c0, c1, c2, c3]) {
                store(p, c);
            }
        }
    }
}

/// The last two stages of the whole limb, with the factor 1/n.
#[inline(always)]
unsafe fn inverse_double_last<A: LazyMul>(stage: Stage<A>, p: *mut u64, n: usize, last: Last<A>) {
    let quarter = n / 4;
    // SAFETY: p is valid for n words, a multiple of 32; the caller enables the features of A.
    unsafe {
        let (w_low, w_high) = (stage.twiddle(2), stage.twiddle(3));
        for k in (0..quarter).step_by(LANES) {
            let at = [
                p.add(k),
                p.add(quarter + k),
                p.add(2 * quarter + k),
                p.add(3 * quarter + k),
            ];
            let a = at.map(|p| load(p));
            let (b0, b1) = stage.inverse(a[0], a[1], w_low);
            let (b2, b3) = stage.inverse(a[2], a[3], w_high);
            let (c0, c2) = stage.inverse_last(b0, b2, last);
            let (c1, c3) = stage.inverse_last(b1, b3, last);
            for (p, c) in at.into_iter().zip([c0, c1, c2, c3]) {
                store(p, c);
            }
        }
    }
}

/// The last stage of the whole limb, with the factor 1/n.
#[inline(always)]
unsafe fn inverse_single_last<A: LazyMul>(stage: Stage<A>, p: *mut u64, n: usize, last: Last<A>) {
    // SAFETY: p is valid for n words, a multiple of 16; the caller enables the features of A.
    unsafe {
        for k in (0..n / 2).step_by(LANES) {
            let (low, high) = (p.add(k), p.add(n / 2 + k));
            let (x, y) = stage.inverse_last(load(low), load(high), last);
            store(low, x);
            store(high, y);
        }
    }
}
