// SPDX-License-Identifier: Apache-2.0
//! What a device measured of a run.

use std::fmt::Debug;

use crate::ExpandedStats;
use crate::report::LineUse;

/// What a device measured of a run. Each device has its own type; a report shows it as its fields are serialised.
pub trait Statistics: Debug + Send + Sync + erased_serde::Serialize {
    /// Wall time of the run in seconds, bindings in to outputs out.
    fn seconds(&self) -> f64;

    /// Threads of this computer that computed.
    fn threads(&self) -> usize;

    /// Most bytes of limb buffers in use at one time, bound inputs not included.
    fn buffers_peak_bytes(&self) -> u64;

    /// Key limbs and constants that were expanded.
    fn expanded(&self) -> ExpandedStats;

    /// [`Statistics::seconds`] in nanoseconds, by the lines of the user's program: they add up to it. What several threads do
    /// at once shares the time.
    fn lines(&self) -> &[LineUse];
}

erased_serde::serialize_trait_object!(Statistics);
