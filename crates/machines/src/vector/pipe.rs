// SPDX-License-Identifier: Apache-2.0
//! An elastic pipeline of the vector machine's performance simulator, and the instructions in it, called items.

use std::collections::VecDeque;

use super::decode::Target;

/// An instruction in a pipeline of the performance simulator, with the data that it moves through the pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Item {
    /// The micro-cycle in which the instruction's result is at the pipeline's end if no earlier result is before
    /// it. A cycle of the ciphertext buffer is `micro.buffer` micro-cycles.
    pub(super) ready: u64,
    pub(super) entered: u64,
    pub(super) target: Target,
}

/// A pipeline of a unit, whose items are the instructions in it. They advance independently of each other. An item
/// enters a stage when the item before has left the stage, and when both the stage's period and the item's own
/// period in the stage before have passed. So the pipeline holds as many items as it has room for. The first item
/// is ready when the time through all stages has passed, and a period after the item before it left.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Pipe {
    /// The least time between two instructions that enter the pipeline, in micro-cycles (`micro.buffer` of them
    /// make one cycle of the ciphertext buffer).
    pub(super) period: u64,
    /// The instructions in the pipeline whose time to leave it is unknown. The first of them waits to write its
    /// result to the buffer. Those behind it cannot leave before it, whatever their results are for.
    pub(super) items: VecDeque<Item>,
    /// The micro-cycles in which the instructions ahead of [`Self::items`] leave the pipeline. A cycle of the
    /// ciphertext buffer is `micro.buffer` micro-cycles.
    pub(super) leaving: VecDeque<u64>,
    pub(super) last_entry: Option<u64>,
    pub(super) last_exit: Option<u64>,
}

impl Pipe {
    pub(super) fn new(period: u64) -> Self {
        Self {
            period,
            items: VecDeque::new(),
            leaving: VecDeque::new(),
            last_entry: None,
            last_exit: None,
        }
    }

    /// Returns the first micro-cycle from `from` on in which the next instruction may enter the pipeline, if that
    /// has room for `room` instructions. Returns `None` while that depends on a write to the buffer. A cycle of the
    /// ciphertext buffer is `micro.buffer` micro-cycles.
    #[inline]
    pub(super) fn entry(&self, from: u64, room: usize) -> Option<u64> {
        let free = self
            .last_entry
            .map_or(from, |at| from.max(at + self.period));
        // The common case: there is room even if no item has left.
        if self.items.len() + self.leaving.len() < room {
            return Some(free);
        }
        let gone = self.leaving.partition_point(|&at| at <= free);
        let inside = self.items.len() + self.leaving.len() - gone;
        let Some(over) = inside.checked_sub(room) else {
            return Some(free);
        };
        // The next item enters when `over` + 1 more items have left the pipeline.
        let at = self.leaving.get(gone + over)?;
        Some(free.max(*at))
    }

    /// Drops the instructions that have left the pipeline by the micro-cycle `now`.
    #[inline]
    pub(super) fn forget(&mut self, now: u64) {
        while self.leaving.front().is_some_and(|&at| at <= now) {
            self.leaving.pop_front();
        }
    }

    /// Returns the time at which all instructions have left the pipeline, `now` or later, in micro-cycles
    /// (`micro.buffer` of them make one cycle of the ciphertext buffer). Returns `None` while that depends on a write
    /// to the buffer.
    #[inline]
    pub(super) fn empty(&self, now: u64) -> Option<u64> {
        match self.items.is_empty() {
            true => Some(self.leaving.back().map_or(now, |&at| now.max(at))),
            false => None,
        }
    }

    /// Returns the time at which the first instruction whose time to leave is unknown reaches the pipeline's end, in
    /// micro-cycles (`micro.buffer` of them make one cycle of the ciphertext buffer). Returns `None` if no
    /// instruction's time to leave is unknown.
    #[inline]
    pub(super) fn front(&self) -> Option<u64> {
        let item = self.items.front()?;
        let after = self.last_exit.map_or(0, |at| at + self.period);
        Some(item.ready.max(after))
    }
}
