// SPDX-License-Identifier: Apache-2.0
//! Pseudorandom numbers for tests. The same seed gives the same numbers, and they are no secrets.

use ringmill_hdl::polymul::Dice;

/// A generator of the kinds of numbers that random programs consist of.
#[derive(Clone, Debug)]
pub struct Numbers(Dice);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Self(Dice::new(seed))
    }

    /// Draws an integer below `n`, which must not be 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.0.bits() % n as u64) as usize
    }

    /// Draws an integer from `low` to `high`, both included.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below((high - low + 1) as usize) as u32
    }

    /// Draws a number uniformly from [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.0.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Draws a number uniformly from [-1, 1).
    pub fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    /// Returns true with probability 1/`n`.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}
