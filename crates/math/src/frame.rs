// SPDX-License-Identifier: Apache-2.0
//! Where a kernel's stack begins.

use std::hint::black_box;
use std::mem::MaybeUninit;

/// The bytes of a cache line, and of the widest vector.
#[repr(align(64))]
struct Line(#[expect(dead_code, reason = "only its alignment counts")] [u8; 64]);

/// Has the function that it stands in begin its stack on a cache line. Vectors that find no register are put there, and what is put
/// there alone makes no compiler align it: a vector of 512 bits would lie across two lines, more or less often as the stack
/// happens to lie (Zen 4: 4 to 11 % of a transform).
#[inline(always)]
pub(crate) fn on_a_line() {
    let mut line = MaybeUninit::<Line>::uninit();
    black_box(&mut line);
}
