// SPDX-License-Identifier: Apache-2.0
//! Divides the time of a run among the lines of the user's program; steps that run at the same time share it.

use std::sync::Arc;
use std::time::Instant;

use ringmill_device::report::{Entry, Ledger, LineUse};
use ringmill_isa::mid::Procedure;
use ringmill_isa::source::SourceLoc;

/// The parts of a nanosecond that the clock distinguishes, so that threads share time exactly enough. Years of parts
/// fit.
const PARTS: u64 = 256;

/// Divides the time equally among the steps that run at once, whenever one of them ends. Time without a running step
/// belongs to no call.
pub struct Clock {
    pub ledger: Ledger,
    last: Instant,
    running: u64,
    /// The parts of a nanosecond for a step that runs from the beginning on.
    given: u64,
}

/// A running step: the value of `given` when the step began.
#[derive(Clone, Copy)]
pub struct Begun(u64);

impl Clock {
    /// From that moment on.
    pub fn new(begin: Instant) -> Self {
        Self {
            ledger: Ledger::default(),
            last: begin,
            running: 0,
            given: 0,
        }
    }

    /// Counts one more call of a procedure at a line.
    pub fn call(&mut self, line: Option<&SourceLoc>, proc: u32) -> Entry {
        self.ledger.call(line, proc)
    }

    /// Distributes the time since the last look.
    pub fn look(&mut self) {
        self.look_at(Instant::now());
    }

    /// As [`Clock::look`], at that moment.
    pub fn look_at(&mut self, now: Instant) {
        let passed = now.duration_since(self.last).as_nanos() as u64;
        self.last = now;
        if let Some(share) = passed.saturating_mul(PARTS).checked_div(self.running) {
            self.given = self.given.saturating_add(share);
        }
    }

    /// Begins a step at the time of the last look.
    pub fn begin(&mut self) -> Begun {
        self.running += 1;
        Begun(self.given)
    }

    /// Ends a step, and adds its time to its call.
    pub fn end(&mut self, entry: Entry, begun: Begun) {
        self.end_at(entry, begun, Instant::now());
    }

    /// As [`Clock::end`], at that moment.
    pub fn end_at(&mut self, entry: Entry, begun: Begun, now: Instant) {
        self.look_at(now);
        self.running = self.running.saturating_sub(1);
        self.ledger.spend(entry, self.given - begun.0);
    }

    /// Adds all time since the last look to one call; no other call runs.
    pub fn lap(&mut self, entry: Entry) {
        let begun = self.begin();
        self.end(entry, begun);
    }

    /// Returns the rows of a run of `total` nanoseconds.
    pub fn lines(&self, procs: &[Arc<Procedure>], total: u64) -> Vec<LineUse> {
        self.ledger.lines(procs, PARTS, total)
    }
}
