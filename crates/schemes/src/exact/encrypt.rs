//! Encryption: a fresh encryption of zero, to which the plaintext is added as programs add plaintexts, as SEAL does.

use std::sync::Arc;

use super::error::ExactError;
use super::plaintext::{ExactParams, Plaintext};
use super::scheme::ExactScheme;
use crate::cache::ProcCache;
use crate::call::call;
use crate::rlwe::{self, Annotation, Ciphertext, PublicKey, RingParams, RlweError, SecretKey};
use crate::rlwe::{Level, SeededCiphertext};
use crate::scheme::{At, Limbed, Scheme};

/// Encrypts under a public key, or under the secret key where its holder is the one who encrypts. Each encryption draws
/// randomness of its own, so copies of an encryptor, in a forked process or a restored machine, repeat nothing.
pub struct Encryptor<S: Scheme> {
    zeros: rlwe::Encryptor,
    cache: ProcCache<S>,
}

impl<S, A> Encryptor<S>
where
    S: ExactScheme + Scheme<Annotation = A>,
    S::Params: ExactParams,
    S::Error: From<RlweError> + From<ExactError>,
    A: Annotation,
{
    /// # Errors
    /// A key of other parameters.
    pub fn with_public_key(params: Arc<S::Params>, key: &PublicKey) -> Result<Self, S::Error> {
        let zeros = rlwe::Encryptor::with_public_key(params.clone(), key)?;
        let cache = ProcCache::new(params);
        Ok(Self { zeros, cache })
    }

    /// # Errors
    /// A key of other parameters.
    pub fn with_secret_key(params: Arc<S::Params>, key: SecretKey) -> Result<Self, S::Error> {
        let zeros = rlwe::Encryptor::with_secret_key(params.clone(), key)?;
        let cache = ProcCache::new(params);
        Ok(Self { zeros, cache })
    }

    /// Replaces the randomness by a fixed stream: for tests that must repeat, and for nothing else.
    pub fn seed_for_reproducible_tests_only(mut self, seed: [u8; 32]) -> Self {
        self.zeros = self.zeros.seed_for_reproducible_tests_only(seed);
        self
    }

    /// Encrypts at the highest level, where SEAL encrypts.
    ///
    /// # Errors
    /// A plaintext of other parameters.
    pub fn encrypt(&self, plain: &Plaintext) -> Result<Ciphertext<A>, S::Error> {
        self.encrypt_at(plain, self.cache.params().ring_params().max_level())
    }

    /// # Errors
    /// A plaintext of other parameters, a level that these do not have.
    pub fn encrypt_at(&self, plain: &Plaintext, level: Level) -> Result<Ciphertext<A>, S::Error> {
        let annotation = S::FRESH;
        self.encrypt_under(plain, &At { level, annotation })
    }

    /// Encrypts under an annotation other than a fresh ciphertext's.
    ///
    /// # Errors
    /// A plaintext of other parameters, a level that these do not have.
    pub fn encrypt_under(&self, plain: &Plaintext, at: &At<A>) -> Result<Ciphertext<A>, S::Error> {
        let mut cipher = self.zeros.encrypt_zero(at.level, at.annotation.clone())?;
        let c0 = self.with_message(&cipher, plain, at)?;
        cipher.c0_mut().copy_from_slice(&c0);
        Ok(cipher)
    }

    /// Encrypts under the secret key with a seeded c_1, half the size to send.
    ///
    /// # Errors
    /// A public-key encryptor, a plaintext of other parameters, a level that these do not have.
    pub fn encrypt_seeded(
        &self,
        plain: &Plaintext,
        level: Level,
    ) -> Result<SeededCiphertext<A>, S::Error> {
        let at = At {
            level,
            annotation: S::FRESH,
        };
        let mut cipher = self.zeros.encrypt_zero_seeded(level, S::FRESH)?;
        let whole = cipher.expand(self.cache.params().ring_params())?;
        let c0 = self.with_message(&whole, plain, &at)?;
        cipher.c0_mut().copy_from_slice(&c0);
        Ok(cipher)
    }

    /// c_0 with the message added.
    fn with_message(
        &self,
        zero: &Ciphertext<A>,
        plain: &Plaintext,
        at: &At<A>,
    ) -> Result<Vec<u64>, S::Error> {
        let params = self.cache.params().ring_params();
        params.check_id("plaintext", plain.params_id())?;
        let op = S::add_plain(at, zero.size() as u32);
        let procedure = self.cache.get(&op)?;
        let operands: [&dyn Limbed; 2] = [zero, plain];
        let results = call(&op, &procedure, &operands).map_err(RlweError::from)?;
        let c0 = results.into_iter().flatten().next();
        let c0 = c0.filter(|c0| c0.len() == at.level.primes() * params.degree());
        Ok(c0.ok_or_else(|| RlweError::Verify("an addition has no result".into()))?)
    }
}
