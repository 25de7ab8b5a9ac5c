// SPDX-License-Identifier: Apache-2.0
//! Aligns the stack of a SIMD function to a cache line.

use std::hint::black_box;
use std::mem::MaybeUninit;

/// A value with the alignment of a cache line, which is also that of the widest vector.
#[repr(align(64))]
struct Line(#[expect(dead_code, reason = "only its alignment counts")] [u8; 64]);

/// Makes the function into which this call is inlined begin its stack frame on a cache line. The
/// compiler puts vectors on the stack if no register is free, but does not align the stack for such
/// vectors alone. A vector of 512 bits would then cross a cache line whenever the stack is not
/// aligned. That costs 4 to 11 % of the time of a transform on Zen 4.
#[inline(always)]
pub(crate) fn on_a_line() {
    let mut line = MaybeUninit::<Line>::uninit();
    black_box(&mut line);
}
