// SPDX-License-Identifier: Apache-2.0
//! The measurements of a run on the CPU.

use ringmill_device::report::LineUse;
use ringmill_device::{ExpandedStats, Statistics};
use serde::Serialize;

/// The measurements of one run on the CPU: time, memory and expanded limbs.
#[derive(Clone, Debug, Serialize)]
pub struct CpuStats {
    /// The wall time of the run in seconds, from the binding of inputs to the outputs. The first
    /// run of a session includes the time in which the session planned the program's procedures.
    pub seconds: f64,
    pub threads: usize,
    /// The most bytes of limb buffers in use at one time. The inputs that the caller bound and the expanded limbs are
    /// not counted.
    pub pool_peak_bytes: u64,
    /// The bytes of all buffers of the run's pool, which the device keeps for a later run. The buffers of outputs count
    /// too; they come back when the caller drops the outputs.
    pub pool_held_bytes: u64,
    /// The counts and bytes of key limbs and constants that the run expanded.
    pub expanded: ExpandedStats,
    /// The time of the run in nanoseconds, by the lines of the user's program.
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
