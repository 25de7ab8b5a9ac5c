// SPDX-License-Identifier: Apache-2.0
//! BGV parameters: those of every ring scheme, and a plaintext modulus t.

use std::ops::Deref;
use std::sync::Arc;

use ringmill_isa::mid::TableModulus;

use super::error::BgvError;
use super::factor::Factor;
use super::params_builder::ParamsBuilder;
use crate::exact::{ExactParams, PlainModulus, PrimePower};
use crate::rlwe::{self, RlweError};

/// A checked parameter set, which [`Params::builder`] makes and callers share as `Arc<Params>`. The ring, the primes
/// and their security are those of [`rlwe::Params`], to which it dereferences.
///
/// ```
/// use ringmill_schemes::bgv::{Params, PlainModulus};
/// let t = PlainModulus::batching(13, 20).unwrap();
/// let params = Params::builder(13, t).prime_bits(&[42, 42, 42, 42], &[43]).build().unwrap();
/// assert_eq!((params.degree(), params.cipher_count()), (1 << 13, 4));
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Params {
    ring: Arc<rlwe::Params>,
    t: PlainModulus,
    /// The plaintext moduli: t, then those of bootstrapping, p t, p^2 t, .... If there are any for bootstrapping, t
    /// is a power of the prime p.
    plain: Vec<PlainModulus>,
}

impl Deref for Params {
    type Target = rlwe::Params;

    fn deref(&self) -> &rlwe::Params {
        &self.ring
    }
}

impl Params {
    /// The number of bytes of the parameters' canonical form that are BGV's own. They hold the plaintext modulus,
    /// and above its 60 bits the number of further plaintext moduli.
    pub(crate) const OWN_BYTES: usize = 8;

    /// Starts a parameter set of ring degree 2^`log_n` and plaintext modulus `t`. For messages in N slots t must be a
    /// prime that allows batching. A power of an odd prime has slots only with further plaintext moduli.
    pub fn builder(log_n: u8, t: PlainModulus) -> ParamsBuilder {
        ParamsBuilder::new(rlwe::Params::builder(log_n), t)
    }

    /// Makes parameters in which `further` plaintext moduli follow t. If there are any, t must be a power of an odd
    /// prime.
    pub(super) fn new(
        ring: rlwe::Params,
        t: PlainModulus,
        further: u8,
    ) -> Result<Arc<Self>, BgvError> {
        let mut plain = vec![t];
        if further > 0 {
            let power = prime_power(t)?;
            if further > Factor::MAX_PLAIN {
                return Err(BgvError::Rlwe(RlweError::Parameter {
                    what: "the exponent of bootstrapping",
                    expected: format!("at most {} above that of t", Factor::MAX_PLAIN),
                    got: further.to_string(),
                }));
            }
            for i in 1..=u32::from(further) {
                plain.push(power.with_exponent(power.exponent() + i)?.modulus()?);
            }
        }
        let table: Vec<TableModulus> = plain.iter().map(|t| t.table_modulus()).collect();
        let ring = ring.with_low_messages(&table)?;
        let own = t.value() | u64::from(further) << PlainModulus::MAX_BITS;
        let words = format!("t = {}", t.value());
        let ring = Arc::new(ring.with_own(own.to_le_bytes().to_vec(), words));
        Ok(Arc::new(Self { ring, t, plain }))
    }

    /// Returns the plaintext modulus of index `plain`. Index 0 is the modulus t of messages. Each later one, for
    /// bootstrapping, is p times the one before.
    ///
    /// # Errors
    /// Fails for an index that these parameters do not have.
    pub fn plain_at(&self, plain: u8) -> Result<PlainModulus, RlweError> {
        let found = self.plain.get(usize::from(plain)).copied();
        found.ok_or_else(|| RlweError::Parameter {
            what: "a plaintext modulus",
            expected: format!("one of the {} that these parameters have", self.plain.len()),
            got: format!("number {plain}"),
        })
    }

    /// Returns the index of the last plaintext modulus. It is e - r if the plaintext moduli go from t = p^r to p^e
    /// for bootstrapping, otherwise 0.
    pub fn last_plain(&self) -> u8 {
        (self.plain.len() - 1) as u8
    }

    /// Returns the plaintext modulus t of messages as the power of an odd prime.
    ///
    /// # Errors
    /// Fails if t is no power of an odd prime.
    pub fn prime_power(&self) -> Result<PrimePower, RlweError> {
        prime_power(self.plain_modulus())
    }
}

impl ExactParams for Params {
    fn shared_params(&self) -> &Arc<rlwe::Params> {
        &self.ring
    }

    fn plain_modulus(&self) -> PlainModulus {
        self.t
    }

    fn plain_moduli(&self) -> Vec<PlainModulus> {
        self.plain.clone()
    }

    fn plain_index(&self) -> usize {
        self.ring.moduli().len()
    }
}

fn prime_power(t: PlainModulus) -> Result<PrimePower, RlweError> {
    PrimePower::of(t).ok_or_else(|| RlweError::Parameter {
        what: "the plaintext modulus of parameters that bootstrap",
        expected: "a power of an odd prime".into(),
        got: t.value().to_string(),
    })
}
