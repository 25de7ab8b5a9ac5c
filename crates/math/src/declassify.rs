// SPDX-License-Identifier: Apache-2.0
//! The one place where a secret may decide what happens next.

/// The bit, which the program is about to act on, although it comes of a secret: what the caller then does, and how long
/// that takes, tells the bit and nothing else.
///
/// No other code branches on a secret: the tests of `tests/secrets` run it under valgrind, which sees each branch that
/// depends on one, and excepts this. They hold a list of all calls with what each may tell.
#[inline(never)]
pub fn declassify(bit: bool) -> bool {
    let mut told = false;
    // A branch, as moves would hand the dependence on. What the black box hides keeps it one.
    if bit {
        told = std::hint::black_box(true);
    }
    told
}
