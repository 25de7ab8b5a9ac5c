// SPDX-License-Identifier: Apache-2.0
//! The auxiliary moduli: those that BFV multiplication needs in addition to the ciphertext's, and their places in the
//! table of moduli.

use num_bigint::BigUint;
use ringmill_isa::Level;
use ringmill_isa::mid::TableModulus;
use ringmill_math::primes;

use super::params::Multiplication;
use crate::exact::PlainModulus;
use crate::rlwe::{self, RlweError};

/// The size in bits of an auxiliary prime. As in SEAL, it is one bit more than that of SEAL's largest ciphertext
/// primes.
const PRIME_BITS: u32 = 61;
/// The size in bits of an auxiliary prime for the vector machine, and the power of two modulo which such a prime
/// is 1.
const FRIENDLY_PRIME_BITS: u32 = 32;
const FRIENDLY_STEP: u64 = 1 << 17;
/// The base-2 logarithm of the auxiliary modulus m-tilde of BEHZ multiplication (Bajard, Eynard, Hasan and Zucca), or
/// the bits of m-tilde if it is a prime.
const LOG_M_TILDE: u8 = 32;
/// The base-2 logarithm of K, the number of products of coefficients for whose sum SEAL's auxiliary primes leave
/// room.
const SUM_BITS: u64 = 32;

/// The auxiliary moduli: primes m_sk, B_0, B_1 ... that are 1 mod 2N, then the plaintext modulus t, and for BEHZ
/// m-tilde. They follow the ciphertext and special primes in the table of moduli, in this order.
///
/// As in SEAL, the largest primes of 61 bits are m_sk, gamma, B_0, B_1 and so on. For the vector machine they are the
/// largest of 32 bits that are 1 modulo 2^17. Decryption uses gamma, and no program does. No auxiliary prime is t, a
/// ciphertext prime or a special prime; in SEAL these are never that large.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Auxiliary {
    /// The index in the parameters' table of moduli of the first auxiliary prime, m_sk.
    first: usize,
    /// For each level, the number of auxiliary primes: m_sk and the primes B_0, B_1, ... together.
    counts: Vec<usize>,
    pub gamma: u64,
    /// The index of the plaintext modulus t in the parameters' table of moduli.
    pub plain: usize,
    /// The index in the parameters' table of moduli of m-tilde, the modulus by which BEHZ multiplication reduces
    /// extended factors in Montgomery's manner. It is the index of t if m-tilde equals t, or if the method has no
    /// m-tilde.
    pub m_tilde: usize,
}

impl Auxiliary {
    /// Chooses the auxiliary moduli for a method of multiplication. Returns them, and the parameters with these moduli
    /// in their table.
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
        // A modulus may be in a table only once.
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

    /// Returns the index of the auxiliary prime m_sk in the parameters' table of moduli.
    pub fn m_sk(&self) -> usize {
        self.first
    }

    /// Returns the indices, in the parameters' table of moduli, of the auxiliary primes B_0, B_1, ... that a
    /// multiplication at a level uses.
    pub fn b(&self, level: Level) -> std::ops::Range<usize> {
        self.first + 1..self.first + self.count(level)
    }

    /// Returns the indices, in the parameters' table of moduli, of all auxiliary primes that a multiplication at a
    /// level uses: m_sk, then B_0, B_1, ....
    pub fn all(&self, level: Level) -> std::ops::Range<usize> {
        self.first..self.first + self.count(level)
    }
}

/// Returns the largest prime of 32 bits that is 1 mod 2N, that is no ciphertext or special prime, and that is not the
/// plaintext modulus t.
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

/// Returns Q at a level: the product of q_0 to q_level.
pub(super) fn product(ring: &rlwe::Params, level: Level) -> BigUint {
    ring.cipher_moduli().iter().take(level.primes()).product()
}

/// Returns the number of auxiliary primes that SEAL uses for BEHZ at a level: m_sk, and as many primes B_i as the
/// ciphertext has primes. Let B be the product of the B_i. There is one more B_i if the bits of the numbers do not show
/// that K t Q^2 < Q B m_sk for K = 2^32 and the plaintext modulus t.
fn behz_primes(ring: &rlwe::Params, t: PlainModulus, level: Level) -> usize {
    let bits = SUM_BITS + u64::from(t.reducer().bits()) + product(ring, level).bits();
    let held = u64::from(PRIME_BITS) * (level.primes() as u64 + 1);
    level.primes() + usize::from(bits >= held) + 1
}

/// Returns a number of primes of `bits` bits that suffices for their product P to hold round(t d / Q), where t is the
/// plaintext modulus and d a product of two polynomials. Each prime is above half of 2^`bits`. Both factors'
/// coefficients are at most Q / 2, and a coefficient of d sums at most 2 N products. So |t d / Q| <= t N Q / 2, which
/// must stay below P / 2.
fn hps_primes(ring: &rlwe::Params, t: PlainModulus, level: Level, bits: u32) -> usize {
    let largest = product(ring, level) * t.value() * ring.degree() + 2u32;
    let each = u64::from(bits - 1);
    largest.bits().div_ceil(each) as usize
}
