// SPDX-License-Identifier: Apache-2.0
//! Random numbers for stalls of streams and for test data.

/// A small random generator (SplitMix64), which a seed makes repeatable. It must not make secrets.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a random number below `bound`, or 0 if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns true with probability 1 / `of`, and always if `of` is 0.
    pub fn chance(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }

    /// Returns a limb of `n` random residues below `q`.
    pub fn limb(&mut self, n: usize, q: u64) -> Vec<u64> {
        (0..n).map(|_| self.below(q)).collect()
    }
}
