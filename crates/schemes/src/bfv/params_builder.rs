// SPDX-License-Identifier: Apache-2.0
//! Building and checking parameter sets.

use std::sync::Arc;

use super::Bfv;
use super::error::BfvError;
use super::params::{Multiplication, Params};
use crate::exact::PlainModulus;
use crate::rlwe::{self, ErrorDistribution, SecretDistribution, SecurityLevel, SecurityTable};
use crate::scheme::Scheme;

/// Collects the choices of a parameter set; [`ParamsBuilder::build`] checks them.
#[derive(Clone, Debug)]
pub struct ParamsBuilder {
    ring: rlwe::ParamsBuilder,
    t: PlainModulus,
    multiplication: Multiplication,
}

impl ParamsBuilder {
    /// Of choices that ring schemes share, made elsewhere.
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

    /// How products are computed; BEHZ, as SEAL, by default.
    pub fn multiplication(self, multiplication: Multiplication) -> Self {
        Self {
            multiplication,
            ..self
        }
    }

    /// Primes by size in bits, chosen as SEAL's `CoeffModulus::Create` does from the two lists joined.
    pub fn prime_bits(self, cipher: &[u32], special: &[u32]) -> Self {
        self.map(|ring| ring.prime_bits(cipher, special))
    }

    /// Given primes: distinct, below 2^61 and 1 mod 2N.
    pub fn primes(self, cipher: &[u64], special: &[u64]) -> Self {
        self.map(|ring| ring.primes(cipher, special))
    }

    /// Number of key-switching digits, each of alpha = ceil(ciphertext primes / dnum) primes; needs alpha special
    /// primes. By default it follows from the number of special primes: one special prime gives one digit a prime (SEAL).
    pub fn dnum(self, dnum: usize) -> Self {
        self.map(|ring| ring.dnum(dnum))
    }

    pub fn secret(self, secret: SecretDistribution) -> Self {
        self.map(|ring| ring.secret(secret))
    }

    pub fn error(self, error: ErrorDistribution) -> Self {
        self.map(|ring| ring.error(error))
    }

    /// The table and level that [`ParamsBuilder::build`] checks; 128 bits of `guidelines_2024.ternary` by default.
    pub fn security(self, table: SecurityTable, level: SecurityLevel) -> Self {
        self.map(|ring| ring.security(table, level))
    }

    /// Accepts parameters that protect nothing. The opt-out is part of the parameters' identity and their summary, and
    /// so of every report.
    pub fn allow_insecure_parameters_for_tests_only(self) -> Self {
        self.map(rlwe::ParamsBuilder::allow_insecure_parameters_for_tests_only)
    }

    /// Checks everything and makes the parameters.
    ///
    /// # Errors
    /// What the ring's parameters refuse; a plaintext modulus that a prime divides, or that is not below the ciphertext
    /// primes' product.
    pub fn build(self) -> Result<Arc<Params>, BfvError> {
        let ring = self.ring.build(Bfv::TAG)?;
        self.t.check_chain(&ring)?;
        Params::new(ring, self.t, self.multiplication)
    }
}
