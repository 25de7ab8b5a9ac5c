//! Our parameters seen as SEAL sees them.

use std::sync::Arc;

use ringmill_isa::Level;
use ringmill_limits::Watch;

use super::chain::{Chain, ParmsId};
use super::error::SealError;
use super::raw;
use super::{Compression, emit};
use crate::ckks::{Params, ParamsBuilder};
use crate::rlwe::RlweError;

/// SEAL's largest prime.
const MAX_PRIME_BITS: u32 = 60;

/// Reads a file of SEAL's `EncryptionParameters::save`. SEAL keeps no security level in it, so the choice is the
/// caller's: the builder checks against 128 bits of `guidelines_2024.ternary` unless told otherwise; SEAL's own bounds
/// are the table `standard_2018.ternary`, and parameters that SEAL used with `sec_level_type::none` need the builder's
/// opt-out.
///
/// # Errors
/// A file that is not SEAL's, of another scheme, or without a special prime.
///
/// ```no_run
/// use ringmill_schemes::ckks::{SecurityLevel, SecurityTable};
/// use ringmill_schemes::seal;
///
/// let builder = seal::read_parameters(&std::fs::read("parms.seal")?)?;
/// let params = builder.security(SecurityTable::Standard2018Ternary, SecurityLevel::Bits128).build()?;
/// let context = seal::SealContext::new(params)?;
/// let cipher = seal::read_ciphertext(&context, &std::fs::read("cipher.seal")?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_parameters(bytes: &[u8]) -> Result<ParamsBuilder, SealError> {
    let raw = raw::read_parameters(bytes)?;
    let log_n = raw.n.trailing_zeros() as u8;
    match raw.moduli.split_last() {
        Some((&special, cipher)) if !cipher.is_empty() => Ok(Params::builder(log_n).primes(cipher, &[special])),
        _ => Err(SealError::Unsupported {
            reason: "one prime leaves none for key switching; use two or more, of which SEAL keeps the last".into(),
        }),
    }
}

/// Writes parameters for SEAL's `EncryptionParameters::load`.
pub fn write_parameters(
    context: &SealContext,
    compression: Compression,
) -> Result<Vec<u8>, SealError> {
    emit::parameters(&context.chain, compression)
}

/// Parameters together with the names that SEAL gives to their levels.
#[derive(Clone, Debug)]
pub struct SealContext {
    params: Arc<Params>,
    pub(super) chain: Chain,
    pub(super) watch: Watch,
}

impl SealContext {
    /// # Errors
    /// Parameters SEAL cannot have: other than one special prime, or a prime above 60 bits.
    pub fn new(params: Arc<Params>) -> Result<Self, SealError> {
        if params.special_count() != 1 {
            let found = params.special_count();
            let reason = format!(
                "SEAL has one special prime, these have {found}; leave dnum at its default"
            );
            return Err(SealError::Unsupported { reason });
        }
        if let Some(prime) = params.moduli().iter().find(|&&q| q >> MAX_PRIME_BITS != 0) {
            let reason = format!(
                "the prime {prime} is longer than SEAL's {MAX_PRIME_BITS} bits; choose smaller primes"
            );
            return Err(SealError::Unsupported { reason });
        }
        let chain = Chain::new(params.degree(), params.moduli());
        Ok(Self {
            params,
            chain,
            watch: Watch::default(),
        })
    }

    /// The same context for work under a watch: reading keys takes no more memory than its limits allow, and stops when it
    /// is asked to. Other objects need no such limit: their parameters fix their size.
    pub fn watched(&self, watch: &Watch) -> Self {
        Self {
            watch: watch.clone(),
            ..self.clone()
        }
    }

    pub fn params(&self) -> &Arc<Params> {
        &self.params
    }

    /// SEAL's name for a level.
    pub fn parms_id(&self, level: Level) -> Result<ParmsId, SealError> {
        self.params.check_level(level)?;
        self.chain
            .id(level.primes())
            .ok_or(SealError::from(RlweError::Level {
                got: level,
                max: self.params.max_level(),
            }))
    }
}
