// SPDX-License-Identifier: Apache-2.0
//! An elastic pipeline of the vector machine's performance simulator, and its items.

use std::collections::VecDeque;

use super::decode::Target;

/// An instruction in a pipeline of the performance simulator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Item {
    /// The micro-cycle in which the item is at the pipeline's end if no other item is before it.
    pub(super) ready: u64,
    pub(super) entered: u64,
    pub(super) target: Target,
}

/// A pipeline whose items advance independently of each other. An item enters a stage when the item before has left the
/// stage, and when both the stage's period and the item's own period in the stage before have passed. So the pipeline
/// holds as many items as it has room for. The first item is ready when the time through all stages has passed, and a
/// period after the item before it left.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Pipe {
    /// The least micro-cycles between two items that enter the pipeline.
    pub(super) period: u64,
    /// The items whose time to leave is unknown. The first of them will be written to the buffer.
    pub(super) items: VecDeque<Item>,
    /// The times at which the other items leave the pipeline.
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

    /// Returns the first micro-cycle from `from` on in which the next item may enter the pipeline, if it has room for
    /// `room` items. Returns `None` while that depends on a write to the buffer.
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
        // So many items must leave the pipeline before the next one enters.
        let at = self.leaving.get(gone + over)?;
        Some(free.max(*at))
    }

    /// Drops the items that have left the pipeline by the micro-cycle `now`.
    #[inline]
    pub(super) fn forget(&mut self, now: u64) {
        while self.leaving.front().is_some_and(|&at| at <= now) {
            self.leaving.pop_front();
        }
    }

    /// Returns the micro-cycle in which all items have left the pipeline, or `None` while that depends on a write to
    /// the buffer.
    #[inline]
    pub(super) fn empty(&self, now: u64) -> Option<u64> {
        match self.items.is_empty() {
            true => Some(self.leaving.back().map_or(now, |&at| now.max(at))),
            false => None,
        }
    }

    /// Returns the micro-cycle in which the first item whose time to leave is unknown reaches the pipeline's end.
    #[inline]
    pub(super) fn front(&self) -> Option<u64> {
        let item = self.items.front()?;
        let after = self.last_exit.map_or(0, |at| at + self.period);
        Some(item.ready.max(after))
    }
}
