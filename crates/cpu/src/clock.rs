// SPDX-License-Identifier: Apache-2.0
//! The time of a run by the lines of the user's program: who computes shares it with whoever else does.

use std::sync::Arc;
use std::time::Instant;

use ringmill_device::report::{Entry, Ledger, LineUse};
use ringmill_isa::mid::Procedure;
use ringmill_isa::source::SourceLoc;

/// Parts of a nanosecond that are told apart, so that what several threads share is divided exactly enough: years of them fit.
const PARTS: u64 = 256;

/// Divides the time among the steps that run at once, equally, whenever one of them ends. Time in which none runs is no call's.
pub struct Clock {
    pub ledger: Ledger,
    last: Instant,
    running: u64,
    /// Parts of a nanosecond that a step would have been given that ran from the beginning on.
    given: u64,
}

/// A step that runs: what had been given when it began.
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

    /// One more call of a procedure at a line.
    pub fn call(&mut self, line: Option<&SourceLoc>, proc: u32) -> Entry {
        self.ledger.call(line, proc)
    }

    /// Gives out the time since the last look.
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

    /// A step begins, as of the last look.
    pub fn begin(&mut self) -> Begun {
        self.running += 1;
        Begun(self.given)
    }

    /// It ends, and what it was given is its call's.
    pub fn end(&mut self, entry: Entry, begun: Begun) {
        self.end_at(entry, begun, Instant::now());
    }

    /// As [`Clock::end`], at that moment.
    pub fn end_at(&mut self, entry: Entry, begun: Begun, now: Instant) {
        self.look_at(now);
        self.running = self.running.saturating_sub(1);
        self.ledger.spend(entry, self.given - begun.0);
    }

    /// All time since the last look is one call's, and no other runs.
    pub fn lap(&mut self, entry: Entry) {
        let begun = self.begin();
        self.end(entry, begun);
    }

    /// The lines of a run of so many nanoseconds.
    pub fn lines(&self, procs: &[Arc<Procedure>], total: u64) -> Vec<LineUse> {
        self.ledger.lines(procs, PARTS, total)
    }
}
