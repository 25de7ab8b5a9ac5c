// SPDX-License-Identifier: Apache-2.0
//! Random numbers for tests: repeatable, and good enough for test data.

use ringmill_hdl::polymul::Dice;

/// Draws of the kinds that random programs are made of.
#[derive(Clone, Debug)]
pub struct Numbers(Dice);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Self(Dice::new(seed))
    }

    /// Below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.0.bits() % n as u64) as usize
    }

    /// From `low` to `high`, both included.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below((high - low + 1) as usize) as u32
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.0.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in [-1, 1).
    pub fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}
