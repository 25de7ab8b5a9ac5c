// SPDX-License-Identifier: Apache-2.0
//! The rate at which the bootstrapping key arrives at the engine.

use super::Shape;

/// A source of the key that delivers a fixed number of bits in a cycle. A beat of the key is on offer when all of
/// its bits have arrived. If the engine has no room for a beat, the source waits.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct KeyRate {
    /// The size of a beat of the key in thousandths of a bit. `cycle` has the thousandths of a bit that arrive in a
    /// cycle.
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

    /// Returns this source of a bootstrapping key as the source of a switching key, which comes in 32-bit words instead
    /// of the beats of a bootstrapping key.
    pub fn of_words(self) -> Self {
        Self {
            beat: 32_000,
            ..self
        }
    }

    /// Returns the mean number of cycles between two beats of the key, without rounding. After [`Self::of_words`] a
    /// beat is a word.
    pub fn cycles_a_beat(self) -> f64 {
        self.beat as f64 / self.cycle.max(1) as f64
    }

    /// Returns a function that says, in each cycle without a beat on offer, whether the next beat arrives.
    /// [`super::run`] calls it.
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
