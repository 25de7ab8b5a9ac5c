// SPDX-License-Identifier: Apache-2.0
//! Reports the progress of work that consists of a known number of similar parts.

use std::time::Instant;

use ringmill_device::progress::{Progress, Step};

/// A counter of the finished parts of some work, each about equally long. It reports the progress.
pub struct Parts<'a> {
    progress: &'a dyn Progress,
    stage: &'static str,
    done: u64,
    total: u64,
    begin: Instant,
}

impl<'a> Parts<'a> {
    pub fn new(progress: &'a dyn Progress, stage: &'static str, total: u64) -> Self {
        Self {
            progress,
            stage,
            done: 0,
            total,
            begin: Instant::now(),
        }
    }

    /// Counts one more part of the work as done, and reports the progress.
    pub fn done(&mut self) {
        self.done += 1;
        let elapsed = self.begin.elapsed();
        let left = self.total.saturating_sub(self.done) as f64 / self.done as f64;
        self.progress.step(Step {
            stage: self.stage,
            done: self.done,
            total: self.total,
            elapsed,
            remaining: Some(elapsed.mul_f64(left)),
        });
    }
}
