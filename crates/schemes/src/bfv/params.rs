// SPDX-License-Identifier: Apache-2.0
//! BFV parameters: those of every ring scheme, a plaintext modulus t, and the method by which products are divided by
//! Q / t.

use std::ops::Deref;
use std::sync::Arc;

use ringmill_isa::Level;

use super::auxiliary::Auxiliary;
use super::error::BfvError;
use super::params_builder::ParamsBuilder;
use crate::exact::{ExactParams, PlainModulus};
use crate::rlwe;

/// The method that multiplies two ciphertexts beyond the modulus Q and divides the product by Q / t, where t is the
/// plaintext modulus.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Multiplication {
    /// Bajard, Eynard, Hasan and Zucca (SAC 2016): fast base extensions, corrected by the auxiliary moduli m-tilde and
    /// m_sk, with SEAL's bits.
    #[default]
    Behz,
    /// BEHZ whose auxiliary modulus m-tilde is a 32-bit prime that is 1 mod 2N, in place of the power of two 2^32, for
    /// hardware that computes only modulo primes. The noise is BEHZ's; the bits differ from SEAL's.
    BehzPrime,
    /// Halevi, Polyakov and Shoup (CT-RSA 2019), with exact base extensions: exactly round(t a b / Q) for centred
    /// factors a and b and the plaintext modulus t. It has less noise than BEHZ, and other bits.
    Hps,
    /// The method of [`Self::Hps`] with other auxiliary primes, of 32 bits and 1 modulo 2^17, for the vector machine.
    /// The products have the same bits.
    HpsFriendly,
}

impl Multiplication {
    pub const ALL: [Self; 4] = [Self::Behz, Self::BehzPrime, Self::Hps, Self::HpsFriendly];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Behz => "BEHZ",
            Self::BehzPrime => "BEHZ-prime",
            Self::Hps => "HPS",
            Self::HpsFriendly => "HPS-friendly",
        }
    }

    /// Returns the number that stands for the method in files and in the parameters' canonical form.
    pub(super) const fn byte(self) -> u8 {
        match self {
            Self::Behz => 0,
            Self::Hps => 1,
            Self::BehzPrime => 2,
            Self::HpsFriendly => 3,
        }
    }
}

/// A checked parameter set, which [`Params::builder`] makes and callers share as `Arc<Params>`. The ring, the primes
/// and their security are those of [`rlwe::Params`], to which it dereferences.
///
/// ```
/// use ringmill_schemes::bfv::{Params, PlainModulus};
/// let t = PlainModulus::batching(13, 20).unwrap();
/// let params = Params::builder(13, t).prime_bits(&[42, 42, 42, 42], &[43]).build().unwrap();
/// assert_eq!((params.degree(), params.cipher_count()), (1 << 13, 4));
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Params {
    ring: Arc<rlwe::Params>,
    t: PlainModulus,
    multiplication: Multiplication,
    auxiliary: Auxiliary,
}

impl Deref for Params {
    type Target = rlwe::Params;

    fn deref(&self) -> &rlwe::Params {
        &self.ring
    }
}

impl Params {
    /// The number of bytes of the parameters' canonical form that are BFV's own. They hold the plaintext modulus
    /// and the method of multiplication.
    pub(crate) const OWN_BYTES: usize = 9;

    /// Starts a parameter set of ring degree 2^`log_n` and plaintext modulus `t`.
    pub fn builder(log_n: u8, t: PlainModulus) -> ParamsBuilder {
        ParamsBuilder::new(rlwe::Params::builder(log_n), t)
    }

    pub(super) fn new(
        ring: rlwe::Params,
        t: PlainModulus,
        multiplication: Multiplication,
    ) -> Result<Arc<Self>, BfvError> {
        let (auxiliary, ring) = Auxiliary::new(ring, t, multiplication)?;
        let mut own = t.value().to_le_bytes().to_vec();
        own.push(multiplication.byte());
        let words = format!("t = {}, products by {}", t.value(), multiplication.name());
        Ok(Arc::new(Self {
            ring: Arc::new(ring.with_own(own, words)),
            t,
            multiplication,
            auxiliary,
        }))
    }

    /// Returns the method by which two ciphertexts are multiplied and their product is divided by Q / t, where t is the
    /// plaintext modulus.
    pub fn multiplication(&self) -> Multiplication {
        self.multiplication
    }

    /// Returns the auxiliary primes of a multiplication at a level, which it needs in addition to the ciphertext's.
    pub fn auxiliary_primes(&self, level: Level) -> Vec<u64> {
        let places = self.auxiliary.all(level);
        let found = self.ring.table().get(places).unwrap_or(&[]);
        found.iter().filter_map(|q| q.prime()).collect()
    }

    pub(super) fn auxiliary(&self) -> &Auxiliary {
        &self.auxiliary
    }
}

impl ExactParams for Params {
    fn shared_params(&self) -> &Arc<rlwe::Params> {
        &self.ring
    }

    fn plain_modulus(&self) -> PlainModulus {
        self.t
    }

    fn plain_index(&self) -> usize {
        self.auxiliary.plain
    }
}
