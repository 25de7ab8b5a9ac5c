// SPDX-License-Identifier: Apache-2.0
//! The interface by which a run reports its progress. The command line and the Python package draw it.

use std::time::Duration;

/// The progress of a run at one moment: units of work finished, time passed and time left. The units are calls of
/// procedures, bootstraps in the run of a TFHE circuit, or similar parts of other work.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step {
    /// The kind of work in words, such as "running" or "simulating".
    pub stage: &'static str,
    /// The number of units of work that are finished, of `total` units.
    pub done: u64,
    pub total: u64,
    pub elapsed: Duration,
    /// An estimate of the time that the run still needs, from the estimated work of the finished units and of all
    /// units. It is `None` before any unit is finished.
    pub remaining: Option<Duration>,
}

/// The interface that receives the progress of work, from any of its threads. Runs of programs report at most a few
/// times a second; other work reports each part that ends. An implementation must not block for long.
pub trait Progress: Sync {
    fn step(&self, step: Step);

    /// Receives one line of text about a failure that did not end the run.
    fn told(&self, text: &str);
}

/// A receiver that discards all progress.
pub struct Silent;

impl Progress for Silent {
    fn step(&self, _: Step) {}

    fn told(&self, _: &str) {}
}
