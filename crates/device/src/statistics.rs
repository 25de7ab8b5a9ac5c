// SPDX-License-Identifier: Apache-2.0
//! The interface to a device's measurements of a run.

use std::fmt::Debug;

use crate::ExpandedStats;
use crate::report::LineUse;

/// The interface of a device's measurements of a run. Each device has its own type; a report shows its serialised
/// fields.
pub trait Statistics: Debug + Send + Sync + erased_serde::Serialize {
    /// Returns the wall time of the run in seconds, from the binding of inputs to the outputs. The first run of a
    /// session includes the time in which the session planned the program's procedures.
    fn seconds(&self) -> f64;

    /// Returns the number of threads that computed in the run.
    fn threads(&self) -> usize;

    /// Returns the most bytes of limb buffers in use at one time, without the inputs that the caller bound.
    fn buffers_peak_bytes(&self) -> u64;

    /// Returns the counts and bytes of key limbs and constants that the run expanded.
    fn expanded(&self) -> ExpandedStats;

    /// Returns the parts of [`Statistics::seconds`] in nanoseconds, by the lines of the user's program, which add up
    /// to it. Threads that work at the same time share the time.
    fn lines(&self) -> &[LineUse];
}

erased_serde::serialize_trait_object!(Statistics);
