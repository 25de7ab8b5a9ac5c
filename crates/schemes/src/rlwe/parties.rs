// SPDX-License-Identifier: Apache-2.0
//! The parties of a ring scheme's computation: the key's holder, and the operator without the secret key. All ring
//! schemes share this code. Each scheme adds its own encoding, encryption and decryption.

use std::sync::{Arc, OnceLock};

use ringmill_limits::Watch;

use super::cipher::{Annotation, Ciphertext};
use super::error::RlweError;
use super::evaluation_keys::{EvaluationKeys, KeyRequest};
use super::key::{KSwitchKey, KeyForm, PublicKey, SecretKey};
use super::keygen::KeyGenerator;
use super::params::RingParams;
use crate::scheme::{At, Scheme, roles};
use ringmill_device::KeyId;

type AnnotationError<S> = <<S as Scheme>::Annotation as Annotation>::Error;

/// A scheme on the ring, with an encoder of messages to plaintexts, and an encryptor and a decryptor of plaintexts.
pub trait RingScheme:
    Scheme<
        Params: RingParams,
        Annotation: Annotation,
        Ciphertext = Ciphertext<<Self as Scheme>::Annotation>,
        Key = KSwitchKey,
        KeyName = KeyRequest,
        Keys = EvaluationKeys,
        Error: From<RlweError> + From<AnnotationError<Self>>,
    >
{
    type Encoder: Send + Sync;
    type Encryptor: Send + Sync;
    type Decryptor: Send + Sync;

    /// Makes the encoder of messages to plaintexts for these parameters.
    ///
    /// # Errors
    /// Those of [`crate::exact::Encoder::new`] for BFV and BGV. None for CKKS.
    fn encoder(params: &Arc<Self::Params>) -> Result<Self::Encoder, Self::Error>;

    /// Makes the encryptor that encrypts under the public key `key`.
    ///
    /// # Errors
    /// Fails for a key of other parameters.
    fn public_encryptor(
        params: &Arc<Self::Params>,
        key: &PublicKey,
    ) -> Result<Self::Encryptor, Self::Error>;

    /// Makes the encryptor that encrypts under the secret key `secret`, for its holder.
    ///
    /// # Errors
    /// Fails for a secret key of other parameters.
    fn secret_encryptor(
        params: &Arc<Self::Params>,
        secret: SecretKey,
    ) -> Result<Self::Encryptor, Self::Error>;

    /// Returns the encryptor with a stream of random numbers that `seed` fixes in place of its randomness, for
    /// tests that must repeat.
    fn seeded_for_reproducible_tests_only(
        encryptor: Self::Encryptor,
        seed: [u8; 32],
    ) -> Self::Encryptor;

    /// Makes the decryptor that holds the secret key `secret`.
    ///
    /// # Errors
    /// Fails for a secret key of other parameters.
    fn decryptor(
        params: &Arc<Self::Params>,
        secret: SecretKey,
    ) -> Result<Self::Decryptor, Self::Error>;

    /// Encodes a message in the form that operations expect, at the level and with the annotation of `at`. BFV and BGV
    /// ignore `at`, because their plaintexts have neither.
    ///
    /// # Errors
    /// Fails for values that a plaintext at this level cannot hold, and for too many values.
    fn encoded(
        encoder: &Self::Encoder,
        message: &Self::Message,
        at: &At<Self::Annotation>,
    ) -> Result<Self::Plaintext, Self::Error>;

    /// Encrypts a plaintext at the level and with the annotation of `at`. CKKS takes both from the plaintext instead.
    ///
    /// # Errors
    /// Fails for a plaintext of other parameters, and if the system has no randomness. BFV and BGV also fail for a
    /// level or an annotation that the parameters do not have, and for a plaintext of another modulus than the
    /// annotation's.
    fn encrypted(
        encryptor: &Self::Encryptor,
        plain: &Self::Plaintext,
        at: &At<Self::Annotation>,
    ) -> Result<Self::Ciphertext, Self::Error>;

    /// Decrypts a ciphertext to its plaintext: the message before it is decoded.
    ///
    /// # Errors
    /// Fails for ciphertexts of other parameters or another key. BFV and BGV also fail for messages that may be lost.
    fn decrypted(
        decryptor: &Self::Decryptor,
        cipher: &Self::Ciphertext,
    ) -> Result<Self::Plaintext, Self::Error>;

    /// Decodes the first `length` values of a plaintext to a message.
    ///
    /// # Errors
    /// Fails for a plaintext of other parameters. CKKS also refuses a `length` that is no power of two up to N / 2. BFV
    /// and BGV also refuse a plaintext of another modulus than t, and one whose slots modulo a prime power hold other
    /// elements than integers. They return fewer values if the plaintext has fewer.
    fn decoded(
        encoder: &Self::Encoder,
        plain: &Self::Plaintext,
        length: usize,
    ) -> Result<Self::Message, Self::Error>;
}

/// The holder of a secret key, who makes keys, encrypts under the secret key, and decrypts.
pub struct KeyHolder<S: RingScheme> {
    keys: KeyGenerator,
    encoder: Arc<S::Encoder>,
    encryptor: Arc<S::Encryptor>,
    decryptor: Arc<S::Decryptor>,
}

impl<S: RingScheme> KeyHolder<S> {
    fn with_generator(
        params: &Arc<S::Params>,
        keys: KeyGenerator,
        seeded: impl FnOnce(S::Encryptor) -> S::Encryptor,
    ) -> Result<Self, S::Error> {
        let secret = || keys.secret_key().clone();
        let encryptor = seeded(S::secret_encryptor(params, secret())?);
        Ok(Self {
            encoder: Arc::new(S::encoder(params)?),
            encryptor: Arc::new(encryptor),
            decryptor: Arc::new(S::decryptor(params, secret())?),
            keys,
        })
    }

    /// Returns the generator that makes further keys for the secret key.
    pub fn generator(&self) -> &KeyGenerator {
        &self.keys
    }

    pub(crate) fn decryptor(&self) -> &S::Decryptor {
        &self.decryptor
    }
}

impl<S: RingScheme> roles::KeyHolder for KeyHolder<S> {
    type Scheme = S;
    type SecretKey = SecretKey;
    type Sender = Sender<S>;

    fn new(params: Arc<S::Params>) -> Result<Self, S::Error> {
        let keys = KeyGenerator::new(params.clone())?;
        Self::with_generator(&params, keys, |encryptor| encryptor)
    }

    fn with_secret_key(params: Arc<S::Params>, secret: SecretKey) -> Result<Self, S::Error> {
        let keys = KeyGenerator::from_secret_key(params.clone(), secret)?;
        Self::with_generator(&params, keys, |encryptor| encryptor)
    }

    fn from_seed_for_reproducible_tests_only(
        params: Arc<S::Params>,
        seed: [u8; 32],
    ) -> Result<Self, S::Error> {
        let keys = KeyGenerator::from_seed_for_reproducible_tests_only(params.clone(), seed)?;
        Self::with_generator(&params, keys, |encryptor| {
            S::seeded_for_reproducible_tests_only(encryptor, seed)
        })
    }

    fn watched(&self, watch: &Watch) -> Self {
        Self {
            keys: self.keys.watched(watch),
            encoder: Arc::clone(&self.encoder),
            encryptor: Arc::clone(&self.encryptor),
            decryptor: Arc::clone(&self.decryptor),
        }
    }

    fn secret_key(&self) -> &SecretKey {
        self.keys.secret_key()
    }

    fn key_id(&self) -> Option<KeyId> {
        self.keys.secret_key().key_id()
    }

    fn public_key(&self) -> Result<PublicKey, S::Error> {
        Ok(self.keys.public_key()?)
    }

    fn evaluation_keys(
        &self,
        names: &[KeyRequest],
        seeded: bool,
    ) -> Result<EvaluationKeys, S::Error> {
        let form = if seeded {
            KeyForm::Seeded
        } else {
            KeyForm::Stored
        };
        Ok(self.keys.evaluation_keys(names, form)?)
    }

    fn encrypt(
        &self,
        message: &S::Message,
        at: &At<S::Annotation>,
    ) -> Result<S::Ciphertext, S::Error> {
        let plain = S::encoded(&self.encoder, message, at)?;
        S::encrypted(&self.encryptor, &plain, at)
    }

    fn decrypt(&self, cipher: &S::Ciphertext) -> Result<S::Plaintext, S::Error> {
        S::decrypted(&self.decryptor, cipher)
    }

    fn decode(&self, plain: &S::Plaintext, length: usize) -> Result<S::Message, S::Error> {
        S::decoded(&self.encoder, plain, length)
    }
}

/// The party that encrypts for the holder of a secret key, under the holder's public key.
pub struct Sender<S: RingScheme> {
    encoder: S::Encoder,
    encryptor: S::Encryptor,
}

impl<S: RingScheme> roles::Sender for Sender<S> {
    type Scheme = S;
    type PublicKey = PublicKey;

    fn new(params: Arc<S::Params>, key: &PublicKey) -> Result<Self, S::Error> {
        Ok(Self {
            encoder: S::encoder(&params)?,
            encryptor: S::public_encryptor(&params, key)?,
        })
    }

    fn from_seed_for_reproducible_tests_only(
        params: Arc<S::Params>,
        key: &PublicKey,
        seed: [u8; 32],
    ) -> Result<Self, S::Error> {
        let encryptor = S::public_encryptor(&params, key)?;
        Ok(Self {
            encoder: S::encoder(&params)?,
            encryptor: S::seeded_for_reproducible_tests_only(encryptor, seed),
        })
    }

    fn encrypt(
        &self,
        message: &S::Message,
        at: &At<S::Annotation>,
    ) -> Result<S::Ciphertext, S::Error> {
        let plain = S::encoded(&self.encoder, message, at)?;
        S::encrypted(&self.encryptor, &plain, at)
    }
}

/// The party that computes on ciphertexts, without the secret key.
pub struct Operator<S: RingScheme> {
    params: Arc<S::Params>,
    /// The encoder of messages to plaintexts, which is made when it is first used.
    encoder: OnceLock<S::Encoder>,
}

impl<S: RingScheme> roles::Operator for Operator<S> {
    type Scheme = S;

    fn new(params: Arc<S::Params>) -> Self {
        let encoder = OnceLock::new();
        Self { params, encoder }
    }

    fn encode(
        &self,
        message: &S::Message,
        at: &At<S::Annotation>,
    ) -> Result<S::Plaintext, S::Error> {
        let encoder = match self.encoder.get() {
            Some(encoder) => encoder,
            None => {
                let encoder = S::encoder(&self.params)?;
                self.encoder.get_or_init(|| encoder)
            }
        };
        S::encoded(encoder, message, at)
    }

    fn key(
        &self,
        keys: &EvaluationKeys,
        name: &KeyRequest,
        seeded: bool,
    ) -> Result<Option<KSwitchKey>, S::Error> {
        Ok(keys.usable(self.params.ring_params(), name, seeded)?)
    }

    fn check(&self, cipher: &S::Ciphertext) -> Result<(), S::Error> {
        let params = self.params.ring_params();
        Ok(params.check_id("ciphertext", cipher.params_id())?)
    }

    fn ciphertext(
        &self,
        at: &At<S::Annotation>,
        polys: Vec<Vec<u64>>,
        key_id: Option<KeyId>,
    ) -> Result<S::Ciphertext, S::Error> {
        let params = self.params.ring_params();
        let cipher = Ciphertext::new(params, at.level, at.annotation.clone(), polys)?;
        Ok(cipher.with_key_id(key_id))
    }
}
