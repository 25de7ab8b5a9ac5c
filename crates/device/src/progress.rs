// SPDX-License-Identifier: Apache-2.0
//! The interface by which a run reports its progress. The command line and the Python package draw it.

use std::time::Duration;

/// The progress of a run at one moment.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step {
    /// The kind of work: "running", "simulating".
    pub stage: &'static str,
    /// The number of calls finished, of `total`.
    pub done: u64,
    pub total: u64,
    pub elapsed: Duration,
    /// An estimate of the time still needed, by the weight of the work done so far; `None` before any work is done.
    pub remaining: Option<Duration>,
}

/// Receives the steps of a run, from any of its threads, at most a few times a second. An implementation must not block
/// for long.
pub trait Progress: Sync {
    fn step(&self, step: Step);

    /// Receives a line of text about a failure after which the run continues.
    fn told(&self, text: &str);
}

/// Discards all progress.
pub struct Silent;

impl Progress for Silent {
    fn step(&self, _: Step) {}

    fn told(&self, _: &str) {}
}
