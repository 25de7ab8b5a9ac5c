// SPDX-License-Identifier: Apache-2.0
//! The options of a simulation.

use ringmill_device::trace::TraceSink;
use ringmill_limits::Watch;

/// The options of a simulation.
pub struct SimOptions<'a> {
    /// Whether values that do not fit may wait in host memory. Without leave such a program is refused.
    pub spill: bool,
    /// Whether the keys that fit the key memory are there before the program starts, as in the paper, those that are
    /// used first. Otherwise the key memory starts empty. In either case a key limb that is needed and missing crosses
    /// the link, and is counted.
    pub resident_keys: bool,
    /// Receives one event for each word and unit, and for each transfer over the host link between calls.
    pub trace: Option<&'a mut dyn TraceSink>,
    /// Receives the number of the program's calls that are done, after each call.
    pub progress: Option<&'a mut dyn FnMut(u64)>,
    /// Limits the simulation, and can stop it.
    pub watch: Watch,
}

impl<'a> SimOptions<'a> {
    /// Returns the same options, borrowed for a shorter time.
    pub fn for_now<'b>(self) -> SimOptions<'b>
    where
        'a: 'b,
    {
        // Not moves: what is borrowed for longer is borrowed anew.
        SimOptions {
            trace: self.trace.map(|sink| -> &mut dyn TraceSink { sink }),
            progress: self.progress.map(|tell| -> &mut dyn FnMut(u64) { tell }),
            spill: self.spill,
            resident_keys: self.resident_keys,
            watch: self.watch,
        }
    }
}

impl Default for SimOptions<'_> {
    fn default() -> Self {
        Self {
            spill: true,
            resident_keys: true,
            trace: None,
            progress: None,
            watch: Watch::default(),
        }
    }
}
