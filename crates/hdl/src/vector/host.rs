// SPDX-License-Identifier: Apache-2.0
//! The surroundings of a simulated vector machine: distant memory, and the cycles in which it and the link let data
//! pass.

/// The memory outside the vector machine (distant memory), and the timing of the machine's streams. Cycles are the
/// machine's, counted from its reset.
pub trait Host {
    /// Returns the chunk (words of one buffer access) at an address of distant memory, row after row.
    fn give(&mut self, address: u32) -> Vec<u32>;

    /// Stores a chunk, the words of one buffer access, at an address of distant memory.
    fn take(&mut self, address: u32, chunk: Vec<u32>);

    /// Returns whether the host offers the next instruction to the queue in this cycle.
    fn instructs(&mut self, _cycle: u64) -> bool {
        true
    }

    /// Returns whether distant memory accepts a request for a chunk in this cycle.
    fn is_asked(&mut self, _cycle: u64) -> bool {
        true
    }

    /// Returns the first cycle in which a chunk may arrive that was requested in `cycle`. Chunks arrive in the
    /// order of their requests.
    fn due(&mut self, _address: u32, cycle: u64) -> u64 {
        cycle + 1
    }

    /// Returns whether distant memory takes the next chunk of a store in this cycle.
    fn takes(&mut self, _address: u32, _cycle: u64) -> bool {
        true
    }
}
