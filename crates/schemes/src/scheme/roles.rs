// SPDX-License-Identifier: Apache-2.0
//! The two parties of a computation: who holds the secret key, and who computes without it. The run time is written for
//! these.

use std::sync::Arc;

use ringmill_limits::Watch;

use super::{At, Scheme};
use ringmill_device::KeyId;

/// What a program's values are at in scheme `S`.
pub type Place<S> = At<<S as Scheme>::Annotation>;

/// The holder of a secret key: makes keys, encrypts and decrypts. It holds no randomness: every encryption and every key
/// draws its own, so that copies of a holder (a forked process, a restored machine) repeat nothing.
pub trait KeyHolder: Sized {
    type Scheme: Scheme;
    type SecretKey;

    /// With a fresh secret key.
    fn new(params: Arc<Params<Self>>) -> Result<Self, Error<Self>>;

    /// With a secret key that exists.
    fn with_secret_key(
        params: Arc<Params<Self>>,
        secret: Self::SecretKey,
    ) -> Result<Self, Error<Self>>;

    /// The same keys and encryptions on every run: for tests that must repeat, and for nothing else.
    fn from_seed_for_reproducible_tests_only(
        params: Arc<Params<Self>>,
        seed: [u8; 32],
    ) -> Result<Self, Error<Self>>;

    /// This holder, sharing all it holds; making keys with it asks `watch` as it goes.
    fn watched(&self, watch: &Watch) -> Self;

    fn secret_key(&self) -> &Self::SecretKey;

    /// The identity of the secret key, which ciphertexts and keys made here carry; none where the secret key came from
    /// where there are none.
    fn key_id(&self) -> Option<KeyId>;

    /// The evaluation keys of these names, with seeds in place of their uniform halves if `seeded`.
    fn evaluation_keys(
        &self,
        names: &[KeyName<Self>],
        seeded: bool,
    ) -> Result<Keys<Self>, Error<Self>>;

    fn encrypt(
        &self,
        message: &Message<Self>,
        at: &Place<Self::Scheme>,
    ) -> Result<Ciphertext<Self>, Error<Self>>;

    /// The message before it is decoded.
    fn decrypt(&self, cipher: &Ciphertext<Self>) -> Result<Plaintext<Self>, Error<Self>>;

    /// A decryption as a message of `length` values.
    fn decode(&self, plain: &Plaintext<Self>, length: usize) -> Result<Message<Self>, Error<Self>>;
}

/// Who computes: holds nothing secret.
pub trait Operator: Sized {
    type Scheme: Scheme;

    fn new(params: Arc<<Self::Scheme as Scheme>::Params>) -> Self;

    /// A message that is not encrypted, as operations take it.
    fn encode(
        &self,
        message: &<Self::Scheme as Scheme>::Message,
        at: &Place<Self::Scheme>,
    ) -> Result<<Self::Scheme as Scheme>::Plaintext, <Self::Scheme as Scheme>::Error>;

    /// The key of that name, in the form a program takes: with its seed, or expanded. `None` where it was not given.
    fn key(
        &self,
        keys: &<Self::Scheme as Scheme>::Keys,
        name: &<Self::Scheme as Scheme>::KeyName,
        seeded: bool,
    ) -> Result<Option<<Self::Scheme as Scheme>::Key>, <Self::Scheme as Scheme>::Error>;

    /// Refuses a ciphertext of other parameters.
    fn check(
        &self,
        cipher: &<Self::Scheme as Scheme>::Ciphertext,
    ) -> Result<(), <Self::Scheme as Scheme>::Error>;

    /// A ciphertext from computed polynomials, each limb-major; they are checked.
    fn ciphertext(
        &self,
        at: &Place<Self::Scheme>,
        polys: Vec<Vec<u64>>,
        key_id: Option<KeyId>,
    ) -> Result<<Self::Scheme as Scheme>::Ciphertext, <Self::Scheme as Scheme>::Error>;
}

type Params<H> = <<H as KeyHolder>::Scheme as Scheme>::Params;
type Error<H> = <<H as KeyHolder>::Scheme as Scheme>::Error;
type KeyName<H> = <<H as KeyHolder>::Scheme as Scheme>::KeyName;
type Keys<H> = <<H as KeyHolder>::Scheme as Scheme>::Keys;
type Message<H> = <<H as KeyHolder>::Scheme as Scheme>::Message;
type Plaintext<H> = <<H as KeyHolder>::Scheme as Scheme>::Plaintext;
type Ciphertext<H> = <<H as KeyHolder>::Scheme as Scheme>::Ciphertext;
