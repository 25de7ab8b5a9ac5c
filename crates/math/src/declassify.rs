// SPDX-License-Identifier: Apache-2.0
//! Marks the only places where a program may branch on a bit that depends on a secret.

/// Returns a bit that depends on a secret, so that the program may act on it. The caller's next steps, and the time
/// that they take, tell this bit and nothing else.
///
/// No other code branches on a secret. The tests of `tests/secrets` run it under valgrind, which reports each branch
/// that depends on a secret, except those on this function's result. The tests hold a list of all calls with what each
/// may tell.
#[inline(never)]
pub fn declassify(bit: bool) -> bool {
    let mut told = false;
    // A branch, as moves would hand the dependence on. What the black box hides keeps it one.
    if bit {
        told = std::hint::black_box(true);
    }
    told
}
