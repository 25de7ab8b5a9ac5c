// SPDX-License-Identifier: Apache-2.0
//! CKKS parameters: those of every ring scheme, and a default scale.

use std::ops::Deref;
use std::sync::Arc;

use super::error::CkksError;
use super::params_builder::ParamsBuilder;
use crate::rlwe::{self, RingParams};

/// A checked parameter set, which [`Params::builder`] or [`Params::named`] makes and callers share as `Arc<Params>`.
/// The ring, the primes and their security are those of [`rlwe::Params`], to which it dereferences.
///
/// ```
/// use ringmill_schemes::ckks::Params;
/// let params = Params::named("set2").unwrap();
/// assert_eq!((params.degree(), params.cipher_count(), params.special_count()), (1 << 15, 9, 1));
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Params {
    ring: Arc<rlwe::Params>,
    default_scale: f64,
}

impl Deref for Params {
    type Target = rlwe::Params;

    fn deref(&self) -> &rlwe::Params {
        &self.ring
    }
}

impl Params {
    /// The sparse 60-bit prime 2^59 + 2^25 + 2^22 - 2^20 + 1 from appendix A of the Medha paper.
    pub const SPARSE_60: u64 = 576_460_752_340_123_649;
    /// The number of bytes of the parameters' canonical form that are CKKS's own. They hold the default scale.
    pub(crate) const OWN_BYTES: usize = 8;

    /// Starts a CKKS parameter set of ring degree 2^`log_n`.
    pub fn builder(log_n: u8) -> ParamsBuilder {
        ParamsBuilder::new(log_n)
    }

    /// Returns a parameter set with the sizes of the Medha paper: `set1` (N = 2^14, 7 ciphertext primes and a
    /// special one) or `set2` (N = 2^15, 9 and a special one). Their primes are the sparse 60-bit prime, then
    /// 54-bit primes that are 1 mod 2^16, largest first, with the last one special. The primes of `set1` are the
    /// first of `set2`'s. The security of `set1` is checked by the table `standard_2018.ternary`.
    pub fn named(name: &str) -> Result<Arc<Self>, CkksError> {
        ParamsBuilder::named(name)?.build()
    }

    pub(super) fn new(ring: rlwe::Params, default_scale: f64) -> Arc<Self> {
        let words = format!("scale 2^{:.2}", default_scale.log2());
        let own = default_scale.to_bits().to_le_bytes();
        Arc::new(Self {
            ring: Arc::new(ring.with_own(own.to_vec(), words)),
            default_scale,
        })
    }

    /// Returns the number of slots, N / 2.
    pub fn slots(&self) -> usize {
        self.degree() / 2
    }

    /// Returns the scale of plaintexts that are encoded without another scale from the caller.
    pub fn default_scale(&self) -> f64 {
        self.default_scale
    }
}

impl RingParams for Params {
    fn ring_params(&self) -> &Arc<rlwe::Params> {
        &self.ring
    }
}
