// SPDX-License-Identifier: Apache-2.0
//! The surroundings of a simulated vector machine: distant memory, and the cycles in which it and the link let data
//! pass.

/// Distant memory by chunks, and the timing of the streams. Cycles are the machine's, counted from its reset.
pub trait Host {
    /// Returns a chunk of distant memory, its words row after row.
    fn give(&mut self, address: u32) -> Vec<u32>;

    /// Stores a chunk in distant memory.
    fn take(&mut self, address: u32, chunk: Vec<u32>);

    /// Returns whether the next instruction is offered to the queue.
    fn instructs(&mut self, _cycle: u64) -> bool {
        true
    }

    /// Returns whether the machine may ask for a chunk.
    fn is_asked(&mut self, _cycle: u64) -> bool {
        true
    }

    /// Returns the cycle from which on a chunk that was asked for in `cycle` may come; earlier chunks come first.
    fn due(&mut self, _address: u32, cycle: u64) -> u64 {
        cycle + 1
    }

    /// Returns whether the chunk that is stored next is taken.
    fn takes(&mut self, _address: u32, _cycle: u64) -> bool {
        true
    }
}
