// SPDX-License-Identifier: Apache-2.0
//! Builds and checks BFV parameter sets.

use std::sync::Arc;

use super::Bfv;
use super::error::BfvError;
use super::params::{Multiplication, Params};
use crate::exact::PlainModulus;
use crate::rlwe::{self, ErrorDistribution, SecretDistribution, SecurityLevel, SecurityTable};
use crate::scheme::Scheme;

/// Collects the choices of a BFV parameter set; [`ParamsBuilder::build`] checks them.
#[derive(Clone, Debug)]
pub struct ParamsBuilder {
    ring: rlwe::ParamsBuilder,
    t: PlainModulus,
    multiplication: Multiplication,
}

impl ParamsBuilder {
    /// Starts a BFV parameter set from choices that all ring schemes share.
    pub(crate) fn new(ring: rlwe::ParamsBuilder, t: PlainModulus) -> Self {
        Self {
            ring,
            t,
            multiplication: Multiplication::default(),
        }
    }

    fn map(self, choose: impl FnOnce(rlwe::ParamsBuilder) -> rlwe::ParamsBuilder) -> Self {
        Self {
            ring: choose(self.ring),
            ..self
        }
    }

    /// Sets the method by which ciphertexts are multiplied. The default is BEHZ, as in SEAL.
    pub fn multiplication(self, multiplication: Multiplication) -> Self {
        Self {
            multiplication,
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
    /// `guidelines_2024.ternary`.
    pub fn security(self, table: SecurityTable, level: SecurityLevel) -> Self {
        self.map(|ring| ring.security(table, level))
    }

    /// Accepts parameters without security. This opt-out is part of the parameters' identity. If the parameters miss
    /// the security level, their summary says so, and so does every report.
    pub fn allow_insecure_parameters_for_tests_only(self) -> Self {
        self.map(rlwe::ParamsBuilder::allow_insecure_parameters_for_tests_only)
    }

    /// Checks all choices and makes the BFV parameters.
    ///
    /// # Errors
    /// The errors of the ring's parameters. Also fails for a plaintext modulus that a ciphertext or special prime
    /// divides, or that is not below the product of the ciphertext primes, and if there are too few auxiliary primes.
    pub fn build(self) -> Result<Arc<Params>, BfvError> {
        let ring = self.ring.build(Bfv::TAG)?;
        self.t.check_chain(&ring)?;
        Params::new(ring, self.t, self.multiplication)
    }
}
