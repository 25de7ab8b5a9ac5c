// SPDX-License-Identifier: Apache-2.0
//! How a run tells how far it is. Drawing is the command line's and Python's business.

use std::time::Duration;

/// A point reached in a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step {
    /// What is being done: "running", "simulating".
    pub stage: &'static str,
    /// Calls finished, of `total`.
    pub done: u64,
    pub total: u64,
    pub elapsed: Duration,
    /// Estimate of the time still needed, from the weight of the work done so far; `None` before there is any.
    pub remaining: Option<Duration>,
}

/// Receives the steps of a run, from any of its threads, a few times a second at most. Must not block for long.
pub trait Progress: Sync {
    fn step(&self, step: Step);

    /// Something that went wrong and that the run goes on from: a line of text.
    fn told(&self, text: &str);
}

/// No progress wanted.
pub struct Silent;

impl Progress for Silent {
    fn step(&self, _: Step) {}

    fn told(&self, _: &str) {}
}
