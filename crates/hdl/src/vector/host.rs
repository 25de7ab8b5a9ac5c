// SPDX-License-Identifier: Apache-2.0
//! The surroundings of a simulated vector machine: distant memory, and the cycles in which it and the link let data
//! pass.

/// What surrounds a simulated vector machine: distant memory with its words, and the cycles in
/// which the machine's streams may move. Cycles are the machine's clock cycles from its reset.
pub trait Host {
    /// Returns the words of the chunk at an address of distant memory, row after row. A chunk is
    /// the words of one buffer access.
    fn give(&mut self, address: u32) -> Vec<u32>;

    /// Stores a chunk, the words of one buffer access, at an address of distant memory.
    fn take(&mut self, address: u32, chunk: Vec<u32>);

    /// Returns whether the host offers the next instruction to the machine's queue in this cycle.
    fn instructs(&mut self, _cycle: u64) -> bool {
        true
    }

    /// Returns whether distant memory accepts a request of the machine for a chunk in this cycle. A
    /// chunk is the words of one buffer access.
    fn is_asked(&mut self, _cycle: u64) -> bool {
        true
    }

    /// Returns the first cycle in which the chunk at an address may arrive, which the machine
    /// requested in cycle `cycle`. Chunks arrive in the order of their requests.
    fn due(&mut self, _address: u32, cycle: u64) -> u64 {
        cycle + 1
    }

    /// Returns whether distant memory takes the chunk that the machine stores at an address in this
    /// cycle.
    fn takes(&mut self, _address: u32, _cycle: u64) -> bool {
        true
    }
}
