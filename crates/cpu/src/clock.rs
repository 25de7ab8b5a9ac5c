// SPDX-License-Identifier: Apache-2.0
//! Divides the time of a run among the lines of the user's program. Steps that run at the same time share it.

use std::sync::Arc;
use std::time::Instant;

use ringmill_device::report::{Entry, Ledger, LineUse};
use ringmill_isa::mid::Procedure;
use ringmill_isa::source::SourceLoc;

/// The parts into which the clock divides a nanosecond, so that rounding matters little when many threads share
/// time. A u64 holds years of parts.
const PARTS: u64 = 256;

/// Divides the time of a program's run equally among the steps that its threads compute at once. It does so whenever
/// the clock is read, as at the end of each step. Time in which no step runs belongs to no call. A run on one thread
/// counts whole calls instead ([`Clock::lap`]).
pub struct Clock {
    pub ledger: Ledger,
    last: Instant,
    running: u64,
    /// The share of time, in parts of a nanosecond, of an imagined step that runs from the
    /// beginning of the run to now. A step's own share is the difference of two such numbers.
    given: u64,
}

/// A running step, as the value that the clock's share of time `given` had when the step began.
#[derive(Clone, Copy)]
pub struct Begun(u64);

impl Clock {
    /// Makes a clock for a run that begins at the moment `begin`.
    pub fn new(begin: Instant) -> Self {
        Self {
            ledger: Ledger::default(),
            last: begin,
            running: 0,
            given: 0,
        }
    }

    /// Counts one more call of procedure number `proc` from a line of the user's program. Returns the row of the
    /// ledger, the table of time by line and procedure, to which the call's time belongs.
    pub fn call(&mut self, line: Option<&SourceLoc>, proc: u32) -> Entry {
        self.ledger.call(line, proc)
    }

    /// Reads the time, and divides the time since the clock was last read among the running steps.
    pub fn look(&mut self) {
        self.look_at(Instant::now());
    }

    /// Divides the time from the last reading of the clock to the moment `now` among the running steps.
    pub fn look_at(&mut self, now: Instant) {
        let passed = now.duration_since(self.last).as_nanos() as u64;
        self.last = now;
        if let Some(share) = passed.saturating_mul(PARTS).checked_div(self.running) {
            self.given = self.given.saturating_add(share);
        }
    }

    /// Begins a step, at the moment when the clock was last read.
    pub fn begin(&mut self) -> Begun {
        self.running += 1;
        Begun(self.given)
    }

    /// Ends the step `begun` now, and adds its time to `entry`, the row of its call in the ledger
    /// of time by line and procedure.
    pub fn end(&mut self, entry: Entry, begun: Begun) {
        self.end_at(entry, begun, Instant::now());
    }

    /// Ends the step `begun` at the moment `now`, and adds its time to `entry`, the row of its call
    /// in the ledger of time by line and procedure.
    pub fn end_at(&mut self, entry: Entry, begun: Begun, now: Instant) {
        self.look_at(now);
        self.running = self.running.saturating_sub(1);
        self.ledger.spend(entry, self.given - begun.0);
    }

    /// Adds all time since the clock was last read to `entry`, the row of one call in the ledger of time by
    /// line and procedure. No other call may run meanwhile.
    pub fn lap(&mut self, entry: Entry) {
        let begun = self.begin();
        self.end(entry, begun);
    }

    /// Returns the time by line and procedure, in nanoseconds, of a run of `total` nanoseconds.
    pub fn lines(&self, procs: &[Arc<Procedure>], total: u64) -> Vec<LineUse> {
        self.ledger.lines(procs, PARTS, total)
    }
}
