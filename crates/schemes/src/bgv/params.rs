//! BGV parameters: those of every ring scheme, and a plaintext modulus.

use std::ops::Deref;
use std::sync::Arc;

use ringmill_isa::mid::TableModulus;

use super::Bgv;
use super::error::BgvError;
use super::params_builder::ParamsBuilder;
use crate::exact::{ExactParams, PlainModulus};
use crate::rlwe::{self, RingParams};
use crate::scheme::{ParameterSet, ParamsId, Scheme};

/// A checked parameter set. Made by [`Params::builder`]; shared as `Arc<Params>`. The ring, the primes and their security
/// are those of [`rlwe::Params`], which it gives access to as its own.
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
}

impl Deref for Params {
    type Target = rlwe::Params;

    fn deref(&self) -> &rlwe::Params {
        &self.ring
    }
}

impl Params {
    /// Bytes of the canonical form that are BGV's own: the plaintext modulus.
    pub(crate) const OWN_BYTES: usize = 8;

    /// Starts a parameter set of ring degree 2^`log_n` and plaintext modulus `t`, a batching prime where messages are
    /// slots.
    pub fn builder(log_n: u8, t: PlainModulus) -> ParamsBuilder {
        ParamsBuilder::new(rlwe::Params::builder(log_n), t)
    }

    pub(super) fn new(ring: rlwe::Params, t: PlainModulus) -> Result<Arc<Self>, BgvError> {
        let ring = ring.with_low_messages(t.table_modulus())?;
        let ring = Arc::new(ring.with_own(t.value().to_le_bytes().to_vec()));
        Ok(Arc::new(Self { ring, t }))
    }

    /// One line for reports.
    pub fn summary(&self) -> String {
        format!(
            "{} {}, t = {}; {}",
            Bgv::TAG.name,
            self.chain_summary(),
            self.t.value(),
            self.security().summary()
        )
    }
}

impl ParameterSet for Params {
    fn id(&self) -> &ParamsId {
        self.ring.id()
    }

    fn canonical(&self) -> Vec<u8> {
        self.ring.canonical()
    }

    fn log_n(&self) -> u8 {
        self.ring.log_n()
    }

    fn moduli(&self) -> &[u64] {
        self.ring.moduli()
    }

    fn table(&self) -> Vec<TableModulus> {
        self.ring.table().to_vec()
    }

    fn summary(&self) -> String {
        self.summary()
    }
}

impl RingParams for Params {
    fn ring_params(&self) -> &Arc<rlwe::Params> {
        &self.ring
    }
}

impl ExactParams for Params {
    fn plain_modulus(&self) -> PlainModulus {
        self.t
    }

    fn plain_index(&self) -> usize {
        self.ring.moduli().len()
    }
}
