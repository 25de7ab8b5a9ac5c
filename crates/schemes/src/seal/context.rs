// SPDX-License-Identifier: Apache-2.0
//! Ringmill's parameters as SEAL sees them, with SEAL's names for their levels.

use std::sync::Arc;

use ringmill_isa::Level;
use ringmill_limits::Watch;

use super::chain::{Chain, ParmsId, SealScheme};
use super::error::{Object, SealError};
use super::raw::{self, RawParameters};
use super::sink::Version;
use super::{Compression, emit, source};
use crate::ckks::{Params, ParamsBuilder};
use crate::rlwe::{self, RingParams, RlweError};

/// The first SEAL version that has BGV. `NEWEST` is the newest SEAL version, for which BGV ciphertexts are written
/// by default.
const OLDEST_WITH_FACTORS: Version = [4, 0];
const NEWEST: Version = [4, 3];

/// The most bits that a prime may have in SEAL.
const MAX_PRIME_BITS: u32 = 60;

/// Reads a file that SEAL's `EncryptionParameters::save` wrote for CKKS. The file has no security level, so the
/// caller chooses. By default the builder checks against 128 bits of `guidelines_2024.ternary`. SEAL's own bounds
/// are the table `standard_2018.ternary`. Parameters that SEAL used with `sec_level_type::none` need the builder's
/// opt-out.
///
/// # Errors
/// Fails for a file that is not SEAL's, of another scheme, or without a special prime.
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
    let raw = raw::read_parameters(bytes, SealScheme::Ckks)?;
    let (special, cipher) = special_and_others(&raw)?;
    Ok(Params::builder(raw.n.trailing_zeros() as u8).primes(cipher, &[special]))
}

/// Returns the last prime of SEAL's parameters, which SEAL reserves for key switching, and the other primes.
pub(super) fn special_and_others(raw: &RawParameters) -> Result<(u64, &[u64]), SealError> {
    match raw.moduli.split_last() {
        Some((&special, cipher)) if !cipher.is_empty() => Ok((special, cipher)),
        _ => Err(SealError::Unsupported {
            reason: "one prime leaves none for key switching; use two or more, of which SEAL keeps the last".into(),
        }),
    }
}

/// The parameters of a scheme that SEAL has too. Some of their values SEAL cannot have, and [`SealContext::new`]
/// refuses these.
pub trait SealParams: RingParams {
    /// Returns SEAL's scheme and the plaintext modulus, which is 0 for CKKS.
    ///
    /// # Errors
    /// [`SealError::Unsupported`] for a choice of parameters that SEAL does not have.
    fn seal_scheme(&self) -> Result<(SealScheme, u64), SealError>;
}

impl SealParams for Params {
    fn seal_scheme(&self) -> Result<(SealScheme, u64), SealError> {
        Ok((SealScheme::Ckks, 0))
    }
}

/// Returns the content of a parameter file for SEAL's `EncryptionParameters::load`.
pub fn write_parameters<P>(
    context: &SealContext<P>,
    compression: Compression,
) -> Result<Vec<u8>, SealError> {
    emit::parameters(&context.chain, compression)
}

/// Parameters of Ringmill, with SEAL's names for their levels.
#[derive(Debug)]
pub struct SealContext<P = Params> {
    params: Arc<P>,
    pub(super) chain: Chain,
    /// The SEAL version for which BGV ciphertexts are written, since each SEAL 4.x loads only its own form of them.
    pub(super) version: Version,
    pub(super) watch: Watch,
}

impl<P> Clone for SealContext<P> {
    fn clone(&self) -> Self {
        Self {
            params: Arc::clone(&self.params),
            chain: self.chain.clone(),
            version: self.version,
            watch: self.watch.clone(),
        }
    }
}

impl<P: SealParams> SealContext<P> {
    /// Gives the levels of Ringmill's parameters the names that SEAL computes for them.
    ///
    /// # Errors
    /// Fails for parameters that SEAL cannot have: a number of special primes other than one, fewer key-switching
    /// digits than ciphertext primes, a prime above 60 bits, or BFV without BEHZ multiplication.
    pub fn new(params: Arc<P>) -> Result<Self, SealError> {
        let ring = params.ring_params();
        if ring.special_count() != 1 {
            let found = ring.special_count();
            let reason = format!(
                "SEAL has one special prime, these have {found}; give parameters with one special prime"
            );
            return Err(SealError::Unsupported { reason });
        }
        if ring.dnum() != ring.cipher_count() {
            let reason = format!(
                "SEAL has a digit for each prime, these have {} digits of {} ciphertext primes; give parameters with one special prime, and leave dnum at its default",
                ring.dnum(),
                ring.cipher_count()
            );
            return Err(SealError::Unsupported { reason });
        }
        if let Some(prime) = ring.moduli().iter().find(|&&q| q >> MAX_PRIME_BITS != 0) {
            let reason = format!(
                "the prime {prime} is longer than SEAL's {MAX_PRIME_BITS} bits; choose smaller primes"
            );
            return Err(SealError::Unsupported { reason });
        }
        let (scheme, plain) = params.seal_scheme()?;
        let chain = Chain::new(scheme, ring.degree(), ring.moduli(), plain);
        Ok(Self {
            params,
            chain,
            version: NEWEST,
            watch: Watch::default(),
        })
    }

    /// Returns the context for files of the SEAL version that wrote `file`, or of SEAL 4.0 if an earlier one wrote it.
    /// SEAL 4.x loads ciphertexts of BGV only in the form of its own version. By default they are written for SEAL 4.3.
    /// All other objects are written for every SEAL since 3.6.
    ///
    /// # Errors
    /// Fails for a file that is not SEAL's, or of a version other than 3.6 to 4.x.
    pub fn for_seal_of(&self, file: &[u8]) -> Result<Self, SealError> {
        let found = source::version(Object::Parameters, file)?;
        Ok(Self {
            version: found.max(OLDEST_WITH_FACTORS),
            ..self.clone()
        })
    }

    /// Returns the context with a watch. Reading relinearisation and Galois keys then stays within the memory limits of
    /// `watch`, and stops on request. Other objects need no such limit, as their parameters fix their size.
    pub fn watched(&self, watch: &Watch) -> Self {
        Self {
            watch: watch.clone(),
            ..self.clone()
        }
    }

    pub fn params(&self) -> &Arc<P> {
        &self.params
    }

    pub(super) fn ring(&self) -> &rlwe::Params {
        self.params.ring_params()
    }

    /// Returns SEAL's name (`parms_id`) of a level of the parameters.
    ///
    /// # Errors
    /// Fails for a level that the parameters do not have.
    pub fn parms_id(&self, level: Level) -> Result<ParmsId, SealError> {
        self.ring().check_level(level)?;
        self.chain
            .id(level.primes())
            .ok_or(SealError::from(RlweError::Level {
                got: level,
                max: self.ring().max_level(),
            }))
    }
}
