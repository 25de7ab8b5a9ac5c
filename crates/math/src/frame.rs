// SPDX-License-Identifier: Apache-2.0
//! Aligns the stack of a SIMD function to a cache line.

use std::hint::black_box;
use std::mem::MaybeUninit;

/// The bytes of a cache line, and of the widest vector.
#[repr(align(64))]
struct Line(#[expect(dead_code, reason = "only its alignment counts")] [u8; 64]);

/// Makes the function into which this call is inlined begin its stack on a cache line. The compiler puts vectors on the
/// stack when no register is free, but does not align the stack for such vectors alone. A vector of 512 bits would then
/// lie across two lines, depending on where the stack happens to lie (Zen 4: 4 to 11 % of a transform).
#[inline(always)]
pub(crate) fn on_a_line() {
    let mut line = MaybeUninit::<Line>::uninit();
    black_box(&mut line);
}
