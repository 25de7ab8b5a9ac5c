//! The 32-bit transform in 52-bit arithmetic (AVX-512 IFMA): a butterfly of eight words takes five instructions and no
//! corrections, where sixteen words in 32-bit arithmetic take fourteen.
//!
//! Blocks are widened on the way into a buffer of 64-bit words and narrowed on the way out; the stages above them, one or
//! two at a time, stay in 32-bit arithmetic.

use std::mem::MaybeUninit;

use super::Ntt32;
use super::avx512::{
    forward_double, forward_single, inverse_double, inverse_double_last, inverse_single_last,
};
use super::lanes::Stage32;
use crate::ntt::avx512::{Narrow, forward_block, inverse_block, inverse_whole};
use crate::ntt::butterfly::{Last, Stage};
use crate::simd::{Ifma, SMALL};

pub(super) use crate::ntt::avx512::MIN_LEN;

type Arithmetic = Ifma<SMALL>;

/// The coefficients of the largest block: 128 KiB of 64-bit words, well within the second-level cache.
const WORK: usize = 1 << 14;

/// Room for a block, not filled beforehand: a transform writes all of it before it reads any.
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

/// Runs the forward transform; the backend must be `Avx512Ifma`.
pub(super) fn forward(plan: &Ntt32, limb: &mut [u32]) {
    // SAFETY: the caller's backend has the features.
    unsafe {
        match plan.q.bits() {
            ..=30 => forward_30(plan, limb),
            31 => forward_31(plan, limb),
            _ => forward_32(plan, limb),
        }
    }
}

/// Runs the inverse transform; the backend must be `Avx512Ifma`.
pub(super) fn inverse(plan: &Ntt32, limb: &mut [u32]) {
    // SAFETY: the caller's backend has the features.
    unsafe {
        match plan.q.bits() {
            ..=30 => inverse_30(plan, limb),
            31 => inverse_31(plan, limb),
            _ => inverse_32(plan, limb),
        }
    }
}

macro_rules! entry {
    ($name:ident, $generic:ident, $lazy:literal, $spare:literal) => {
        #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
        fn $name(plan: &Ntt32, limb: &mut [u32]) {
            // SAFETY: the features are enabled here, and the limb has the length of the plan (checked by the caller).
            unsafe { $generic::<$lazy, $spare>(plan, limb) }
        }
    };
}

entry!(forward_30, forward_with, true, true);
entry!(forward_31, forward_with, false, true);
entry!(forward_32, forward_with, false, false);
entry!(inverse_30, inverse_with, true, true);
entry!(inverse_31, inverse_with, false, true);
entry!(inverse_32, inverse_with, false, false);

#[inline(always)]
unsafe fn forward_with<const LAZY: bool, const SPARE: bool>(plan: &Ntt32, limb: &mut [u32]) {
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
        let stage = Stage::<Arithmetic>::new(&plan.wide, &plan.wide.forward);
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
unsafe fn inverse_with<const LAZY: bool, const SPARE: bool>(plan: &Ntt32, limb: &mut [u32]) {
    let n = limb.len();
    let p = limb.as_mut_ptr();
    let mut work = Work::new();
    // SAFETY: as in `forward_with`.
    unsafe {
        let stage = Stage::<Arithmetic>::new(&plan.wide, &plan.wide.inverse);
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
