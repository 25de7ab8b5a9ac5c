//! The parties of a CKKS computation.

use std::sync::Arc;

use num_complex::Complex64;
use ringmill_limits::Watch;

use super::{Ciphertext, Ckks, CkksError, Encoder, Params, Plaintext, Scale};
use crate::rlwe::{
    Decryptor, Encryptor, EvaluationKeys, KSwitchKey, KeyForm, KeyGenerator, KeyId, KeyRequest,
    PublicKey, SecretKey,
};
use crate::roles;
use crate::scheme::At;

/// Holds a secret key; encrypts under its public key.
pub struct KeyHolder {
    keys: KeyGenerator,
    public: Arc<PublicKey>,
    encoder: Arc<Encoder>,
    encryptor: Arc<Encryptor>,
    decryptor: Arc<Decryptor>,
}

impl KeyHolder {
    fn with_generator(params: &Arc<Params>, keys: KeyGenerator) -> Result<Self, CkksError> {
        let public = keys.public_key()?;
        let encryptor = Encryptor::with_public_key(params.clone(), &public)?;
        let decryptor = Decryptor::new(params.clone(), keys.secret_key().clone())?;
        Ok(Self {
            keys,
            public: Arc::new(public),
            encoder: Arc::new(Encoder::new(params.clone())),
            encryptor: Arc::new(encryptor),
            decryptor: Arc::new(decryptor),
        })
    }

    /// For others who encrypt to this key.
    pub fn public_key(&self) -> &PublicKey {
        &self.public
    }
}

impl roles::KeyHolder for KeyHolder {
    type Scheme = Ckks;
    type SecretKey = SecretKey;

    fn new(params: Arc<Params>) -> Result<Self, CkksError> {
        let keys = KeyGenerator::new(params.clone())?;
        Self::with_generator(&params, keys)
    }

    fn with_secret_key(params: Arc<Params>, secret: SecretKey) -> Result<Self, CkksError> {
        let keys = KeyGenerator::from_secret_key(params.clone(), secret)?;
        Self::with_generator(&params, keys)
    }

    fn from_seed_for_reproducible_tests_only(
        params: Arc<Params>,
        seed: [u8; 32],
    ) -> Result<Self, CkksError> {
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
    ) -> Result<EvaluationKeys, CkksError> {
        let form = if seeded {
            KeyForm::Seeded
        } else {
            KeyForm::Stored
        };
        Ok(self.keys.evaluation_keys(names, form)?)
    }

    fn encrypt(&self, message: &Vec<Complex64>, at: &At<Scale>) -> Result<Ciphertext, CkksError> {
        let plain = self.encoder.encode(message, at.level, at.annotation.0)?;
        Ok(self.encryptor.encrypt(&plain)?)
    }

    fn decrypt(&self, cipher: &Ciphertext) -> Result<Plaintext, CkksError> {
        Ok(self.decryptor.decrypt(cipher)?)
    }

    fn decode(&self, plain: &Plaintext, length: usize) -> Result<Vec<Complex64>, CkksError> {
        self.encoder.decode(plain, length)
    }
}

/// Computes on ciphertexts.
pub struct Operator {
    params: Arc<Params>,
    encoder: Encoder,
}

impl roles::Operator for Operator {
    type Scheme = Ckks;

    fn new(params: Arc<Params>) -> Self {
        let encoder = Encoder::new(params.clone());
        Self { params, encoder }
    }

    fn encode(&self, message: &Vec<Complex64>, at: &At<Scale>) -> Result<Plaintext, CkksError> {
        self.encoder.encode(message, at.level, at.annotation.0)
    }

    fn key(
        &self,
        keys: &EvaluationKeys,
        name: &KeyRequest,
        seeded: bool,
    ) -> Result<Option<KSwitchKey>, CkksError> {
        Ok(keys.usable(&self.params, name, seeded)?)
    }

    fn check(&self, cipher: &Ciphertext) -> Result<(), CkksError> {
        Ok(self.params.check_id("ciphertext", cipher.params_id())?)
    }

    fn ciphertext(
        &self,
        at: &At<Scale>,
        polys: Vec<Vec<u64>>,
        key_id: Option<KeyId>,
    ) -> Result<Ciphertext, CkksError> {
        let cipher = Ciphertext::new(&self.params, at.level, at.annotation, polys)?;
        Ok(cipher.with_key_id(key_id))
    }
}
