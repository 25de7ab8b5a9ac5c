// SPDX-License-Identifier: Apache-2.0
//! A cycle-by-cycle model of a command of the shared base-extension unit whose streams stall at the memory's port.
//!
//! The module models `rm_basext_job` and `rm_basext_shared_rows` with their register stage and output queue, without
//! data.

use std::collections::VecDeque;
use std::num::NonZeroU64;

use super::port::{Port, Rate};
use super::replay::Skid;
use super::shared::latency;
use super::{Extension, Shared};

impl Shared {
    /// Returns the cycles from the command of a base extension until its last beat is in memory. The unit's streams
    /// go through a memory port of the given rate. The result equals [`Shared::cycles`] if the port stalls no stream.
    /// The extension must have at least one source and one target.
    pub fn cycles_through(
        self,
        rate: Rate,
        extension: Extension,
        (l, k): (usize, usize),
        log_n: u32,
        polynomials: NonZeroU64,
    ) -> u64 {
        let polynomials = polynomials.get();
        if rate.never_stalls() {
            return self.cycles(extension, l, k, log_n, polynomials);
        }
        replay(self, rate, extension, (l, k), log_n, polynomials)
    }
}

/// The registers of the shared unit's control at the start of a row, which is one pass over the
/// coefficients of a residue. `slot` is the row's index in its round, the work on one batch of
/// targets. `fresh` says that the row reads source residues from the input stream, `drain` that
/// only outputs remain.
struct Rows {
    exact: bool,
    l: u64,
    k: u64,
    batch: u64,
    slot: u64,
    fresh: bool,
    drain: bool,
    /// The number of target moduli that this round (the work on one batch of targets) and all later rounds of the
    /// current polynomial compute.
    left: u64,
    /// The number of polynomials that the command still extends after the current one.
    more: u64,
    /// The number of target moduli that the previous round, the work on one batch of targets, computed.
    past: u64,
}

impl Rows {
    fn new(unit: Shared, extension: Extension, (l, k): (usize, usize), polynomials: u64) -> Self {
        let (l, k) = (l as u64, k as u64);
        Self {
            exact: extension == Extension::Exact,
            l,
            k,
            batch: (unit.batch() as u64).min(l + 1),
            slot: 0,
            fresh: true,
            drain: false,
            left: k,
            more: polynomials.saturating_sub(1),
            past: 0,
        }
    }

    /// Returns whether this row (a pass over the coefficients of a residue) is the last one of its round, the work on
    /// one batch of targets.
    fn ends_round(&self) -> bool {
        let last = if self.exact || self.batch > self.l {
            self.l
        } else {
            self.l - 1
        };
        !self.drain && self.slot == last
    }

    fn takes(&self) -> bool {
        self.fresh && !self.drain && (self.exact || self.slot != self.l)
    }

    fn gives(&self) -> bool {
        self.ends_round() || self.slot + 1 < self.past
    }

    fn ends_command(&self) -> bool {
        if self.drain {
            self.slot + 2 == self.past
        } else {
            self.ends_round() && self.more == 0 && self.left == 1
        }
    }

    fn next(&mut self) {
        if !self.ends_round() {
            self.slot += 1;
            return;
        }
        self.slot = 0;
        self.past = self.left.min(self.batch);
        if self.left > self.batch {
            self.fresh = false;
            self.left -= self.batch;
        } else {
            self.fresh = self.more > 0;
            self.drain = self.more == 0;
            self.left = self.k;
            self.more = self.more.saturating_sub(1);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Command,
    Run,
    Give,
}

pub fn replay(
    unit: Shared,
    rate: Rate,
    extension: Extension,
    (l, k): (usize, usize),
    log_n: u32,
    polynomials: u64,
) -> u64 {
    let (beats, latency) = (unit.shape().beats(log_n), latency(unit.shape()));
    let taken_each = l as u64 + u64::from(extension == Extension::Exact);
    let mut left = polynomials * taken_each * beats;
    let mut rows = Rows::new(unit, extension, (l, k), polynomials);
    let (mut port, mut skid) = (Port::new(rate), Skid::default());
    let mut state = State::Command;
    let mut room = (latency + 2).next_power_of_two();
    let (mut at, mut queued) = (0u64, 0u64);
    // The cycles in which issued coefficients enter the queue.
    let mut puts: VecDeque<u64> = VecDeque::new();
    let (mut given, mut last, mut cycle) = (None, 0u64, 0u64);
    loop {
        let granted = port.cycle(left > 0 && !skid.spare(), queued > 0);
        let may = state == State::Run && (!rows.gives() || room > 0);
        let ready = may && rows.takes();
        let issue = may && (skid.shown() || !rows.takes());
        let gives = issue && rows.gives();
        if gives {
            puts.push_back(cycle + latency);
        }
        room = room + u64::from(granted.write) - u64::from(gives);
        queued -= u64::from(granted.write);
        if granted.write {
            last = cycle;
        }
        if puts.front() == Some(&cycle) {
            puts.pop_front();
            queued += 1;
        }
        if state == State::Command {
            state = State::Run;
        }
        if issue {
            at += 1;
            if at == beats {
                at = 0;
                if rows.ends_command() {
                    given = Some(cycle + latency);
                    state = State::Give;
                }
                rows.next();
            }
        }
        left -= u64::from(granted.read);
        skid.clock(granted.read, ready);
        let done = given.filter(|&given| cycle >= given);
        if let Some(given) = done.filter(|_| queued == 0 && puts.is_empty()) {
            return last.max(given + 1);
        }
        cycle += 1;
    }
}
