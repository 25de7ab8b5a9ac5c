// SPDX-License-Identifier: Apache-2.0
//! The memory's port, which the unit's two streams share: what both the cycle model and the RTL's driver stall by.

/// What the port lets through in a cycle of the unit, and what a beat of a stream takes of it, in the same measure.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Rate {
    gain: u64,
    beat: u64,
}

impl Rate {
    /// `gain` a cycle, `beat` for each beat read or written; a beat of 0 counts as 1.
    pub fn new(gain: u64, beat: u64) -> Self {
        Self {
            gain,
            beat: beat.max(1),
        }
    }

    /// A port that never stalls.
    pub fn unbounded() -> Self {
        Self::new(2, 1)
    }

    /// Whether a beat each way passes in every cycle.
    pub fn never_stalls(self) -> bool {
        self.gain >= 2 * self.beat
    }

    /// Whether one beat passes in every cycle.
    pub fn carries_one(self) -> bool {
        self.gain >= self.beat
    }

    /// Beats a cycle.
    pub fn beats(self) -> f64 {
        self.gain as f64 / self.beat as f64
    }
}

/// What passes in a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Granted {
    pub read: bool,
    pub write: bool,
}

/// The port at work. What a cycle leaves unused is there in the next, up to a beat; writes go first, so that the
/// unit has room for what follows.
#[derive(Clone, Debug)]
pub struct Port {
    rate: Rate,
    credit: u64,
}

impl Port {
    /// A port as a command finds it: with nothing left over.
    pub fn new(rate: Rate) -> Self {
        Self { rate, credit: 0 }
    }

    /// A cycle in which a beat could be read, and one written, if the port lets them.
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
