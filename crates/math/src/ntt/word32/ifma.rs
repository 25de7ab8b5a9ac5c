// SPDX-License-Identifier: Apache-2.0
//! Computes the 32-bit NTT in 52-bit arithmetic (AVX-512 IFMA). A forward butterfly on eight pairs of words takes five
//! instructions and no corrections.
//!
//! Each block of at most 2^14 coefficients is converted into a buffer of 64-bit words and back. The
//! stages of larger blocks, one or two at a time, stay in 32-bit arithmetic.

use std::mem::MaybeUninit;

use super::Ntt32;
use super::avx512::{
    forward_double, forward_single, inverse_double, inverse_double_last, inverse_single_last,
};
use super::lanes::Stage32;
use crate::ntt::avx512::{Narrow, forward_block, inverse_block, inverse_whole};
use crate::ntt::butterfly::{Last, Stage};
use crate::plans::Order;
use crate::simd::{Ifma, SMALL};

pub(super) use crate::ntt::avx512::MIN_LEN;

type Arithmetic = Ifma<SMALL>;

/// The number of coefficients of the largest block that is transformed in words of 64 bits. They
/// take 128 KiB, which fit well into the second-level cache.
const WORK: usize = 1 << 14;

/// Memory in which a block of the limb is transformed in words of 64 bits. It is not initialised, because a transform
/// writes all of it before it reads any.
#[repr(align(64))]
struct Work([MaybeUninit<u64>; WORK]);

impl Work {
    #[inline(always)]
    fn new() -> Self {
        Self([MaybeUninit::uninit(); WORK])
    }

    #[inline(always)]
    fn as_mut_ptr(&mut self) -> *mut u64 {
        self.0.as_mut_ptr().cast()
    }
}

macro_rules! entry {
    ($name:ident, $lazy:literal, $spare:literal) => {
        pub(super) mod $name {
            use super::*;

            #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
            pub fn forward(plan: &Ntt32, limb: &mut [u32], order: Order) {
                // SAFETY: the features are enabled here, and the limb has the length of the plan (checked by the
                // caller).
                unsafe { forward_with::<$lazy, $spare>(plan, limb, order) }
            }

            #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
            pub fn inverse(plan: &Ntt32, limb: &mut [u32], order: Order) {
                // SAFETY: as in `forward`.
                unsafe { inverse_with::<$lazy, $spare>(plan, limb, order) }
            }
        }
    };
}

entry!(up_to_30, true, true);
entry!(up_to_31, false, true);
entry!(up_to_32, false, false);

#[inline(always)]
unsafe fn forward_with<const LAZY: bool, const SPARE: bool>(
    plan: &Ntt32,
    limb: &mut [u32],
    order: Order,
) {
    let n = limb.len();
    let p = limb.as_mut_ptr();
    let mut work = Work::new();
    // SAFETY: all offsets stay within the n words of the limb, a power of two and at least `MIN_LEN`; blocks are of at
    // most `WORK` words, the length of the buffer; the caller enables the features.
    unsafe {
        let (mut blocks, mut len) = (1, n);
        if n > WORK {
            let outer = Stage32::<LAZY>::new(plan, &plan.forward);
            if (n / WORK).trailing_zeros() % 2 == 1 {
                forward_single(outer, p, n);
                (blocks, len) = (2, n / 2);
            }
            while len > WORK {
                for i in 0..blocks {
                    forward_double(outer, p.add(i * len), len, blocks + i);
                }
                blocks *= 4;
                len /= 4;
            }
        }
        let stage = Stage::<Arithmetic>::new(&plan.wide, &plan.wide.forward, order);
        for i in 0..blocks {
            let block = p.add(i * len);
            forward_block::<_, Narrow<SPARE>, false>(
                stage,
                block,
                work.as_mut_ptr(),
                len,
                blocks + i,
            );
        }
    }
}

#[inline(always)]
unsafe fn inverse_with<const LAZY: bool, const SPARE: bool>(
    plan: &Ntt32,
    limb: &mut [u32],
    order: Order,
) {
    let n = limb.len();
    let p = limb.as_mut_ptr();
    let mut work = Work::new();
    // SAFETY: as in `forward_with`.
    unsafe {
        let stage = Stage::<Arithmetic>::new(&plan.wide, &plan.wide.inverse, order);
        if n <= WORK {
            let last = Last::new(&plan.wide);
            return inverse_whole::<_, Narrow<SPARE>>(stage, p, work.as_mut_ptr(), n, last);
        }
        for i in 0..n / WORK {
            let block = p.add(i * WORK);
            let index = n / WORK + i;
            inverse_block::<_, Narrow<SPARE>>(stage, block, work.as_mut_ptr(), WORK, index);
        }
        let outer = Stage32::<LAZY>::new(plan, &plan.inverse);
        let mut len = WORK;
        while 4 * len < n {
            len *= 4;
            for i in 0..n / len {
                inverse_double(outer, p.add(i * len), len, n / len + i);
            }
        }
        if 2 * len == n {
            inverse_single_last(outer, plan, p, n);
        } else {
            inverse_double_last(outer, plan, p, n);
        }
    }
}
