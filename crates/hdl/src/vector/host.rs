// SPDX-License-Identifier: Apache-2.0
//! What is around the machine: distant memory, and when it and the link let something pass.

/// Distant memory by chunks, and the times of the streams. Cycles are the machine's, counted from its reset.
pub trait Host {
    /// A chunk of distant memory, its words row after row.
    fn give(&mut self, address: u32) -> Vec<u32>;

    /// A chunk for distant memory.
    fn take(&mut self, address: u32, chunk: Vec<u32>);

    /// Whether the next instruction is offered to the queue.
    fn instructs(&mut self, _cycle: u64) -> bool {
        true
    }

    /// Whether the machine may ask for a chunk.
    fn is_asked(&mut self, _cycle: u64) -> bool {
        true
    }

    /// From which cycle on a chunk that was asked for in `cycle` may come; those before it come first.
    fn due(&mut self, _address: u32, cycle: u64) -> u64 {
        cycle + 1
    }

    /// Whether the chunk that is stored next is taken.
    fn takes(&mut self, _address: u32, _cycle: u64) -> bool {
        true
    }
}
