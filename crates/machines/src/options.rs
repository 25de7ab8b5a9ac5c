// SPDX-License-Identifier: Apache-2.0
//! The options with which a machine simulates a program.

use ringmill_device::trace::TraceSink;
use ringmill_limits::Watch;

/// The options with which a machine simulates a program.
pub struct SimOptions<'a> {
    /// Whether values that do not fit the machine's memory may wait outside: in host memory for the ring machine, in
    /// distant memory for the vector machine. If not, a program with such values is refused. The ring machine then also
    /// refuses a procedure that reads more key limbs than key memory holds. Other machines ignore the option.
    pub spill: bool,
    /// Whether keys are in the machine before the program's start. The ring machine's key memory is then full of the
    /// keys that are used first, as in the Medha paper. A key limb that is missing in either case crosses the link and
    /// is counted. The vector machine has all keys in distant memory, or their transfer is counted. Other machines
    /// ignore it.
    pub resident_keys: bool,
    /// Receives one event for each instruction word or command on each unit, except `WAIT` and `END`. The ring machine
    /// also sends one for each transfer over the host link between calls, and the bytes in use of polynomial memory
    /// after each call. Only the ring machine and cards send events.
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
