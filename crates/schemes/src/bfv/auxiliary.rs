// SPDX-License-Identifier: Apache-2.0
//! The moduli that multiplication needs beside the ciphertext's, and their places in the table.

use num_bigint::BigUint;
use ringmill_isa::Level;
use ringmill_isa::mid::TableModulus;
use ringmill_math::primes;

use super::params::Multiplication;
use crate::exact::PlainModulus;
use crate::rlwe::{self, RlweError};

/// Bits of an auxiliary prime: SEAL's, one more than its largest ciphertext prime has.
const PRIME_BITS: u32 = 61;
/// Bits of friendly ones, and what they are 1 modulo.
const FRIENDLY_PRIME_BITS: u32 = 32;
const FRIENDLY_STEP: u64 = 1 << 17;
/// log2 of BEHZ's m-tilde; where it is a prime, its bits.
const LOG_M_TILDE: u8 = 32;
/// What SEAL sets aside, in bits, for the number of products that a coefficient sums.
const SUM_BITS: u64 = 32;

/// Auxiliary moduli: primes m_sk, B_0, B_1 ... that are 1 mod 2N, t, and for BEHZ m-tilde. They follow the key's primes in
/// the table, in this order. SEAL takes the largest primes of 61 bits for m_sk, gamma, B_0 and so on (gamma corrects
/// decryptions, which are no program); so do we, leaving out ciphertext primes, which SEAL's never are.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Auxiliary {
    /// Place of m_sk.
    first: usize,
    /// Number of primes at each level: of B and m_sk together.
    counts: Vec<usize>,
    pub gamma: u64,
    /// Place of t.
    pub plain: usize,
    /// Place of m-tilde.
    pub m_tilde: usize,
}

impl Auxiliary {
    /// The moduli of a multiplication, and the parameters with them in their table.
    pub fn new(
        ring: rlwe::Params,
        t: PlainModulus,
        multiplication: Multiplication,
    ) -> Result<(Self, rlwe::Params), RlweError> {
        let levels = Level::LOWEST.to(ring.max_level());
        let count = |level| match multiplication {
            Multiplication::Behz | Multiplication::BehzPrime => behz_primes(&ring, t, level),
            Multiplication::Hps => hps_primes(&ring, t, level, PRIME_BITS),
            Multiplication::HpsFriendly => hps_primes(&ring, t, level, FRIENDLY_PRIME_BITS),
        };
        let counts: Vec<usize> = levels.map(count).collect();
        let most = counts.iter().copied().max().unwrap_or(0);
        let step = 2 * ring.degree() as u64;
        let (bits, step) = match multiplication {
            Multiplication::Behz | Multiplication::BehzPrime | Multiplication::Hps => {
                (PRIME_BITS, step)
            }
            Multiplication::HpsFriendly => (FRIENDLY_PRIME_BITS, step.max(FRIENDLY_STEP)),
        };
        let taken = [ring.moduli(), &[t.value()]].concat();
        let found = primes::primes_one_mod(bits, step, most + 1, &taken)?;
        let [m_sk, gamma, b @ ..] = found.as_slice() else {
            return Err(RlweError::Length {
                what: "the list of auxiliary primes",
                expected: most + 1,
                got: found.len(),
            });
        };
        let first = ring.moduli().len();
        let mut table = TableModulus::primes(&[&[*m_sk], b].concat());
        let plain = first + table.len();
        table.push(t.table_modulus());
        let m_tilde = match multiplication {
            Multiplication::Behz => Some(TableModulus::PowerOfTwo(LOG_M_TILDE)),
            Multiplication::BehzPrime => Some(prime_m_tilde(&ring, t)?),
            Multiplication::Hps | Multiplication::HpsFriendly => None,
        };
        // A value stands in a table once.
        let m_tilde = match m_tilde.filter(|m| *m != t.table_modulus()) {
            Some(m_tilde) => {
                table.push(m_tilde);
                plain + 1
            }
            None => plain,
        };
        let auxiliary = Self {
            first,
            counts,
            gamma: *gamma,
            plain,
            m_tilde,
        };
        Ok((auxiliary, ring.with_auxiliary(&table)))
    }

    fn count(&self, level: Level) -> usize {
        self.counts.get(level.index()).copied().unwrap_or(0)
    }

    /// Place of m_sk.
    pub fn m_sk(&self) -> usize {
        self.first
    }

    /// Places of the primes of B at a level.
    pub fn b(&self, level: Level) -> std::ops::Range<usize> {
        self.first + 1..self.first + self.count(level)
    }

    /// Places of all auxiliary primes at a level.
    pub fn all(&self, level: Level) -> std::ops::Range<usize> {
        self.first..self.first + self.count(level)
    }
}

/// The largest prime of 32 bits that is 1 mod 2N, no ciphertext or special prime and not t.
fn prime_m_tilde(ring: &rlwe::Params, t: PlainModulus) -> Result<TableModulus, RlweError> {
    let taken = [ring.moduli(), &[t.value()]].concat();
    let step = 2 * ring.degree() as u64;
    let found = primes::primes_one_mod(LOG_M_TILDE.into(), step, 1, &taken)?;
    let found = TableModulus::primes(&found).pop();
    found.ok_or(RlweError::Length {
        what: "the list of primes for m-tilde",
        expected: 1,
        got: 0,
    })
}

/// q_0 ... q_level.
pub(super) fn product(ring: &rlwe::Params, level: Level) -> BigUint {
    ring.cipher_moduli().iter().take(level.primes()).product()
}

/// As many primes for B as for the ciphertext, one more where K t Q^2 < Q B m_sk would not hold for K = 2^32, and m_sk:
/// SEAL's rule.
fn behz_primes(ring: &rlwe::Params, t: PlainModulus, level: Level) -> usize {
    let bits = SUM_BITS + u64::from(t.reducer().bits()) + product(ring, level).bits();
    let held = u64::from(PRIME_BITS) * (level.primes() as u64 + 1);
    level.primes() + usize::from(bits >= held) + 1
}

/// The fewest primes of so many bits, each above half of 2 to them, whose product P holds round(t d / Q): both factors' coefficients are at
/// most Q / 2, and a coefficient of d sums at most 2 N products, so that |t d / Q| <= t N Q / 2, which must stay below
/// P / 2.
fn hps_primes(ring: &rlwe::Params, t: PlainModulus, level: Level, bits: u32) -> usize {
    let largest = product(ring, level) * t.value() * ring.degree() + 2u32;
    let each = u64::from(bits - 1);
    largest.bits().div_ceil(each) as usize
}
