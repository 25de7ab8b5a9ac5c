// SPDX-License-Identifier: Apache-2.0
//! The parameters of the scheme: a ring and its primes.

use std::sync::Arc;

use ringmill_device::ParamsId;
use ringmill_isa::Level;
use ringmill_math::{Modulus, Ring, primes};
use ringmill_schemes::Origin;
use ringmill_schemes::file::{self, FileError, Kind, Writer};
use ringmill_schemes::scheme::identity;
use ringmill_schemes::{ParameterSet, Scheme};

use super::{Clear, ClearError};

/// A ring of two primes, whose product bounds the integers.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    log_n: u8,
    moduli: [u64; 2],
    id: ParamsId,
}

impl Params {
    pub fn new(log_n: u8) -> Result<Arc<Self>, ClearError> {
        let moduli = primes::ntt_primes(30, u32::from(log_n), 2)?;
        Self::of(log_n, [moduli[0], moduli[1]])
    }

    fn of(log_n: u8, moduli: [u64; 2]) -> Result<Arc<Self>, ClearError> {
        let right = |&q: &u64| primes::is_prime(q) && q >> 31 == 0 && q % (2 << log_n) == 1;
        if !(3..=15).contains(&log_n) || !moduli.iter().all(right) || moduli[0] == moduli[1] {
            return Err(ClearError::Value {
                what: "the ring",
                expected: "2^3 to 2^15 and two different friendly primes below 2^31".into(),
                got: format!("2^{log_n} and {moduli:?}"),
            });
        }
        let mut params = Self {
            log_n,
            moduli,
            id: [0; 32],
        };
        params.id = identity(&params.canonical());
        Ok(Arc::new(params))
    }

    pub fn degree(&self) -> usize {
        1 << self.log_n
    }

    pub fn ring(&self) -> Ring {
        Ring::full(self.log_n)
    }

    /// Returns the one level that the scheme has.
    pub fn level(&self) -> Level {
        Level(self.moduli.len() as u32 - 1)
    }

    pub fn origin(&self) -> Origin {
        Origin {
            scheme: Clear::TAG,
            params_id: self.id,
            key_id: None,
        }
    }

    /// Returns the integer below the product of the two primes that has these residues.
    pub fn integer(&self, [a, b]: [u64; 2]) -> Result<u64, ClearError> {
        let [p, q] = self.moduli;
        let q = Modulus::new(q)?;
        let difference = q.sub(b, a % q.value());
        Ok(a + p * q.mul(difference, q.inv(p % q.value())?))
    }

    pub fn write(&self) -> Vec<u8> {
        let mut w = Writer::new(Kind::Params, &self.origin(), 20);
        w.bytes(&self.canonical());
        w.finish()
    }

    pub fn read(bytes: &[u8]) -> Result<Arc<Self>, ClearError> {
        let (header, mut r) = file::open(bytes, Kind::Params, Clear::TAG, None)?;
        let [scheme, log_n] = r.array()?;
        let (p, q) = (r.u64()?, r.u64()?);
        r.end()?;
        let params = Self::of(log_n, [p, q])?;
        if scheme == Clear::TAG.byte && params.id == header.params_id {
            return Ok(params);
        }
        Err(ClearError::File(FileError::Refused(
            "another identity".into(),
        )))
    }
}

impl ParameterSet for Params {
    fn id(&self) -> &ParamsId {
        &self.id
    }

    fn canonical(&self) -> Vec<u8> {
        let head = [Clear::TAG.byte, self.log_n];
        let moduli = self.moduli.iter().flat_map(|q| q.to_le_bytes());
        head.into_iter().chain(moduli).collect()
    }

    fn log_n(&self) -> u8 {
        self.log_n
    }

    fn moduli(&self) -> &[u64] {
        &self.moduli
    }

    /// Returns 0, because the scheme has no keys.
    fn key_bytes(&self, _: usize, _: bool) -> u64 {
        0
    }

    fn summary(&self) -> String {
        format!("clear N = 2^{}, INSECURE: nothing is encrypted", self.log_n)
    }
}
