// SPDX-License-Identifier: Apache-2.0
//! How a program is simulated.

use ringmill_device::trace::TraceSink;
use ringmill_limits::Watch;

/// How a program is simulated.
pub struct SimOptions<'a> {
    /// Values that do not fit wait in host memory, as is usual; without it such a program is refused.
    pub spill: bool,
    /// The keys that fit the key memory are there before the program starts, as the paper has it, those that are used first;
    /// otherwise it starts empty. Either way a key limb that is needed and not there crosses the link, and is counted.
    pub resident_keys: bool,
    /// Takes one event for each word and unit, and for what crosses the host link between calls.
    pub trace: Option<&'a mut dyn TraceSink>,
    /// Told how many of the program's calls are done, after each.
    pub progress: Option<&'a mut dyn FnMut(u64)>,
    /// Asked as it goes.
    pub watch: Watch,
}

impl<'a> SimOptions<'a> {
    /// The same for a shorter time.
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
