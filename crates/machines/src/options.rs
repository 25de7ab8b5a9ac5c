// SPDX-License-Identifier: Apache-2.0
//! The options with which a machine simulates a program.

use ringmill_device::trace::TraceSink;
use ringmill_limits::Watch;

/// The options with which a machine simulates a program.
pub struct SimOptions<'a> {
    /// Whether values that do not fit the machine's memory may wait in host memory. If not, a program with such values
    /// is refused.
    pub spill: bool,
    /// Whether the key memory is full at the program's start, as in the Medha paper, with the keys that are used first.
    /// Otherwise it starts empty. In either case a missing key limb crosses the link and is counted.
    pub resident_keys: bool,
    /// Receives one event for each instruction word on each unit, and for each transfer over the host link between
    /// calls.
    pub trace: Option<&'a mut dyn TraceSink>,
    /// Receives, after each call, the number of calls that are done.
    pub progress: Option<&'a mut dyn FnMut(u64)>,
    /// Limits the simulation's memory and time, and can stop it.
    pub watch: Watch,
}

impl<'a> SimOptions<'a> {
    /// Returns the same options, with the trace and the progress function borrowed for as long as the result lives.
    pub fn for_now<'b>(self) -> SimOptions<'b>
    where
        'a: 'b,
    {
        // Each closure shortens the lifetime of a mutable reference. A move of the option would keep the long one.
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
