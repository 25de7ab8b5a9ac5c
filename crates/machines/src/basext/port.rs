// SPDX-License-Identifier: Apache-2.0
//! The port of the memory that a base-extension unit's two streams share. Both the cycle model and the RTL's driver
//! stall by it.

/// The data that the port transfers in a cycle of the unit, and the data of a beat of a stream, in one unit of measure.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Rate {
    gain: u64,
    beat: u64,
}

impl Rate {
    /// Makes a rate of `gain` a cycle, with `beat` for each beat read or written; a beat of 0 counts as 1.
    pub fn new(gain: u64, beat: u64) -> Self {
        Self {
            gain,
            beat: beat.max(1),
        }
    }

    /// Returns a port that never stalls.
    pub fn unbounded() -> Self {
        Self::new(2, 1)
    }

    /// Returns whether a beat each way passes in every cycle.
    pub fn never_stalls(self) -> bool {
        self.gain >= 2 * self.beat
    }

    /// Returns whether one beat passes in every cycle.
    pub fn carries_one(self) -> bool {
        self.gain >= self.beat
    }

    /// Returns the beats a cycle.
    pub fn beats(self) -> f64 {
        self.gain as f64 / self.beat as f64
    }
}

/// The beats that pass in a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Granted {
    pub read: bool,
    pub write: bool,
}

/// The state of the port. Data that a cycle does not use pass to the next one, up to a beat. Writes go first, so that
/// the unit has room for later results.
#[derive(Clone, Debug)]
pub struct Port {
    rate: Rate,
    credit: u64,
}

impl Port {
    /// Makes a port at the start of a command, with nothing left over.
    pub fn new(rate: Rate) -> Self {
        Self { rate, credit: 0 }
    }

    /// Runs a cycle in which a beat could be read, and one written, if the port lets them pass.
    pub fn cycle(&mut self, read: bool, write: bool) -> Granted {
        let Rate { gain, beat } = self.rate;
        self.credit = self.credit.min(beat) + gain;
        let mut pass = |wanted: bool| {
            let passes = wanted && self.credit >= beat;
            if passes {
                self.credit -= beat;
            }
            passes
        };
        let write = pass(write);
        Granted {
            read: pass(read),
            write,
        }
    }
}
