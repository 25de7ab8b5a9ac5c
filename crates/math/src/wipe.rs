// SPDX-License-Identifier: Apache-2.0
//! Overwrites the stack memory in which a computation on secrets ran.
//!
//! Buffers of secrets are on the heap and wiped on drop. A compiler also keeps values and arrays on the stack if it has
//! no register for them, and somebody who searches the memory later finds them there. No type wipes such a copy, as
//! nothing names it.

use std::hint::black_box;

/// The bytes of stack that are overwritten after a computation on secrets: twice the most that such
/// computations of this workspace were seen to use. They fit into the first-level cache.
const DEPTH: usize = 16 << 10;

/// Runs `work`, then overwrites the stack that it used, to a depth of 16 KiB, even if it panics. The result is moved,
/// so it should hold its secrets on the heap.
pub fn off_the_stack<T>(work: impl FnOnce() -> T) -> T {
    let _after = Overwrite;
    below(work)
}

/// Overwrites the stack, then runs `work` there, for structures that are made once and kept. A
/// structure is moved to the heap with the gaps between its fields. Without the overwriting, these
/// gaps would hold what was on the stack before.
pub fn on_a_clean_stack<T>(work: impl FnOnce() -> T) -> T {
    overwrite();
    below(work)
}

/// Runs `work` in a stack frame of its own, at the place where [`overwrite`] has its frame.
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
    // The array is mutable, so that it is no constant in other memory. The black box may read it, so that it is
    // written.
    let mut zeros = [0u64; DEPTH / size_of::<u64>()];
    black_box(&mut zeros);
}
