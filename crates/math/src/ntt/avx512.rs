// SPDX-License-Identifier: Apache-2.0
//! Computes the NTT on eight coefficients at a time (AVX-512).
//!
//! Two stages at a time (radix 4) halve the traffic to memory. Parts of the limb, mostly of the size of the first-level
//! cache, are finished one after the other ([`Order`](crate::plans::Order)). The last five or six forward stages, and
//! the first five or six inverse stages, run in registers. The number is such that the other stages come in pairs. Most
//! arithmetics take two chunks of 64 coefficients together, because one alone would wait for its own results. In the
//! last three stages, partners lie in one vector. These stages run on two vectors whose lanes are permuted so that each
//! stage's twiddles lie in memory in lane order.
//!
//! Between forward stages, numbers are below 2 c, or below 4 c if the word has room. Between inverse stages they are
//! below c. Some arithmetics let them grow further. Here c = `BOUND` * q is a bound on any product ([`LazyMul`],
//! [`Stage`]).
//!
//! # The floor
//!
//! 512-bit instructions run on two ports (0 and 5); a 64-bit low product takes three of their slots. The following
//! table counts the slots of a butterfly on eight coefficients; a transform has N/2 log2 N butterflies, an eighth of
//! that in vectors. Of two numbers in a cell, the second is for the inverse transform.
//!
//! | arithmetic                   | multiplications                    | moves, sums | range       | forward | inverse |
//! | ---------------------------- | ---------------------------------- | ----------- | ----------- | ------- | ------- |
//! | 52-bit, q < 2^34             | 4 (quotient, x w, q, 2x), 3        | 1, 3        | none        | 5       | 6       |
//! | 52-bit, q < 2^46             | 4, 3                               | 1, 3        | none, 2     | 5       | 8       |
//! | 52-bit, q < 2^50             | 4, 3                               | 1, 3        | 2           | 7       | 8       |
//! | the same, ranges by doubles   | 4, 3                               | 1, 3        | 3           | 8       | 9       |
//! | 52-bit, q < 2^51             | 3                                  | 4, 3        | 4           | 11      | 10      |
//! | 52-bit, 2^52 - 2^12 + 1      | 4 for the product, 3 to fold it    | 4           | none        | 11      | 11      |
//! | 64-bit, q < 2^54              | 1 for the quotient, 3 * 3 low      | 6           | 1 (2)       | 17      | 18      |
//! | 64-bit, quotients by 52-bit  | 3 for the quotient, 3 + 3 low      | 6           | 1 (2)       | 16      | 17      |
//! | 64-bit without 52-bit        | 3 for the quotient, 3 + 3 low      | 9           | 1 (2)       | 19      | 20      |
//!
//! Eight shuffles (port 5 alone) for the last three stages of every two vectors come on top, and the final reduction.
//! `docs/benchmarks.md` counts them all, and `make bench` prints this least time beside each measured time.

mod forward;
mod from;
mod inverse;
mod words;

use std::arch::x86_64::*;

pub(super) use forward::forward_block;
pub use from::{Width, forward_from, widths};
pub(super) use inverse::{inverse_block, inverse_whole};
pub(super) use words::Narrow;
use words::{Wide, Words};

use super::NttPlan;
use super::butterfly::{Last, Stage};
use crate::frame::on_a_line;
use crate::plans::Order;
use crate::simd::{
    DoubleWord, Ifma, Ifma51, Ifma54, IfmaWide, LANES, ROOMY, SMALL, SMALL_SPREAD, SPREAD, Solinas,
    TIGHT, compares_words, store,
};

/// The shortest limb that this module's loops with AVX-512 transform, in coefficients.
pub(super) const MIN_LEN: usize = 2 * CHUNK;

/// The number of coefficients of a chunk (eight vectors), whose last five or six forward stages run in registers.
const CHUNK: usize = 8 * LANES;

/// Returns the number of parts into which a block of `len` coefficients is split for the last
/// stages, after all stages before were computed in pairs. A part has 64 coefficients if log2 of
/// `len` is even, and 32 if it is odd.
fn parts_of(len: usize) -> usize {
    if len.trailing_zeros().is_multiple_of(2) {
        len / CHUNK
    } else {
        2 * len / CHUNK
    }
}

/// Returns the length of those parts of a block of `len` coefficients that are finished one after
/// the other. It is `len` divided by the least power of 4 that leaves at most `block` coefficients.
fn leaf_of(mut len: usize, block: usize) -> usize {
    while len > block {
        len /= 4;
    }
    len
}

/// Loads K vectors from memory.
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

/// Stores K vectors to memory.
#[inline(always)]
unsafe fn store_many<const K: usize>(p: *mut u64, x: [__m512i; K]) {
    for (k, x) in x.into_iter().enumerate() {
        // SAFETY: p is valid for K vectors; the caller enables AVX-512 F.
        unsafe { store(p.add(k * LANES), x) };
    }
}

/// Loads K vectors from each quarter of a block.
#[inline(always)]
unsafe fn load_quarters<W: Words, const K: usize>(
    p: *const W::Word,
    quarter: usize,
) -> [[__m512i; K]; 4] {
    // SAFETY: p is valid for K vectors at each multiple of the quarter; the caller enables AVX-512 F.
    unsafe {
        [
            load_many::<W, K>(p),
            load_many::<W, K>(p.add(quarter)),
            load_many::<W, K>(p.add(2 * quarter)),
            load_many::<W, K>(p.add(3 * quarter)),
        ]
    }
}

/// Stores K vectors to each quarter of a block.
#[inline(always)]
unsafe fn store_quarters<const K: usize>(p: *mut u64, quarter: usize, x: [[__m512i; K]; 4]) {
    for (j, x) in x.into_iter().enumerate() {
        // SAFETY: p is valid for K vectors at each multiple of the quarter; the caller enables AVX-512 F.
        unsafe { store_many(p.add(j * quarter), x) };
    }
}

/// Defines the forward and the inverse transform in one arithmetic, a way of multiplying residues ([`LazyMul`]).
macro_rules! entry {
    ($name:ident, $arithmetic:ty, $features:literal) => {
        pub(super) mod $name {
            use super::*;

            #[target_feature(enable = $features)]
            pub fn forward(plan: &NttPlan, limb: &mut [u64], order: Order) {
                on_a_line();
                let p = limb.as_mut_ptr();
                // SAFETY: the features are enabled here, and the limb has the length of the plan (checked by the
                // caller), at least `MIN_LEN`.
                unsafe {
                    let stage = Stage::<$arithmetic>::new(plan, &plan.forward, order);
                    forward_block::<_, Wide, true>(stage, p, p, limb.len(), 1);
                }
            }

            #[target_feature(enable = $features)]
            pub fn inverse(plan: &NttPlan, limb: &mut [u64], order: Order) {
                on_a_line();
                let p = limb.as_mut_ptr();
                // SAFETY: as in `forward`.
                unsafe {
                    let stage = Stage::<$arithmetic>::new(plan, &plan.inverse, order);
                    inverse_whole::<_, Wide>(stage, p, p, limb.len(), Last::new(plan));
                }
            }
        }
    };
}

entry!(ifma_34, Ifma<SMALL>, "avx512f,avx512dq,avx512ifma");
entry!(
    ifma_34_spread,
    Ifma<SMALL_SPREAD>,
    "avx512f,avx512dq,avx512ifma"
);
entry!(ifma_46, Ifma<ROOMY>, "avx512f,avx512dq,avx512ifma");
entry!(ifma_50, Ifma<TIGHT>, "avx512f,avx512dq,avx512ifma");
entry!(
    ifma_50_spread_here,
    Ifma<SPREAD>,
    "avx512f,avx512dq,avx512ifma"
);
entry!(ifma_51, Ifma51, "avx512f,avx512dq,avx512ifma");
entry!(solinas, super::Solinas, "avx512f,avx512dq,avx512ifma");
entry!(ifma_54, Ifma54<false>, "avx512f,avx512dq,avx512ifma");
entry!(ifma_54_in_step, Ifma54<true>, "avx512f,avx512dq,avx512ifma");
entry!(ifma_60, IfmaWide<true>, "avx512f,avx512dq,avx512ifma");
entry!(ifma_61, IfmaWide<false>, "avx512f,avx512dq,avx512ifma");
entry!(products_60, DoubleWord<true>, "avx512f,avx512dq");
entry!(products_61, DoubleWord<false>, "avx512f,avx512dq");

/// The transforms for primes below 2^50. They use the arithmetic [`SPREAD`] if this thread compares
/// denormal doubles as plain numbers ([`compares_words`]), otherwise the arithmetic [`TIGHT`].
pub(super) mod ifma_50_spread {
    use super::{NttPlan, Order, compares_words, ifma_50, ifma_50_spread_here};

    /// Computes the forward NTT of a limb in place, for primes below 2^50. It uses the arithmetic
    /// `SPREAD` if this thread can compare words as doubles ([`compares_words`]), otherwise the
    /// arithmetic `TIGHT`.
    ///
    /// # Safety
    /// The processor must have AVX-512 F, DQ and IFMA. The limb has the plan's length, which is at least
    /// [`MIN_LEN`](super::MIN_LEN).
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    pub fn forward(plan: &NttPlan, limb: &mut [u64], order: Order) {
        if compares_words() {
            ifma_50_spread_here::forward(plan, limb, order);
        } else {
            ifma_50::forward(plan, limb, order);
        }
    }

    /// Computes the inverse NTT of a limb in place, for primes below 2^50. It uses the arithmetic
    /// `SPREAD` if this thread can compare words as doubles ([`compares_words`]), otherwise the
    /// arithmetic `TIGHT`.
    ///
    /// # Safety
    /// The processor must have AVX-512 F, DQ and IFMA. The limb has the plan's length, which is at least
    /// [`MIN_LEN`](super::MIN_LEN).
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    pub fn inverse(plan: &NttPlan, limb: &mut [u64], order: Order) {
        if compares_words() {
            ifma_50_spread_here::inverse(plan, limb, order);
        } else {
            ifma_50::inverse(plan, limb, order);
        }
    }
}
