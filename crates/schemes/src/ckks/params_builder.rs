// SPDX-License-Identifier: Apache-2.0
//! Builds and checks CKKS parameter sets.

use std::sync::Arc;

use ringmill_math::primes;

use super::Ckks;
use super::error::CkksError;
use super::params::Params;
use crate::rlwe::{
    self, ErrorDistribution, RlweError, SecretDistribution, SecurityLevel, SecurityTable,
};
use crate::scheme::Scheme;

/// Collects the choices of a CKKS parameter set; [`ParamsBuilder::build`] checks them.
///
/// ```
/// use ringmill_schemes::ckks::Params;
/// let params = Params::builder(14).prime_bits(&[60, 40, 40, 40], &[60]).build().unwrap();
/// assert_eq!(params.dnum(), 4);
/// assert_eq!(params.default_scale(), 2f64.powi(40));
/// ```
#[derive(Clone, Debug)]
pub struct ParamsBuilder {
    ring: rlwe::ParamsBuilder,
    default_scale: Option<f64>,
}

impl ParamsBuilder {
    pub(super) fn new(log_n: u8) -> Self {
        rlwe::Params::builder(log_n).into()
    }

    /// Starts from a named set, which the caller may change; see [`Params::named`].
    pub fn named(name: &str) -> Result<Self, CkksError> {
        let (log_n, count, table) = match name {
            "set1" => (14, 7, SecurityTable::Standard2018Ternary),
            "set2" => (15, 9, SecurityTable::default()),
            _ => {
                return Err(CkksError::UnknownSet {
                    got: name.to_owned(),
                });
            }
        };
        let mut cipher = vec![Params::SPARSE_60];
        // The smaller set has primes of the larger one, so a machine built for the larger set runs both (Medha paper,
        // section 4.1).
        cipher.extend(primes::ntt_primes(54, 15, count)?);
        let special = cipher.split_off(count);
        Ok(Self::new(log_n)
            .primes(&cipher, &special)
            .security(table, SecurityLevel::Bits128))
    }

    fn map(self, choose: impl FnOnce(rlwe::ParamsBuilder) -> rlwe::ParamsBuilder) -> Self {
        Self {
            ring: choose(self.ring),
            default_scale: self.default_scale,
        }
    }

    /// Chooses ciphertext primes and special primes by their sizes in bits, as SEAL's `CoeffModulus::Create` does for
    /// the two lists joined.
    pub fn prime_bits(self, cipher: &[u32], special: &[u32]) -> Self {
        self.map(|ring| ring.prime_bits(cipher, special))
    }

    /// Sets the ciphertext primes and the special primes. All must be distinct primes below 2^61 that are 1 mod 2N, at
    /// most 128 together.
    pub fn primes(self, cipher: &[u64], special: &[u64]) -> Self {
        self.map(|ring| ring.primes(cipher, special))
    }

    /// Sets dnum, the number of key-switching digits. A digit has at most ceil(ciphertext primes / dnum) primes. It
    /// needs at least as many special primes as it has primes, or special primes whose product has at least its bits.
    /// By default dnum follows from the number of special primes; one special prime gives one digit for each ciphertext
    /// prime (SEAL).
    pub fn dnum(self, dnum: usize) -> Self {
        self.map(|ring| ring.dnum(dnum))
    }

    /// Sets the scale of plaintexts that are encoded without another scale from the caller. The default is 2^b,
    /// where b is the number of bits of the last ciphertext prime. For a single ciphertext prime of b bits it is
    /// 2^floor(b / 2).
    pub fn default_scale(mut self, scale: f64) -> Self {
        self.default_scale = Some(scale);
        self
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

    /// Checks all choices and makes the CKKS parameters.
    ///
    /// # Errors
    /// The errors of the ring's parameters. Also fails for a binary secret, and for a default scale that is not from 1
    /// to below the product of the ciphertext primes.
    pub fn build(self) -> Result<Arc<Params>, CkksError> {
        let ring = self.ring.build(Ckks::TAG)?;
        // The noise bound assumes that the slots of a secret are alike. A secret with a mean has some large slots.
        if ring.secret_distribution() == SecretDistribution::Binary {
            return Err(CkksError::Rlwe(RlweError::Parameter {
                what: "the secret's distribution",
                expected: "one about zero (ternary, sparse ternary or Gaussian)".into(),
                got: "binary".into(),
            }));
        }
        let default_scale = self
            .default_scale
            .unwrap_or_else(|| match ring.cipher_moduli() {
                [only] => 2f64.powi((64 - only.leading_zeros() as i32) / 2),
                [.., last] => 2f64.powi(64 - last.leading_zeros() as i32),
                [] => 1.0,
            });
        let log_q = ring.log_q(ring.max_level());
        if !(default_scale.is_finite() && default_scale >= 1.0 && default_scale.log2() < log_q) {
            return Err(CkksError::Scale {
                got: default_scale,
                max_log2: log_q,
            });
        }
        Ok(Params::new(ring, default_scale))
    }
}

/// Starts a CKKS parameter set from choices that all ring schemes share.
impl From<rlwe::ParamsBuilder> for ParamsBuilder {
    fn from(ring: rlwe::ParamsBuilder) -> Self {
        Self {
            ring,
            default_scale: None,
        }
    }
}
