// SPDX-License-Identifier: Apache-2.0
//! The differences between BFV and BGV, as a trait that their common code uses.

use std::sync::Arc;

use zeroize::Zeroizing;

use super::decrypt::Decryptor;
use super::embedding::Embedding;
use super::encoder::Encoder;
use super::encrypt::Encryptor;
use super::error::ExactError;
use super::plain_modulus::Integers;
use super::plaintext::{ExactParams, Plaintext};
use crate::rlwe::{
    Annotation, Ciphertext, EvaluationKeys, KSwitchKey, KeyRequest, PublicKey, RingScheme,
    RlweError, SecretKey,
};
use crate::scheme::{At, Scheme};

type AnnotationError<S> = <<S as Scheme>::Annotation as Annotation>::Error;

/// A scheme whose messages are polynomials modulo a plaintext modulus t: BFV or BGV.
pub trait ExactScheme:
    Scheme<
        Params: ExactParams,
        Annotation: Annotation,
        Plaintext = Plaintext,
        Ciphertext = Ciphertext<<Self as Scheme>::Annotation>,
        Key = KSwitchKey,
        Message = Vec<i64>,
        KeyName = KeyRequest,
        Keys = EvaluationKeys,
        Error: From<RlweError> + From<ExactError> + From<AnnotationError<Self>>,
    >
{
    /// The constants that a scheme's decryption needs, for all levels of a parameter set.
    type Opening: Send + Sync;

    /// The annotation of a fresh ciphertext (a correction factor in BGV, nothing in BFV) if the caller asks for no
    /// other.
    const FRESH: Self::Annotation;

    /// Returns the form that a message has in a ciphertext with the level and annotation of `at`. The procedure
    /// that adds a plaintext to a ciphertext brings it into this form.
    ///
    /// # Errors
    /// Fails for a level or annotation that the parameters do not have.
    fn embedding(params: &Self::Params, at: &At<Self::Annotation>) -> Result<Embedding, RlweError>;

    /// Computes the constants that decryption needs, for all levels of these parameters.
    ///
    /// # Errors
    /// None that a checked parameter set can have.
    fn opening(params: &Self::Params) -> Result<Self::Opening, Self::Error>;

    /// Returns the message of a ciphertext, computed from its phase. The phase is in coefficient form, with one
    /// limb after another.
    ///
    /// # Errors
    /// [`ExactError::NoBudget`] if the message may be lost.
    fn opened(
        opening: &Self::Opening,
        params: &Self::Params,
        cipher: &Self::Ciphertext,
        phase: Zeroizing<Vec<u64>>,
    ) -> Result<Plaintext, Self::Error>;

    /// Returns the number f for which f times the phase is the noise polynomial. The message is lost if a
    /// coefficient of f times the phase leaves (-Q/2, Q/2].
    fn noise_factor(params: &Self::Params) -> u64;
}

impl<S: ExactScheme> RingScheme for S {
    type Encoder = Encoder<S::Params>;
    type Encryptor = Encryptor<S>;
    type Decryptor = Decryptor<S>;

    fn encoder(params: &Arc<S::Params>) -> Result<Self::Encoder, S::Error> {
        Ok(Encoder::new(Arc::clone(params))?)
    }

    fn public_encryptor(
        params: &Arc<S::Params>,
        key: &PublicKey,
    ) -> Result<Self::Encryptor, S::Error> {
        Encryptor::with_public_key(Arc::clone(params), key)
    }

    fn secret_encryptor(
        params: &Arc<S::Params>,
        secret: SecretKey,
    ) -> Result<Self::Encryptor, S::Error> {
        Encryptor::with_secret_key(Arc::clone(params), secret)
    }

    fn seeded_for_reproducible_tests_only(
        encryptor: Self::Encryptor,
        seed: [u8; 32],
    ) -> Self::Encryptor {
        encryptor.seed_for_reproducible_tests_only(seed)
    }

    fn decryptor(params: &Arc<S::Params>, secret: SecretKey) -> Result<Self::Decryptor, S::Error> {
        Decryptor::new(Arc::clone(params), secret)
    }

    fn encoded(
        encoder: &Self::Encoder,
        message: &Vec<i64>,
        _: &At<S::Annotation>,
    ) -> Result<Plaintext, S::Error> {
        Ok(encoder.encode_repeated(message, Integers::Signed)?)
    }

    fn encrypted(
        encryptor: &Self::Encryptor,
        plain: &Plaintext,
        at: &At<S::Annotation>,
    ) -> Result<S::Ciphertext, S::Error> {
        encryptor.encrypt_under(plain, at)
    }

    fn decrypted(
        decryptor: &Self::Decryptor,
        cipher: &S::Ciphertext,
    ) -> Result<Plaintext, S::Error> {
        decryptor.decrypt(cipher)
    }

    fn decoded(
        encoder: &Self::Encoder,
        plain: &Plaintext,
        length: usize,
    ) -> Result<Vec<i64>, S::Error> {
        let mut values = encoder.decode_signed(plain)?;
        values.truncate(length);
        Ok(values)
    }
}
