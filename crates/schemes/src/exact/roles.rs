//! The parties of a computation on exact integers.

use std::sync::{Arc, OnceLock};

use ringmill_limits::Watch;

use super::encoder::Encoder;
use super::encrypt::Encryptor;
use super::error::ExactError;
use super::plain_modulus::Integers;
use super::plaintext::{ExactParams, Plaintext};
use super::scheme::{Decrypts, ExactScheme};
use crate::rlwe::{
    Annotation, Ciphertext, EvaluationKeys, KSwitchKey, KeyForm, KeyGenerator, KeyId, KeyRequest,
    PublicKey, RingParams, RlweError, SecretKey,
};
use crate::roles;
use crate::scheme::{At, Scheme};

/// Holds a secret key; encrypts under its public key.
pub struct KeyHolder<S: ExactScheme> {
    keys: KeyGenerator,
    public: Arc<PublicKey>,
    encoder: Arc<Encoder<S::Params>>,
    encryptor: Arc<Encryptor<S>>,
    decryptor: Arc<S::Decryptor>,
}

impl<S, A> KeyHolder<S>
where
    S: ExactScheme + Scheme<Annotation = A>,
    S::Params: ExactParams,
    S::Error: From<RlweError> + From<ExactError>,
    A: Annotation,
{
    fn with_generator(params: &Arc<S::Params>, keys: KeyGenerator) -> Result<Self, S::Error> {
        let public = keys.public_key()?;
        let encryptor = Encryptor::with_public_key(params.clone(), &public)?;
        let decryptor = S::Decryptor::new(params.clone(), keys.secret_key().clone())?;
        Ok(Self {
            keys,
            public: Arc::new(public),
            encoder: Arc::new(Encoder::new(params.clone())?),
            encryptor: Arc::new(encryptor),
            decryptor: Arc::new(decryptor),
        })
    }

    /// Makes further keys of the secret key.
    pub fn generator(&self) -> &KeyGenerator {
        &self.keys
    }

    /// For others who encrypt to this key.
    pub fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// Bits of noise that the ciphertext can still take.
    ///
    /// # Errors
    /// Ciphertexts of other parameters or another key.
    pub fn noise_budget(&self, cipher: &S::Ciphertext) -> Result<u32, S::Error> {
        self.decryptor.noise_budget(cipher)
    }
}

impl<S, A> roles::KeyHolder for KeyHolder<S>
where
    S: ExactScheme,
    S: Scheme<
            Annotation = A,
            Plaintext = Plaintext,
            Ciphertext = Ciphertext<A>,
            Message = Vec<i64>,
            KeyName = KeyRequest,
            Keys = EvaluationKeys,
        >,
    S::Params: ExactParams,
    S::Error: From<RlweError> + From<ExactError>,
    A: Annotation,
{
    type Scheme = S;
    type SecretKey = SecretKey;

    fn new(params: Arc<S::Params>) -> Result<Self, S::Error> {
        let keys = KeyGenerator::new(params.clone())?;
        Self::with_generator(&params, keys)
    }

    fn with_secret_key(params: Arc<S::Params>, secret: SecretKey) -> Result<Self, S::Error> {
        let keys = KeyGenerator::from_secret_key(params.clone(), secret)?;
        Self::with_generator(&params, keys)
    }

    fn from_seed_for_reproducible_tests_only(
        params: Arc<S::Params>,
        seed: [u8; 32],
    ) -> Result<Self, S::Error> {
        let keys = KeyGenerator::from_seed_for_reproducible_tests_only(params.clone(), seed)?;
        let holder = Self::with_generator(&params, keys)?;
        let encryptor = Encryptor::with_public_key(params, &holder.public)?;
        Ok(Self {
            encryptor: Arc::new(encryptor.seed_for_reproducible_tests_only(seed)),
            ..holder
        })
    }

    fn watched(&self, watch: &Watch) -> Self {
        Self {
            keys: self.keys.watched(watch),
            public: Arc::clone(&self.public),
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

    fn encrypt(&self, message: &Vec<i64>, at: &At<A>) -> Result<Ciphertext<A>, S::Error> {
        let plain = self.encoder.encode_repeated(message, Integers::Signed)?;
        self.encryptor.encrypt_under(&plain, at)
    }

    fn decrypt(&self, cipher: &Ciphertext<A>) -> Result<Plaintext, S::Error> {
        self.decryptor.decrypt(cipher)
    }

    fn decode(&self, plain: &Plaintext, length: usize) -> Result<Vec<i64>, S::Error> {
        let mut values = self.encoder.decode_signed(plain)?;
        values.truncate(length);
        Ok(values)
    }
}

/// Computes on ciphertexts.
pub struct Operator<S: Scheme> {
    params: Arc<S::Params>,
    /// Made when it is first asked for.
    encoder: OnceLock<Encoder<S::Params>>,
}

impl<S, A> roles::Operator for Operator<S>
where
    S: Scheme<
            Annotation = A,
            Plaintext = Plaintext,
            Ciphertext = Ciphertext<A>,
            Key = KSwitchKey,
            Message = Vec<i64>,
            KeyName = KeyRequest,
            Keys = EvaluationKeys,
        >,
    S::Params: ExactParams,
    S::Error: From<RlweError> + From<ExactError> + From<A::Error>,
    A: Annotation,
{
    type Scheme = S;

    fn new(params: Arc<S::Params>) -> Self {
        let encoder = OnceLock::new();
        Self { params, encoder }
    }

    fn encode(&self, message: &Vec<i64>, _: &At<A>) -> Result<Plaintext, S::Error> {
        let encoder = match self.encoder.get() {
            Some(encoder) => encoder,
            None => {
                let encoder = Encoder::new(self.params.clone())?;
                self.encoder.get_or_init(|| encoder)
            }
        };
        Ok(encoder.encode_repeated(message, Integers::Signed)?)
    }

    fn key(
        &self,
        keys: &EvaluationKeys,
        name: &KeyRequest,
        seeded: bool,
    ) -> Result<Option<KSwitchKey>, S::Error> {
        Ok(keys.usable(self.params.ring_params(), name, seeded)?)
    }

    fn check(&self, cipher: &Ciphertext<A>) -> Result<(), S::Error> {
        let params = self.params.ring_params();
        Ok(params.check_id("ciphertext", cipher.params_id())?)
    }

    fn ciphertext(
        &self,
        at: &At<A>,
        polys: Vec<Vec<u64>>,
        key_id: Option<KeyId>,
    ) -> Result<Ciphertext<A>, S::Error> {
        let params = self.params.ring_params();
        let cipher = Ciphertext::new(params, at.level, at.annotation.clone(), polys)?;
        Ok(cipher.with_key_id(key_id))
    }
}
