//! The transform on eight coefficients at a time.
//!
//! Stages are taken two by two (radix 4) to halve the traffic to memory, parts that fit the first-level cache one after
//! the other. The last five or six stages (so that no single one is left over) run in registers, on two chunks of 64
//! coefficients by turns: one alone would wait for its own results. In the last three, partners sit in one vector; they
//! run on two vectors whose lanes are permuted so that each stage's twiddles lie in memory in lane order.
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
//! | 52-bit, q < 2^34             | 4 (quotient, x w, q, 2x), 3        | 1, 3        | none        | 5       | 6       |
//! | 52-bit, q < 2^46             | 4, 3                               | 1, 3        | none, 2     | 5       | 8       |
//! | 52-bit, q < 2^50             | 4, 3                               | 1, 3        | 2           | 7       | 8       |
//! | 52-bit, q < 2^51             | 3                                  | 4, 3        | 4           | 11      | 10      |
//! | 52-bit, 2^52 - 2^12 + 1      | 4 for the product, 3 to fold it    | 4           | none        | 11      | 11      |
//! | 64-bit, quotients by 52-bit  | 3 for the quotient, 3 + 3 low      | 6           | 1 (2)       | 16      | 17      |
//! | 64-bit without 52-bit        | 3 for the quotient, 3 + 3 low      | 9           | 1 (2)       | 19      | 20      |
//!
//! To this come 8 shuffles (port 5 alone) for the last three stages of each two vectors, and the final reduction:
//! `docs/benchmarks.md` counts them all, and `make bench` prints the floor beside each time.

mod forward;
mod from;
mod inverse;
mod words;

use std::arch::x86_64::*;

pub(super) use forward::forward_block;
pub(super) use from::forward_from;
pub(super) use inverse::{inverse_block, inverse_whole};
pub(super) use words::Narrow;
use words::{Wide, Words};

use super::NttPlan;
use super::butterfly::{Last, Stage};
use crate::Backend;
use crate::simd::{
    DoubleWord, Ifma, Ifma51, IfmaWide, LANES, LazyMul, ROOMY, SMALL, Solinas, TIGHT, store,
};

/// The shortest limb these loops take.
pub(super) const MIN_LEN: usize = 2 * CHUNK;

/// The coefficients (eight vectors) that run their last five or six stages in registers.
const CHUNK: usize = 8 * LANES;

/// Blocks of at most this many coefficients (32 KiB) stay in the first-level cache.
const CACHED: usize = 1 << 12;

/// The parts of a block of `len` coefficients that are left for the last stages after pairs of stages: of 64 coefficients
/// or of 32, as the logarithm is even or odd.
fn parts_of(len: usize) -> usize {
    if len.trailing_zeros().is_multiple_of(2) {
        len / CHUNK
    } else {
        2 * len / CHUNK
    }
}

/// The part of a larger block that is taken at once.
fn leaf_of(mut len: usize) -> usize {
    while len > CACHED {
        len /= 4;
    }
    len
}

/// K vectors from memory.
#[inline(always)]
unsafe fn load_many<W: Words, const K: usize>(p: *const W::Word) -> [__m512i; K] {
    // SAFETY: p is valid for K vectors; the caller enables AVX-512 F.
    unsafe {
        let mut x = [_mm512_setzero_si512(); K];
        for (k, x) in x.iter_mut().enumerate() {
            *x = W::load(p.add(k * LANES));
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

/// Two vectors from each quarter of a block.
#[inline(always)]
unsafe fn load_quarters<W: Words>(p: *const W::Word, quarter: usize) -> [[__m512i; 2]; 4] {
    // SAFETY: p is valid for two vectors at each multiple of the quarter; the caller enables AVX-512 F.
    unsafe {
        [
            load_many::<W, 2>(p),
            load_many::<W, 2>(p.add(quarter)),
            load_many::<W, 2>(p.add(2 * quarter)),
            load_many::<W, 2>(p.add(3 * quarter)),
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
    forward_ifma_34,
    forward_with,
    Ifma<SMALL>,
    "avx512f,avx512dq,avx512ifma"
);
entry!(
    forward_ifma_46,
    forward_with,
    Ifma<ROOMY>,
    "avx512f,avx512dq,avx512ifma"
);
entry!(
    forward_ifma_50,
    forward_with,
    Ifma<TIGHT>,
    "avx512f,avx512dq,avx512ifma"
);
entry!(
    forward_ifma_51,
    forward_with,
    Ifma51,
    "avx512f,avx512dq,avx512ifma"
);
entry!(
    forward_solinas,
    forward_with,
    Solinas,
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
    inverse_ifma_34,
    inverse_with,
    Ifma<SMALL>,
    "avx512f,avx512dq,avx512ifma"
);
entry!(
    inverse_ifma_46,
    inverse_with,
    Ifma<ROOMY>,
    "avx512f,avx512dq,avx512ifma"
);
entry!(
    inverse_ifma_50,
    inverse_with,
    Ifma<TIGHT>,
    "avx512f,avx512dq,avx512ifma"
);
entry!(
    inverse_ifma_51,
    inverse_with,
    Ifma51,
    "avx512f,avx512dq,avx512ifma"
);
entry!(
    inverse_solinas,
    inverse_with,
    Solinas,
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
            (Backend::Avx512Ifma, ..=34) => forward_ifma_34(plan, limb),
            (Backend::Avx512Ifma, ..=46) => forward_ifma_46(plan, limb),
            (Backend::Avx512Ifma, ..=50) => forward_ifma_50(plan, limb),
            (Backend::Avx512Ifma, 51) => forward_ifma_51(plan, limb),
            (Backend::Avx512Ifma, 52) if plan.q.value() == Solinas::P => {
                forward_solinas(plan, limb)
            }
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
            (Backend::Avx512Ifma, ..=34) => inverse_ifma_34(plan, limb),
            (Backend::Avx512Ifma, ..=46) => inverse_ifma_46(plan, limb),
            (Backend::Avx512Ifma, ..=50) => inverse_ifma_50(plan, limb),
            (Backend::Avx512Ifma, 51) => inverse_ifma_51(plan, limb),
            (Backend::Avx512Ifma, 52) if plan.q.value() == Solinas::P => {
                inverse_solinas(plan, limb)
            }
            (Backend::Avx512Ifma, ..=60) => inverse_ifma_60(plan, limb),
            (Backend::Avx512Ifma, _) => inverse_ifma_61(plan, limb),
            (_, ..=60) => inverse_60(plan, limb),
            _ => inverse_61(plan, limb),
        }
    }
}

#[inline(always)]
unsafe fn forward_with<A: LazyMul>(plan: &NttPlan, limb: &mut [u64]) {
    let p = limb.as_mut_ptr();
    // SAFETY: the limb has the plan's length, at least `MIN_LEN`; the caller enables the features of A.
    unsafe {
        let stage = Stage::<A>::new(plan, &plan.forward);
        forward_block::<A, Wide, true>(stage, p, p, limb.len(), 1);
    }
}

#[inline(always)]
unsafe fn inverse_with<A: LazyMul>(plan: &NttPlan, limb: &mut [u64]) {
    let p = limb.as_mut_ptr();
    // SAFETY: as in `forward_with`.
    unsafe {
        let stage = Stage::<A>::new(plan, &plan.inverse);
        inverse_whole::<A, Wide>(stage, p, p, limb.len(), Last::new(plan));
    }
}
