// SPDX-License-Identifier: Apache-2.0
//! Builds and checks BGV parameter sets.

use std::sync::Arc;

use ringmill_math::primes;

use super::Bgv;
use super::error::BgvError;
use super::params::Params;
use crate::exact::PlainModulus;
use crate::rlwe::{
    self, ErrorDistribution, RlweError, SecretDistribution, SecurityLevel, SecurityTable,
};
use crate::scheme::Scheme;

/// Collects the choices of a BGV parameter set; [`ParamsBuilder::build`] checks them.
#[derive(Clone, Debug)]
pub struct ParamsBuilder {
    ring: rlwe::ParamsBuilder,
    t: PlainModulus,
    further: u8,
}

impl ParamsBuilder {
    /// Starts a BGV parameter set from choices that all ring schemes share.
    pub(crate) fn new(ring: rlwe::ParamsBuilder, t: PlainModulus) -> Self {
        Self {
            ring,
            t,
            further: 0,
        }
    }

    fn map(self, choose: impl FnOnce(rlwe::ParamsBuilder) -> rlwe::ParamsBuilder) -> Self {
        Self {
            ring: choose(self.ring),
            ..self
        }
    }

    /// Chooses ciphertext primes and special primes by their sizes in bits, as SEAL's `CoeffModulus::Create` does for
    /// the two lists joined.
    pub fn prime_bits(self, cipher: &[u32], special: &[u32]) -> Self {
        self.map(|ring| ring.prime_bits(cipher, special))
    }

    /// Sets the ciphertext primes and the special primes. They must be distinct, below 2^61 and 1 mod 2N.
    pub fn primes(self, cipher: &[u64], special: &[u64]) -> Self {
        self.map(|ring| ring.primes(cipher, special))
    }

    /// Chooses Montgomery-friendly primes (BASALISC paper, section 6.4): the smallest primes above 2^31 that are 1
    /// modulo 2^17, whatever N is. `cipher` is the number of ciphertext primes, `special` that of special primes.
    ///
    /// # Errors
    /// Fails for more primes than the parameters of a ring may have.
    pub fn friendly_primes(self, cipher: usize, special: usize) -> Result<Self, BgvError> {
        let chosen = friendly_primes(cipher.saturating_add(special))?;
        let (cipher, special) = chosen.split_at(cipher.min(chosen.len()));
        Ok(self.primes(cipher, special))
    }

    /// Makes divisions by primes in operations subtract t times a limb, for the plaintext modulus t (BASALISC paper,
    /// Equation 6), so that no such division computes modulo t. Operations on plaintexts modulo t still do. Such
    /// parameters are for machines whose multipliers take primes alone, such as the vector machine. The remainder of a
    /// division by k primes of product P is then below t k P instead of (t + k) P, and the bits differ from SEAL's.
    pub fn divide_modulo_primes_alone(self) -> Self {
        self.map(rlwe::ParamsBuilder::divide_modulo_primes_alone)
    }

    /// Adds `further` plaintext moduli after t = p^r, a power of an odd prime: p^(r + 1) to p^e with e = r +
    /// `further`. Bootstrapping computes modulo the further moduli. The errors of key-switching keys are multiples
    /// of p^e.
    pub fn further_plain_moduli(self, further: u8) -> Self {
        Self { further, ..self }
    }

    /// Sets dnum, the number of key-switching digits. A digit has at most ceil(ciphertext primes / dnum) primes. It
    /// needs as many special primes as it has primes, or special primes whose product has as many bits. By default dnum
    /// follows from the number of special primes; one special prime gives one digit for each ciphertext prime (SEAL).
    pub fn dnum(self, dnum: usize) -> Self {
        self.map(|ring| ring.dnum(dnum))
    }

    pub fn secret(self, secret: SecretDistribution) -> Self {
        self.map(|ring| ring.secret(secret))
    }

    pub fn error(self, error: ErrorDistribution) -> Self {
        self.map(|ring| ring.error(error))
    }

    /// Sets the security table and level against which [`ParamsBuilder::build`] checks, by default 128 bits of
    /// `guidelines_2024.ternary`. In BGV all errors are multiples of a plaintext modulus. It is coprime to the
    /// primes, so such errors hide as much as others.
    pub fn security(self, table: SecurityTable, level: SecurityLevel) -> Self {
        self.map(|ring| ring.security(table, level))
    }

    /// Accepts parameters without security. This opt-out is part of the parameters' identity. If the parameters miss
    /// the security level, their summary says so, and so does every report.
    pub fn allow_insecure_parameters_for_tests_only(self) -> Self {
        self.map(rlwe::ParamsBuilder::allow_insecure_parameters_for_tests_only)
    }

    /// Checks all choices and makes the BGV parameters.
    ///
    /// # Errors
    /// The errors of the ring's parameters. Also fails for a plaintext modulus that a ciphertext or special prime
    /// divides, or that is not below the product of the ciphertext primes. With further plaintext moduli, also fails if
    /// t is no power of an odd prime, if there are more than 15, or if one is 2^60 or more.
    pub fn build(self) -> Result<Arc<Params>, BgvError> {
        let ring = self.ring.build(Bgv::TAG)?;
        self.t.check_chain(&ring)?;
        Params::new(ring, self.t, self.further)
    }
}

/// The number 2^17. Primes that suit the multipliers of the vector machine are 1 modulo this number.
const FRIENDLY: u64 = 1 << 17;

/// Returns the `count` smallest primes above 2^31 that are 1 modulo 2^17.
///
/// # Errors
/// Fails for more primes than the parameters of a ring may have.
pub fn friendly_primes(count: usize) -> Result<Vec<u64>, BgvError> {
    if count > rlwe::Params::MAX_PRIMES {
        return Err(BgvError::Rlwe(RlweError::Parameter {
            what: "number of Montgomery-friendly primes",
            expected: format!("at most {}", rlwe::Params::MAX_PRIMES),
            got: count.to_string(),
        }));
    }
    let candidates = (1u64 << 31..1 << 32).step_by(FRIENDLY as usize);
    let candidates = candidates.map(|x| x + 1).filter(|&q| primes::is_prime(q));
    Ok(candidates.take(count).collect())
}
