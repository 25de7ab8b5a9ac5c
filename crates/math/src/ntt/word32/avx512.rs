// SPDX-License-Identifier: Apache-2.0
//! Loops of the 32-bit NTT in AVX-512. They compute two stages at a time, and the six stages within
//! a block of 64 coefficients in registers.

use std::arch::x86_64::*;

use super::Ntt32;
use super::lanes::{Stage32, Vectors, shuffle, unshuffle};
use crate::frame::on_a_line;
use crate::ntt::butterfly::both;
use crate::plans::Order;

/// The number of residues in one vector.
const LANES: usize = 16;

/// The number of coefficients (four vectors) of a block whose last six stages run in registers. Loops take four blocks
/// at a time, or two if there are only two.
const TAIL: usize = 4 * LANES;

/// The shortest limb that this module's loops with AVX-512 transform, in coefficients.
pub(super) const MIN_LEN: usize = 4 * TAIL;

macro_rules! entry {
    ($name:ident, $lazy:literal) => {
        pub(super) mod $name {
            use super::*;

            #[target_feature(enable = "avx512f")]
            pub fn forward(plan: &Ntt32, limb: &mut [u32], order: Order) {
                on_a_line();
                // SAFETY: the feature is enabled here, and the limb has the length of the plan (checked by the caller).
                unsafe { forward_with::<$lazy>(plan, limb, order) }
            }

            #[target_feature(enable = "avx512f")]
            pub fn inverse(plan: &Ntt32, limb: &mut [u32], order: Order) {
                on_a_line();
                // SAFETY: as in `forward`.
                unsafe { inverse_with::<$lazy>(plan, limb, order) }
            }
        }
    };
}

entry!(lazy, true);
entry!(strict, false);

#[inline(always)]
unsafe fn load<const K: usize>(p: *const u32) -> Vectors<K> {
    // SAFETY: p is readable for K vectors; the caller enables AVX-512 F.
    unsafe {
        let mut x = [_mm512_setzero_si512(); K];
        for (k, x) in x.iter_mut().enumerate() {
            *x = _mm512_loadu_si512(p.add(k * LANES).cast());
        }
        x
    }
}

#[inline(always)]
unsafe fn store<const K: usize>(p: *mut u32, x: Vectors<K>) {
    for (k, x) in x.into_iter().enumerate() {
        // SAFETY: p is writable for K vectors; the caller enables AVX-512 F.
        unsafe { _mm512_storeu_si512(p.add(k * LANES).cast(), x) };
    }
}

#[inline(always)]
unsafe fn load_quarters(p: *const u32, quarter: usize) -> [Vectors<2>; 4] {
    // SAFETY: p is readable for two vectors at each multiple of the quarter; the caller enables AVX-512 F.
    unsafe {
        [
            load(p),
            load(p.add(quarter)),
            load(p.add(2 * quarter)),
            load(p.add(3 * quarter)),
        ]
    }
}

#[inline(always)]
unsafe fn store_quarters(p: *mut u32, quarter: usize, x: [Vectors<2>; 4]) {
    for (j, x) in x.into_iter().enumerate() {
        // SAFETY: p is writable for two vectors at each multiple of the quarter; the caller enables AVX-512 F.
        unsafe { store(p.add(j * quarter), x) };
    }
}

#[inline(always)]
unsafe fn forward_with<const LAZY: bool>(plan: &Ntt32, limb: &mut [u32], order: Order) {
    let block = order.words(size_of::<u32>());
    let n = limb.len();
    let p = limb.as_mut_ptr();
    // SAFETY: all offsets stay within the n words of the limb, n being a power of two and at least 256; the caller
    // enables AVX-512 F.
    unsafe {
        let stage = Stage32::<LAZY>::new(plan, &plan.forward);
        // Pairs of stages down to blocks of 64 leave one stage over if log2(n / 64) is odd. This stage goes first.
        let odd = (n / TAIL).trailing_zeros() % 2 == 1;
        if odd {
            forward_single(stage, p, n);
        }
        let (mut blocks, mut len) = if odd { (2, n / 2) } else { (1, n) };
        while len > block {
            for i in 0..blocks {
                forward_double(stage, p.add(i * len), len, blocks + i);
            }
            blocks *= 4;
            len /= 4;
        }
        for i in 0..blocks {
            let block = p.add(i * len);
            let (mut part_len, mut index, mut parts) = (len, blocks + i, 1);
            while part_len > TAIL {
                for j in 0..parts {
                    forward_double(stage, block.add(j * part_len), part_len, index + j);
                }
                parts *= 4;
                part_len /= 4;
                index *= 4;
            }
            forward_tail(stage, block, len, index);
        }
    }
}

/// Computes the first forward stage of a limb of n words. [`Stage32`] says what `LAZY` is.
///
/// # Safety
/// p is valid for n words, a multiple of 128; the caller enables AVX-512 F.
#[inline(always)]
pub(super) unsafe fn forward_single<const LAZY: bool>(stage: Stage32<LAZY>, p: *mut u32, n: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let w = stage.twiddle(1);
        for k in (0..n / 2).step_by(4 * LANES) {
            let (low, high) = (p.add(k), p.add(n / 2 + k));
            let (x, y) = stage.forward(load::<4>(low), load::<4>(high), [w; 4]);
            store(low, x);
            store(high, y);
        }
    }
}

/// Computes two forward stages of one block. `index` is the position of the block's twiddle in the table.
/// [`Stage32`] says what `LAZY` is.
///
/// # Safety
/// p is valid for len words, a multiple of 128. The tables of `stage` have an entry 2 `index` + 1. The caller enables
/// AVX-512 F.
#[inline(always)]
pub(super) unsafe fn forward_double<const LAZY: bool>(
    stage: Stage32<LAZY>,
    p: *mut u32,
    len: usize,
    index: usize,
) {
    let quarter = len / 4;
    // SAFETY: the caller's promise.
    unsafe {
        let w = stage.twiddle(index);
        let (w_low, w_high) = (stage.twiddle(2 * index), stage.twiddle(2 * index + 1));
        let v = [
            w_low, w_low, w_high, w_high, // of a pair's second stage
            w, w, w, w, // of the next pair's first one
        ];
        let [a, b, c, d] = load_quarters(p, quarter);
        let (x, y) = stage.forward([a[0], a[1], b[0], b[1]], [c[0], c[1], d[0], d[1]], [w; 4]);
        let mut waiting = crossed(x, y);
        for k in (2 * LANES..quarter).step_by(2 * LANES) {
            let [a, b, c, d] = load_quarters(p.add(k), quarter);
            let (x, y) = stage.forward(
                both(waiting.0, [a[0], a[1], b[0], b[1]]),
                both(waiting.1, [c[0], c[1], d[0], d[1]]),
                v,
            );
            let ((x, next_x), (y, next_y)) = (halves(x), halves(y));
            let out = [[x[0], x[1]], [y[0], y[1]], [x[2], x[3]], [y[2], y[3]]];
            store_quarters(p.add(k - 2 * LANES), quarter, out);
            waiting = crossed(next_x, next_y);
        }
        let (x, y) = stage.forward(waiting.0, waiting.1, [w_low, w_low, w_high, w_high]);
        let out = [[x[0], x[1]], [y[0], y[1]], [x[2], x[3]], [y[2], y[3]]];
        store_quarters(p.add(quarter - 2 * LANES), quarter, out);
    }
}

/// Turns the sums and differences of one stage's butterflies into the operands of the next stage's
/// butterflies.
#[inline(always)]
fn crossed(x: Vectors<4>, y: Vectors<4>) -> (Vectors<4>, Vectors<4>) {
    ([x[0], x[1], y[0], y[1]], [x[2], x[3], y[2], y[3]])
}

#[inline(always)]
fn halves<T>([a, b, c, d, e, f, g, h]: [T; 8]) -> ([T; 4], [T; 4]) {
    ([a, b, c, d], [e, f, g, h])
}

/// Computes the last six forward stages on `len` coefficients. `index` is the position of the twiddle of the first
/// block of 64. [`Stage32`] says what `LAZY` is.
#[inline(always)]
unsafe fn forward_tail<const LAZY: bool>(
    stage: Stage32<LAZY>,
    p: *mut u32,
    len: usize,
    index: usize,
) {
    // SAFETY: p is valid for len words, a multiple of 128; the caller enables AVX-512 F.
    unsafe {
        if len == 2 * TAIL {
            return forward_blocks::<LAZY, 4>(stage, p, index);
        }
        for i in (0..len / TAIL).step_by(4) {
            forward_blocks::<LAZY, 8>(stage, p.add(i * TAIL), index + i);
        }
    }
}

/// Computes the last six forward stages, as [`forward_tail`] does, on K / 2 blocks of 64 coefficients together.
/// [`Stage32`] says what `LAZY` is.
#[inline(always)]
unsafe fn forward_blocks<const LAZY: bool, const K: usize>(
    stage: Stage32<LAZY>,
    p: *mut u32,
    at: usize,
) {
    // SAFETY: p is valid for K / 2 blocks; the caller enables AVX-512 F.
    unsafe {
        let zero = _mm512_setzero_si512();
        let (mut x, mut y, mut w) = ([zero; K], [zero; K], [stage.twiddle(at); K]);
        for k in 0..K {
            let block = p.add(k / 2 * TAIL);
            [x[k]] = load(block.add(k % 2 * LANES));
            [y[k]] = load(block.add((2 + k % 2) * LANES));
            w[k] = stage.twiddle(at + k / 2);
        }
        let (x, y) = stage.forward(x, y, w);
        for (k, w) in w.iter_mut().enumerate() {
            *w = stage.twiddle(2 * at + k);
        }
        let (x, y) = turned(x, y);
        let (x, y) = shuffle_after(stage.forward(x, y, w));
        let (x, y) = shuffle_after(stage.forward(x, y, stage.turns::<2, K>(4 * at)));
        let (x, y) = shuffle_after(stage.forward(x, y, stage.turns::<4, K>(8 * at)));
        let (x, y) = shuffle_after(stage.forward(x, y, stage.turns::<8, K>(16 * at)));
        let (x, y) = stage.forward(x, y, stage.turns::<16, K>(32 * at));
        let (x, y) = shuffle(stage.reduce(x), stage.reduce(y));
        for k in 0..K {
            store(p.add(2 * k * LANES), [x[k], y[k]]);
        }
    }
}

/// Exchanges one vector of each pair with one of the neighbouring pair. The first vectors of the
/// two pairs then form one pair, and their second vectors the other pair. That turns the operands
/// of one stage's butterflies into those of the next stage's, and back.
#[inline(always)]
fn turned<const K: usize>(mut x: Vectors<K>, mut y: Vectors<K>) -> (Vectors<K>, Vectors<K>) {
    for k in (0..K).step_by(2) {
        (x[k + 1], y[k]) = (y[k], x[k + 1]);
    }
    (x, y)
}

#[inline(always)]
unsafe fn shuffle_after<const K: usize>(
    (x, y): (Vectors<K>, Vectors<K>),
) -> (Vectors<K>, Vectors<K>) {
    // SAFETY: the caller enables AVX-512 F.
    unsafe { shuffle(x, y) }
}

#[inline(always)]
unsafe fn inverse_with<const LAZY: bool>(plan: &Ntt32, limb: &mut [u32], order: Order) {
    let block = order.words(size_of::<u32>());
    let n = limb.len();
    let p = limb.as_mut_ptr();
    // SAFETY: as in `forward_with`.
    unsafe {
        let stage = Stage32::<LAZY>::new(plan, &plan.inverse);
        // The last stage stands alone; before it, pairs of stages from blocks of 64 to halves of the limb, with a
        // single one first when they are odd in number.
        let half = n / 2;
        let odd = (half / TAIL).trailing_zeros() % 2 == 1;
        let mut cached = half;
        while cached > block {
            cached /= 4;
        }
        for i in 0..n / cached {
            let block = p.add(i * cached);
            inverse_tail(stage, block, cached, (n + i * cached) / TAIL);
            let mut len = TAIL;
            if odd {
                len *= 2;
                for j in 0..cached / len {
                    let at = (n + i * cached) / len + j;
                    inverse_single(stage, block.add(j * len), len, at);
                }
            }
            while len < cached {
                len *= 4;
                for j in 0..cached / len {
                    let at = (n + i * cached) / len + j;
                    inverse_double(stage, block.add(j * len), len, at);
                }
            }
        }
        let mut len = cached;
        while len < half {
            len *= 4;
            for j in 0..n / len {
                inverse_double(stage, p.add(j * len), len, n / len + j);
            }
        }
        inverse_single_last(stage, plan, p, n);
    }
}

/// Computes the last inverse stage of a limb of n words at p, and multiplies the results by 1/n.
/// [`Stage32`] says what `LAZY` is.
///
/// # Safety
/// p is valid for n words, a multiple of 128; the caller enables AVX-512 F.
#[inline(always)]
pub(super) unsafe fn inverse_single_last<const LAZY: bool>(
    stage: Stage32<LAZY>,
    plan: &Ntt32,
    p: *mut u32,
    n: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let n_inv = Stage32::<LAZY>::splat(plan.n_inv);
        let n_inv_twiddle = Stage32::<LAZY>::splat(plan.n_inv_twiddle);
        for k in (0..n / 2).step_by(4 * LANES) {
            let (low, high) = (p.add(k), p.add(n / 2 + k));
            let (x, y) = (load::<4>(low), load::<4>(high));
            let (x, y) = stage.inverse_last(x, y, n_inv, n_inv_twiddle);
            store(low, x);
            store(high, y);
        }
    }
}

/// Computes the last two inverse stages of a limb of n words at p, and multiplies the results by
/// 1/n. [`Stage32`] says what `LAZY` is.
///
/// # Safety
/// p is valid for n words, a multiple of 128; the caller enables AVX-512 F.
#[inline(always)]
pub(super) unsafe fn inverse_double_last<const LAZY: bool>(
    stage: Stage32<LAZY>,
    plan: &Ntt32,
    p: *mut u32,
    n: usize,
) {
    let quarter = n / 4;
    // SAFETY: the caller's promise.
    unsafe {
        let n_inv = Stage32::<LAZY>::splat(plan.n_inv);
        let n_inv_twiddle = Stage32::<LAZY>::splat(plan.n_inv_twiddle);
        let (w_low, w_high) = (stage.twiddle(2), stage.twiddle(3));
        for k in (0..quarter).step_by(2 * LANES) {
            let [a0, a1, a2, a3] = load_quarters(p.add(k), quarter);
            let (b, d) = stage.inverse(
                [a0[0], a0[1], a2[0], a2[1]],
                [a1[0], a1[1], a3[0], a3[1]],
                [w_low, w_low, w_high, w_high],
            );
            let (low, high) = ([b[0], b[1], d[0], d[1]], [b[2], b[3], d[2], d[3]]);
            let (c, e) = stage.inverse_last(low, high, n_inv, n_inv_twiddle);
            let c = [[c[0], c[1]], [c[2], c[3]], [e[0], e[1]], [e[2], e[3]]];
            store_quarters(p.add(k), quarter, c);
        }
    }
}

/// Computes the first six inverse stages on `len` coefficients. `index` is the position of the twiddle of the first
/// block of 64. [`Stage32`] says what `LAZY` is.
#[inline(always)]
unsafe fn inverse_tail<const LAZY: bool>(
    stage: Stage32<LAZY>,
    p: *mut u32,
    len: usize,
    index: usize,
) {
    // SAFETY: p is valid for len words, a multiple of 128; the caller enables AVX-512 F.
    unsafe {
        if len == 2 * TAIL {
            return inverse_blocks::<LAZY, 4>(stage, p, index);
        }
        for i in (0..len / TAIL).step_by(4) {
            inverse_blocks::<LAZY, 8>(stage, p.add(i * TAIL), index + i);
        }
    }
}

/// Computes the first six inverse stages, as [`inverse_tail`] does, on K / 2 blocks of 64 coefficients together.
/// [`Stage32`] says what `LAZY` is.
#[inline(always)]
unsafe fn inverse_blocks<const LAZY: bool, const K: usize>(
    stage: Stage32<LAZY>,
    p: *mut u32,
    at: usize,
) {
    // SAFETY: p is valid for K / 2 blocks; the caller enables AVX-512 F.
    unsafe {
        let zero = _mm512_setzero_si512();
        let (mut x, mut y) = ([zero; K], [zero; K]);
        for k in 0..K {
            [x[k], y[k]] = load(p.add(2 * k * LANES));
        }
        let (x, y) = unshuffle(x, y);
        let (x, y) = stage.inverse(x, y, stage.turns::<16, K>(32 * at));
        let (x, y) = unshuffle(x, y);
        let (x, y) = stage.inverse(x, y, stage.turns::<8, K>(16 * at));
        let (x, y) = unshuffle(x, y);
        let (x, y) = stage.inverse(x, y, stage.turns::<4, K>(8 * at));
        let (x, y) = unshuffle(x, y);
        let (x, y) = stage.inverse(x, y, stage.turns::<2, K>(4 * at));
        let (x, y) = unshuffle(x, y);
        let mut w = [stage.twiddle(2 * at); K];
        for (k, w) in w.iter_mut().enumerate() {
            *w = stage.twiddle(2 * at + k);
        }
        let (x, y) = stage.inverse(x, y, w);
        let mut w = [stage.twiddle(at); K];
        for (k, w) in w.iter_mut().enumerate() {
            *w = stage.twiddle(at + k / 2);
        }
        let (x, y) = turned(x, y);
        let (x, y) = stage.inverse(x, y, w);
        for k in (0..K).step_by(2) {
            let block = p.add(k / 2 * TAIL);
            store(block, [x[k], x[k + 1], y[k], y[k + 1]]);
        }
    }
}

/// Computes one inverse stage of one block of at least 128 coefficients. `index` is the position of the block's twiddle
/// in the table. [`Stage32`] says what `LAZY` is.
#[inline(always)]
unsafe fn inverse_single<const LAZY: bool>(
    stage: Stage32<LAZY>,
    p: *mut u32,
    len: usize,
    index: usize,
) {
    // SAFETY: p is valid for len words, a multiple of 128; the caller enables AVX-512 F.
    unsafe {
        let w = stage.twiddle(index);
        for k in (0..len / 2).step_by(4 * LANES) {
            let (low, high) = (p.add(k), p.add(len / 2 + k));
            let (x, y) = stage.inverse(load::<4>(low), load::<4>(high), [w; 4]);
            store(low, x);
            store(high, y);
        }
    }
}

/// Computes two inverse stages of one block. `index` is the position of the twiddle of the block after these stages.
/// [`Stage32`] says what `LAZY` is.
///
/// # Safety
/// p is valid for len words, a multiple of 128. The tables of `stage` have an entry 2 `index` + 1. The caller enables
/// AVX-512 F.
#[inline(always)]
pub(super) unsafe fn inverse_double<const LAZY: bool>(
    stage: Stage32<LAZY>,
    p: *mut u32,
    len: usize,
    index: usize,
) {
    let quarter = len / 4;
    // SAFETY: the caller's promise.
    unsafe {
        let w = stage.twiddle(index);
        let (w_low, w_high) = (stage.twiddle(2 * index), stage.twiddle(2 * index + 1));
        for k in (0..quarter).step_by(2 * LANES) {
            let [a0, a1, a2, a3] = load_quarters(p.add(k), quarter);
            let (b, d) = stage.inverse(
                [a0[0], a0[1], a2[0], a2[1]],
                [a1[0], a1[1], a3[0], a3[1]],
                [w_low, w_low, w_high, w_high],
            );
            let (c, e) = stage.inverse([b[0], b[1], d[0], d[1]], [b[2], b[3], d[2], d[3]], [w; 4]);
            let c = [[c[0], c[1]], [c[2], c[3]], [e[0], e[1]], [e[2], e[3]]];
            store_quarters(p.add(k), quarter, c);
        }
    }
}
