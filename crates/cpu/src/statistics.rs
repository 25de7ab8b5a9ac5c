// SPDX-License-Identifier: Apache-2.0
//! What a run on the CPU took.

use ringmill_device::report::LineUse;
use ringmill_device::{ExpandedStats, Statistics};
use serde::Serialize;

/// What a run on the CPU took. All figures are measured.
#[derive(Clone, Debug, Serialize)]
pub struct CpuStats {
    /// Wall time of the run, bindings in to outputs out.
    pub seconds: f64,
    pub threads: usize,
    /// Most bytes of limb buffers in use at one time, bound inputs not included.
    pub pool_peak_bytes: u64,
    /// Bytes of limb buffers that the device keeps for the next run.
    pub pool_held_bytes: u64,
    /// Key limbs and constants that were expanded.
    pub expanded: ExpandedStats,
    /// The time in nanoseconds, by lines.
    #[serde(skip)]
    pub lines: Vec<LineUse>,
}

impl Statistics for CpuStats {
    fn seconds(&self) -> f64 {
        self.seconds
    }

    fn threads(&self) -> usize {
        self.threads
    }

    fn buffers_peak_bytes(&self) -> u64 {
        self.pool_peak_bytes
    }

    fn expanded(&self) -> ExpandedStats {
        self.expanded
    }

    fn lines(&self) -> &[LineUse] {
        &self.lines
    }
}
