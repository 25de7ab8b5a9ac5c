// SPDX-License-Identifier: Apache-2.0
//! The state of a vector machine between two calls, without absolute times and counts, and with renumbered places of
//! the buffer.

use super::clockwork::{Clockwork, Register};
use super::decode::Target;
use super::pending::Pending;
use super::tally::Tally;

/// The micro-cycle (a time of the simulated machine) to which states are moved before they are compared. It is
/// 2^32, so that earlier times stay above 0.
const BASE: u64 = 1 << 32;

impl Clockwork {
    /// Renumbers the place of the buffer to which each instruction in the pipelines will write. `new` gets the old
    /// numbers in the order of the instructions, so that it can number the places by that order.
    fn renumber(&mut self, mut new: impl FnMut(u32) -> u32) {
        let items = self.mac.items.iter_mut();
        for item in items
            .chain(&mut self.transform.items)
            .chain(&mut self.loads)
        {
            if let Target::Chunk(spot, _) = &mut item.target {
                spot.slot = new(spot.slot);
            }
        }
    }

    /// Returns the state of a running machine whose buffer has `places` places, from this state at
    /// rest (at a fixed time, with renumbered places). `place` maps the renumbered places to those
    /// of the buffer.
    pub(super) fn awake(&self, places: u32, place: impl Fn(u32) -> u32) -> Self {
        let mut awake = self.clone();
        awake.renumber(place);
        awake.pending = vec![Pending::default(); places as usize];
        let items = awake.mac.items.iter().chain(&awake.transform.items);
        for item in items.chain(&awake.loads) {
            if let Target::Chunk(spot, how) = item.target
                && let Some(pending) = awake.pending.get_mut(spot.slot as usize)
            {
                pending.add(spot.chunk, how);
            }
        }
        awake
    }

    /// Returns the simulated machine's state at rest: at a fixed time, without counts, and with places numbered by
    /// `name`, which is called in the order of the instructions in the pipelines. Two machines whose states at rest
    /// are equal continue alike. Pending writes are left out, because they follow from those instructions.
    pub(super) fn at_rest(&self, name: impl FnMut(u32) -> u32) -> Self {
        let mut same = self.at_rest_from_now();
        same.pending = Vec::new();
        same.renumber(name);
        same
    }

    /// Returns the simulated machine with its state moved to a fixed time, and without counts.
    fn at_rest_from_now(&self) -> Self {
        let now = self.now;
        let since = |at: u64| at.saturating_sub(now);
        // Past times block nothing, except by the spacing of a period.
        let past = |at: Option<u64>, period: u64| {
            let free = at? + period;
            (free > now).then_some(at?)
        };
        let mut same = self.clone();
        same.tally = Tally::default();
        // Times may be before now; all are shifted so that they stay above zero.
        let shift = |at: u64| (BASE + at).saturating_sub(now);
        same.now = BASE;
        same.sent = 0;
        same.last_sent = past(self.last_sent, 1).map(shift);
        same.wrote = past(self.wrote, 1).map(shift);
        same.buffer_free = BASE + since(self.buffer_free);
        for pipe in [&mut same.mac, &mut same.transform] {
            let period = pipe.period;
            pipe.last_entry = past(pipe.last_entry, period).map(shift);
            pipe.last_exit = match pipe.items.is_empty() {
                true => past(pipe.last_exit, period).map(shift),
                false => pipe.last_exit.map(shift),
            };
            pipe.leaving.retain(|&at| at > now);
            pipe.leaving.iter_mut().for_each(|at| *at = shift(*at));
            for item in &mut pipe.items {
                item.ready = shift(item.ready);
                item.entered = shift(item.entered);
            }
        }
        if same.transform.items.is_empty() && same.transform.leaving.is_empty() {
            same.morphing = false;
        }
        for item in &mut same.loads {
            item.ready = BASE + since(item.ready);
            item.entered = shift(item.entered);
        }
        same.stores.retain(|&at| at > now);
        same.stores.iter_mut().for_each(|at| *at = shift(*at));
        same.channels
            .iter_mut()
            .for_each(|at| *at = BASE + since(*at));
        for register in &mut same.registers {
            if let Register::At(at) = register {
                *at = BASE + since(*at);
            }
        }
        same.queue.iter_mut().for_each(|at| *at = shift(*at));
        // If fetching instructions takes no counted time, no trace of it is left.
        same.fetched = match self.counting.instructions {
            true => (self.fetched + (BASE << 16)).saturating_sub(now << 16),
            false => 0,
        };
        same.end = BASE + since(self.end);
        same
    }
}
