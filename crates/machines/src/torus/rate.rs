// SPDX-License-Identifier: Apache-2.0
//! The rate at which the bootstrapping key comes.

use super::Shape;

/// A source of a number of bits a cycle. A beat is there when all of its bits are. A beat for which the engine has no
/// room waits, and the source waits with it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct KeyRate {
    /// The thousandths of a bit of a beat. `cycle`: those that come in a cycle.
    beat: u64,
    cycle: u64,
}

impl KeyRate {
    pub fn new(shape: Shape, bits_a_cycle: f64) -> Self {
        Self {
            beat: shape.beat_bits() * 1000,
            cycle: (bits_a_cycle * 1e3).round() as u64,
        }
    }

    /// Returns the same source with words of 32 bits instead of beats.
    pub fn of_words(self) -> Self {
        Self {
            beat: 32_000,
            ..self
        }
    }

    /// Returns the least cycles of a beat, as a fraction.
    pub fn cycles_a_beat(self) -> f64 {
        self.beat as f64 / self.cycle.max(1) as f64
    }

    /// Returns the function that [`super::run`] calls in each cycle without a beat on offer.
    pub fn offers(self) -> impl FnMut() -> bool {
        let mut come = 0u64;
        move || {
            come = (come + self.cycle).min(2 * self.beat.max(self.cycle));
            let whole = come >= self.beat;
            if whole {
                come -= self.beat;
            }
            whole
        }
    }
}
