// SPDX-License-Identifier: Apache-2.0
//! The client: holds the secret key, makes evaluation keys, encrypts inputs and decrypts results.

use std::collections::BTreeMap;
use std::sync::Arc;

use ringmill_compiler::Compiled;
use ringmill_device::KeyId;
use ringmill_device::Limbed;
use ringmill_limits::{Watch, room};
use ringmill_schemes::Encrypted;
use ringmill_schemes::ckks::Ckks;
use ringmill_schemes::roles::KeyHolder;

use super::RuntimeError;
use super::scheme::{ErrorOf, PublicKeyOf, Runs, SecretKeyOf, limb_bytes, slots};
use super::sender::{Wanted, encrypted};

/// The client of one compiled program, which encrypts its inputs and decrypts its outputs. It holds the secret key and
/// no randomness: every encryption and every key draws its own. So copies of a client (a forked process, a restored
/// machine) never repeat randomness, except those of a client that was made from a seed for tests.
pub struct Client<S: Runs = Ckks> {
    compiled: Arc<Compiled<S>>,
    holder: S::Holder,
    watch: Watch,
}

impl<S: Runs> Client<S> {
    /// Returns a client with the same program and secret key, whose operations `watch` can stop and limit in memory.
    pub fn watched(&self, watch: &Watch) -> Self {
        Self {
            compiled: Arc::clone(&self.compiled),
            holder: self.holder.watched(watch),
            watch: watch.clone(),
        }
    }

    /// Makes a client of a compiled program with a new secret key.
    ///
    /// # Errors
    /// [`RuntimeError::Scheme`] if the operating system gives no randomness.
    pub fn new(compiled: Arc<Compiled<S>>) -> Result<Self, ErrorOf<S>> {
        let holder = S::Holder::new(compiled.params.clone());
        Self::with_holder(compiled, holder)
    }

    /// Makes a client with an existing secret key of the program's parameters.
    ///
    /// # Errors
    /// [`RuntimeError::Scheme`] for a secret key of other parameters.
    pub fn with_secret_key(
        compiled: Arc<Compiled<S>>,
        secret: SecretKeyOf<S>,
    ) -> Result<Self, ErrorOf<S>> {
        let holder = S::Holder::with_secret_key(compiled.params.clone(), secret);
        Self::with_holder(compiled, holder)
    }

    /// Makes a client whose keys and encryptions follow from `seed`, so they are the same on every run. It is for
    /// reproducible tests only.
    ///
    /// # Errors
    /// [`RuntimeError::Scheme`].
    pub fn from_seed_for_reproducible_tests_only(
        compiled: Arc<Compiled<S>>,
        seed: [u8; 32],
    ) -> Result<Self, ErrorOf<S>> {
        let params = compiled.params.clone();
        let holder = S::Holder::from_seed_for_reproducible_tests_only(params, seed);
        Self::with_holder(compiled, holder)
    }

    fn with_holder(
        compiled: Arc<Compiled<S>>,
        holder: Result<S::Holder, S::Error>,
    ) -> Result<Self, ErrorOf<S>> {
        Ok(Self {
            compiled,
            holder: holder.map_err(RuntimeError::Scheme)?,
            watch: Watch::default(),
        })
    }

    pub fn compiled(&self) -> &Arc<Compiled<S>> {
        &self.compiled
    }

    pub(super) fn holder(&self) -> &S::Holder {
        &self.holder
    }

    pub fn secret_key(&self) -> &SecretKeyOf<S> {
        self.holder.secret_key()
    }

    /// Returns the identifier of the secret key, which this client's ciphertexts and keys carry. A secret key from a
    /// file without an identifier has none.
    pub fn key_id(&self) -> Option<KeyId> {
        self.holder.key_id()
    }

    /// Makes exactly the evaluation keys that the program needs. They have [`Compiled::key_bytes`] bytes in all.
    ///
    /// # Errors
    /// [`RuntimeError::Halt`] if they need more memory than the limit allows; [`RuntimeError::Scheme`] at a stop, or if
    /// the operating system gives no randomness.
    pub fn evaluation_keys(&self) -> Result<S::Keys, ErrorOf<S>> {
        self.watch
            .admit("the evaluation keys", self.compiled.key_bytes())?;
        let keys = S::evaluation_keys(&self.compiled, &self.holder);
        keys.map_err(RuntimeError::Scheme)
    }

    /// Makes a new public key, with which others encrypt inputs for this client ([`Sender`]).
    ///
    /// # Errors
    /// [`RuntimeError::Scheme`] if the operating system gives no randomness.
    pub fn public_key(&self) -> Result<PublicKeyOf<S>, ErrorOf<S>> {
        self.watch.check()?;
        self.holder.public_key().map_err(RuntimeError::Scheme)
    }

    /// Encrypts the program's encrypted inputs, given by name, at the levels at which the program takes them. Every
    /// encrypted input must be given. Other names, and values outside of the ranges for which the program was compiled,
    /// are refused.
    ///
    /// # Errors
    /// [`RuntimeError::MissingInput`], [`RuntimeError::UnknownName`], [`RuntimeError::VectorLength`],
    /// [`RuntimeError::OutOfRange`]; [`RuntimeError::Value`] for values that cannot be encoded; [`RuntimeError::Halt`].
    pub fn encrypt(
        &self,
        inputs: &BTreeMap<String, S::Message>,
    ) -> Result<BTreeMap<String, S::Ciphertext>, ErrorOf<S>> {
        let one = |message: &_, at: &_| self.holder.encrypt(message, at);
        encrypted(&self.compiled, inputs, Wanted::All, &self.watch, one)
    }

    /// Decrypts the program's outputs, given by name, to messages of the program's vector length. The result is for the
    /// key's holder alone, because the error in a decryption may tell of the secret key. For CKKS outputs that others
    /// see, use [`Client::decrypt_to_share`].
    ///
    /// # Errors
    /// [`RuntimeError::Value`] for a ciphertext of other parameters or of another key; [`RuntimeError::Halt`].
    pub fn decrypt(
        &self,
        outputs: &BTreeMap<String, S::Ciphertext>,
    ) -> Result<BTreeMap<String, S::Message>, ErrorOf<S>> {
        let mut messages = BTreeMap::new();
        for (name, cipher) in outputs {
            let plain = self.open(name, cipher)?;
            messages.insert(name.clone(), self.decode(name, &plain)?);
        }
        Ok(messages)
    }

    pub(super) fn open(
        &self,
        name: &str,
        cipher: &S::Ciphertext,
    ) -> Result<S::Plaintext, ErrorOf<S>> {
        self.watch.check()?;
        let limbs = cipher.polys() as u64 * cipher.at().level.primes() as u64;
        room("a decryption", 2 * limbs * limb_bytes(&self.compiled))?;
        let plain = self.holder.decrypt(cipher);
        plain.map_err(|source| RuntimeError::Value {
            name: name.to_owned(),
            source,
        })
    }

    pub(super) fn decode(
        &self,
        name: &str,
        plain: &S::Plaintext,
    ) -> Result<S::Message, ErrorOf<S>> {
        let message = self.holder.decode(plain, slots(&self.compiled));
        message.map_err(|source| RuntimeError::Value {
            name: name.to_owned(),
            source,
        })
    }
}
