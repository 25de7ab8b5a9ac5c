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
    /// An estimate of the time that the run still needs. It takes the rest to be as fast as the finished units, by
    /// their number or by their estimated work. It is `None` if no unit is finished, or if the reporter makes no
    /// estimate.
    pub remaining: Option<Duration>,
}

/// The interface that receives the progress of work, from any of its threads. Most runs of programs report at most a
/// few times a second. A run on a card of co-processors reports each call, and other work reports each part that ends.
/// An implementation must not block for long.
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
