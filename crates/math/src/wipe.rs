// SPDX-License-Identifier: Apache-2.0
//! Overwrites the stack on which a computation on secrets ran.
//!
//! Buffers of secrets are on the heap and wiped when they are dropped. Beside them a compiler keeps values and arrays
//! on the stack if it has no register for them, and a later search of memory finds them there. No type wipes such a
//! copy, as nothing names it.

use std::hint::black_box;

/// Bytes of stack that are overwritten: twice the depth that the computations of this workspace were seen to use. All
/// of them are written, into the first-level cache.
const DEPTH: usize = 16 << 10;

/// Runs `work`, then overwrites the stack that it used, to a depth of 16 KiB, also when it panics. The result is moved,
/// so it should hold its secrets on the heap.
pub fn off_the_stack<T>(work: impl FnOnce() -> T) -> T {
    let _after = Overwrite;
    below(work)
}

/// Overwrites the stack, then runs `work` there, for structures that are made once and stay. A structure is moved to
/// the heap with the gaps between its fields, which hold what lay on the stack before.
pub fn on_a_clean_stack<T>(work: impl FnOnce() -> T) -> T {
    overwrite();
    below(work)
}

/// Runs the work in a frame of its own, at the place where [`overwrite`] has its own frame.
#[inline(never)]
fn below<T>(work: impl FnOnce() -> T) -> T {
    work()
}

struct Overwrite;

impl Drop for Overwrite {
    fn drop(&mut self) {
        overwrite();
    }
}

#[inline(never)]
fn overwrite() {
    // Mutable, so that it is no constant elsewhere. The black box reads it, so that it is written.
    let mut zeros = [0u64; DEPTH / size_of::<u64>()];
    black_box(&mut zeros);
}
