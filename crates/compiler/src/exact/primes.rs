// SPDX-License-Identifier: Apache-2.0
//! Where ciphertext primes are looked for.

use ringmill_math::primes::ntt_primes_excluding;
use ringmill_schemes::exact::PlainModulus;

use crate::target::Target;

/// Largest ciphertext prime, as SEAL's.
const MAX_BITS: u32 = 60;

/// Which primes are looked for: all that arithmetic allows, or a machine's part of it.
#[derive(Clone, Copy)]
pub(crate) struct Room {
    pub max_bits: u32,
    friendly_bits: u32,
}

impl Room {
    pub fn new(target: Option<&Target>) -> Self {
        Self {
            max_bits: target.map_or(MAX_BITS, |t| t.modulus_bits.is.min(MAX_BITS)),
            friendly_bits: target.map_or(0, |t| t.friendly_bits.is),
        }
    }

    /// So many primes of so many bits, the largest but for the plaintext modulus; `None` where there are no more.
    pub fn primes(self, log_n: u8, t: PlainModulus, (count, bits): (u32, u32)) -> Option<Vec<u64>> {
        let step = u32::from(log_n).max(self.friendly_bits.saturating_sub(1));
        ntt_primes_excluding(bits, step, count as usize, &[t.value()]).ok()
    }

    /// Numbers of ciphertext primes and their size, the fewest for each number of bits in all from `least` on that are `allowed`
    /// together with a special prime of that size; by their bits in all.
    pub fn choices(self, log_n: u8, least: u32, allowed: u32) -> Vec<(u32, u32)> {
        let totals = least..=allowed;
        let mut choices: Vec<_> = totals.map(|total| self.split(total, log_n)).collect();
        choices.retain(|&(count, bits)| (count + 1) * bits <= allowed);
        choices.sort_by_key(|&(count, bits)| (count * bits, count));
        choices.dedup();
        choices
    }

    /// The fewest primes that have `total` bits, and their size.
    fn split(self, total: u32, log_n: u8) -> (u32, u32) {
        let count = total.div_ceil(self.max_bits.max(2) - 1).max(1);
        let least = Self::least_bits(log_n);
        (count, total.div_ceil(count).max(least).min(self.max_bits))
    }

    /// Smaller sizes have few primes that are 1 mod 2N.
    pub fn least_bits(log_n: u8) -> u32 {
        u32::from(log_n) + 12
    }
}
