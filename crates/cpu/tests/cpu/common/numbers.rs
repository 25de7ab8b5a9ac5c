// SPDX-License-Identifier: Apache-2.0
//! Random numbers from a seed, from which tests draw programs.

use ringmill_math::Prng;

pub struct Draw(Prng);

impl Draw {
    pub fn new(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Self(Prng::from_seed_for_reproducible_tests_only(bytes))
    }

    pub fn below(&mut self, n: u64) -> u64 {
        let mut bytes = [0; 8];
        self.0.fill_bytes(&mut bytes);
        u64::from_le_bytes(bytes) % n
    }
}
