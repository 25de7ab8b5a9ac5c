// SPDX-License-Identifier: Apache-2.0
//! The choice of ciphertext primes for programs of integers.

use ringmill_math::primes::ntt_primes_excluding;
use ringmill_schemes::exact::PlainModulus;

use crate::target::Target;

/// The most bits of a ciphertext prime, as in SEAL.
const MAX_BITS: u32 = 60;

/// The set of primes that parameters may use: all of at most [`MAX_BITS`] bits, or those of them that a machine takes.
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

    /// Returns the `count` largest primes of `bits` bits that are 1 modulo 2^(s + 1) for the s of [`Self::step`], with
    /// the plaintext modulus `t` left out. Returns `None` if there are not as many.
    pub fn primes(self, log_n: u8, t: PlainModulus, (count, bits): (u32, u32)) -> Option<Vec<u64>> {
        ntt_primes_excluding(bits, self.step(log_n), count as usize, &[t.value()]).ok()
    }

    /// Returns the exponent s such that all primes are 1 modulo 2^(s + 1), for the ring degree
    /// `2^log_n`. It is `log_n`, unless the target demands primes that are 1 modulo a larger power
    /// of two.
    pub fn step(self, log_n: u8) -> u32 {
        u32::from(log_n).max(self.friendly_bits.saturating_sub(1))
    }

    /// Returns the possible numbers of ciphertext primes with their size in bits, ordered by their bits in all. Each
    /// total of bits from `least` on has an entry of as many bits or more, with the fewest primes, if the entry fits.
    /// The primes of an entry and a special prime of the same size have at most `allowed` bits together.
    pub fn choices(self, log_n: u8, least: u32, allowed: u32) -> Vec<(u32, u32)> {
        let totals = least..=allowed;
        let mut choices: Vec<_> = totals.map(|total| self.split(total, log_n)).collect();
        choices.retain(|&(count, bits)| (count + 1) * bits <= allowed);
        choices.sort_by_key(|&(count, bits)| (count * bits, count));
        choices.dedup();
        choices
    }

    /// Returns the fewest primes of at most `max_bits` - 1 bits that have `total` bits together, and their size in
    /// bits. The size is at least [`Self::least_bits`].
    fn split(self, total: u32, log_n: u8) -> (u32, u32) {
        let count = total.div_ceil(self.max_bits.max(2) - 1).max(1);
        let least = Self::least_bits(log_n);
        (count, total.div_ceil(count).max(least).min(self.max_bits))
    }

    /// Returns the least size in bits of a ciphertext prime at ring degree 2^`log_n`. Smaller sizes have few primes
    /// that are 1 mod 2N.
    pub fn least_bits(log_n: u8) -> u32 {
        u32::from(log_n) + 12
    }
}
