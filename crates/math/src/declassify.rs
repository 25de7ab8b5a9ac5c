// SPDX-License-Identifier: Apache-2.0
//! Marks the only places where a program may branch on a bit that depends on a secret.

/// Returns a bit that depends on a secret, so that the program may branch on it. What the program does next, and the
/// time that it takes, reveal this bit and nothing else.
///
/// No other code branches on a secret. The tests of `tests/secrets` run the code under valgrind, which reports each
/// branch that depends on a secret, except those on the result of this function. The tests hold a list of all calls,
/// with what each may reveal.
#[inline(never)]
pub fn declassify(bit: bool) -> bool {
    let mut told = false;
    // A branch, because a conditional move would pass the dependence on. The black box keeps the compiler from
    // making it a move.
    if bit {
        told = std::hint::black_box(true);
    }
    told
}
