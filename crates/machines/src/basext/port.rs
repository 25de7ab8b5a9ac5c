// SPDX-License-Identifier: Apache-2.0
//! The memory port that the input and the output stream of a base-extension unit share. The cycle model and the RTL's
//! driver use the same port, so both stall in the same cycles.

/// The rate of a memory's port, as two amounts of data in the same unit (bits, for instance): the data that the port
/// transfers in one cycle, and the data of one beat.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Rate {
    gain: u64,
    beat: u64,
}

impl Rate {
    /// Makes the rate of a port that transfers the amount `gain` of data in one cycle, if one beat that is read or
    /// written has the amount `beat`. A `beat` of 0 counts as 1.
    pub fn new(gain: u64, beat: u64) -> Self {
        Self {
            gain,
            beat: beat.max(1),
        }
    }

    /// Returns the rate of a memory port that stalls neither stream of a base-extension unit: it
    /// transfers two beats in a cycle, one that is read and one that is written.
    pub fn unbounded() -> Self {
        Self::new(2, 1)
    }

    /// Returns whether the port transfers one beat read and one beat written in every cycle.
    pub fn never_stalls(self) -> bool {
        self.gain >= 2 * self.beat
    }

    /// Returns whether the port transfers one beat, read or written, in every cycle.
    pub fn carries_one(self) -> bool {
        self.gain >= self.beat
    }

    /// Returns how many beats the port transfers in a cycle on average.
    pub fn beats(self) -> f64 {
        self.gain as f64 / self.beat as f64
    }
}

/// The permission that the memory's port gives in one cycle: whether the unit may read a beat, and whether it may write
/// one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Granted {
    pub read: bool,
    pub write: bool,
}

/// The state of the memory's port in the cycle model. Capacity that one cycle does not use stays for the next cycle, up
/// to one beat. Writes go before reads, so that the unit has room for later results.
#[derive(Clone, Debug)]
pub struct Port {
    rate: Rate,
    credit: u64,
}

impl Port {
    /// Makes a port at the start of a command, without capacity left from earlier cycles.
    pub fn new(rate: Rate) -> Self {
        Self { rate, credit: 0 }
    }

    /// Runs one cycle of the port. `read` and `write` say whether the unit could read a beat and write one; the result
    /// says which the port allows.
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
