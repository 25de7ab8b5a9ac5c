// SPDX-License-Identifier: Apache-2.0
//! Encrypts plaintexts of the schemes of exact integers, as SEAL does. It adds the plaintext, in the form in which
//! programs add it, to a fresh encryption of zero.

use std::sync::Arc;

use super::error::ExactError;
use super::plaintext::{ExactParams, Plaintext};
use super::scheme::ExactScheme;
use crate::rlwe::{self, Annotation, Ciphertext, PublicKey, RingParams, RlweError, SecretKey};
use crate::rlwe::{Level, Message};
use crate::scheme::{At, Scheme};

/// Encrypts under a public key, or under the secret key for its holder. Each encryption draws fresh randomness, so a
/// copy of an encryptor (in a forked process or a restored machine) repeats none, unless a test has fixed its seed.
pub struct Encryptor<S: Scheme> {
    zeros: rlwe::Encryptor,
    params: Arc<S::Params>,
}

impl<S, A> Encryptor<S>
where
    S: ExactScheme + Scheme<Annotation = A>,
    S::Params: ExactParams,
    S::Error: From<RlweError> + From<ExactError>,
    A: Annotation,
{
    /// Makes an encryptor that encrypts under the public key `key`.
    ///
    /// # Errors
    /// Fails for a key of other parameters.
    pub fn with_public_key(params: Arc<S::Params>, key: &PublicKey) -> Result<Self, S::Error> {
        let zeros = rlwe::Encryptor::with_public_key(params.clone(), key)?;
        Ok(Self { zeros, params })
    }

    /// Makes an encryptor that encrypts under the secret key `key`, for its holder.
    ///
    /// # Errors
    /// Fails for a key of other parameters.
    pub fn with_secret_key(params: Arc<S::Params>, key: SecretKey) -> Result<Self, S::Error> {
        let zeros = rlwe::Encryptor::with_secret_key(params.clone(), key)?;
        Ok(Self { zeros, params })
    }

    /// Makes the encryptor draw its randomness from a stream that `seed` fixes. It is for tests that must repeat,
    /// and for nothing else.
    pub fn seed_for_reproducible_tests_only(mut self, seed: [u8; 32]) -> Self {
        self.zeros = self.zeros.seed_for_reproducible_tests_only(seed);
        self
    }

    /// Encrypts a plaintext at the highest level, as SEAL does.
    ///
    /// # Errors
    /// Fails for a plaintext of other parameters or of another plaintext modulus than t, and if the system has no
    /// randomness.
    pub fn encrypt(&self, plain: &Plaintext) -> Result<Ciphertext<A>, S::Error> {
        self.encrypt_at(plain, self.params.ring_params().max_level())
    }

    /// Encrypts a plaintext at `level`, with the annotation of fresh ciphertexts (the correction factor 1 in BGV,
    /// nothing in BFV).
    ///
    /// # Errors
    /// The errors of [`Encryptor::encrypt`]. Also fails for a level that the encryptor's parameters do not have.
    pub fn encrypt_at(&self, plain: &Plaintext, level: Level) -> Result<Ciphertext<A>, S::Error> {
        let annotation = S::FRESH;
        self.encrypt_under(plain, &At { level, annotation })
    }

    /// Encrypts a plaintext at a level, with an annotation that the caller chooses (a correction factor in BGV, nothing
    /// in BFV).
    ///
    /// # Errors
    /// Fails for a plaintext of other parameters or of another plaintext modulus than the annotation's. Also fails for
    /// a level or an annotation that the encryptor's parameters do not have, and if the system has no randomness. With
    /// a public key, fails for every plaintext modulus except t.
    pub fn encrypt_under(&self, plain: &Plaintext, at: &At<A>) -> Result<Ciphertext<A>, S::Error> {
        self.with_message(plain, at, |zeros, message| {
            zeros.encrypt_coefficients(at.level, at.annotation.clone(), Some(message))
        })
    }

    /// Calls the function `encrypt` with the plaintext in the form in which encryption adds it to c_0, for the level
    /// and annotation `at`.
    fn with_message<T>(
        &self,
        plain: &Plaintext,
        at: &At<A>,
        encrypt: impl FnOnce(&rlwe::Encryptor, Message<'_>) -> Result<T, RlweError>,
    ) -> Result<T, S::Error> {
        let params = self.params.ring_params();
        params.check_id("plaintext", plain.params_id())?;
        params.check_level(at.level)?;
        let embedding = S::embedding(&self.params, at)?;
        plain.check_modulo(&*self.params, embedding.modulus())?;
        let source = embedding.source(plain);
        let message = |i, q, from: usize, limb: &mut [u64]| {
            let source = source.get(from..from + limb.len());
            embedding.limb(i, q, source.unwrap_or_default(), limb)
        };
        Ok(encrypt(&self.zeros, &message)?)
    }
}
