// SPDX-License-Identifier: Apache-2.0
//! An elastic pipeline, and what is in it.

use std::collections::VecDeque;

use super::decode::Target;

/// An instruction in a pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Item {
    /// When it is at the end if nothing is before it.
    pub(super) ready: u64,
    pub(super) entered: u64,
    pub(super) target: Target,
}

/// A pipeline whose stages are free to move on by themselves: an item enters a stage when the one before has left it, the stage
/// may be reached again and the item has been in the stage before for a period. So it holds as many items as it has room for,
/// and the one at the end is ready when the time through all stages has passed and a period after the one before it left.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Pipe {
    /// Micro-cycles between two items.
    pub(super) period: u64,
    /// Items not known to leave; the first is to be written to the buffer.
    pub(super) items: VecDeque<Item>,
    /// When the others leave.
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

    /// When the next item may enter from `from` on, given room for `room`; `None` while that waits for a write.
    #[inline]
    pub(super) fn entry(&self, from: u64, room: usize) -> Option<u64> {
        let free = self
            .last_entry
            .map_or(from, |at| from.max(at + self.period));
        // As most often: there is room even if none has left.
        if self.items.len() + self.leaving.len() < room {
            return Some(free);
        }
        let gone = self.leaving.partition_point(|&at| at <= free);
        let inside = self.items.len() + self.leaving.len() - gone;
        let Some(over) = inside.checked_sub(room) else {
            return Some(free);
        };
        // As many must leave before.
        let at = self.leaving.get(gone + over)?;
        Some(free.max(*at))
    }

    /// Forgets what left by `now`.
    #[inline]
    pub(super) fn forget(&mut self, now: u64) {
        while self.leaving.front().is_some_and(|&at| at <= now) {
            self.leaving.pop_front();
        }
    }

    /// When all that is inside has left; `None` while that waits for a write.
    #[inline]
    pub(super) fn empty(&self, now: u64) -> Option<u64> {
        match self.items.is_empty() {
            true => Some(self.leaving.back().map_or(now, |&at| now.max(at))),
            false => None,
        }
    }

    /// When the first of those not known to leave is at the end.
    #[inline]
    pub(super) fn front(&self) -> Option<u64> {
        let item = self.items.front()?;
        let after = self.last_exit.map_or(0, |at| at + self.period);
        Some(item.ready.max(after))
    }
}
