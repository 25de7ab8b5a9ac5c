// SPDX-License-Identifier: Apache-2.0
//! The two parties of a computation: the holder of the secret key, and the party that computes without it. The
//! crate `runtime` uses schemes through these traits only.

use std::sync::Arc;

use ringmill_limits::Watch;

use super::{At, Scheme};
use ringmill_device::KeyId;

/// The level and annotation of a program's values in scheme `S`.
pub type Place<S> = At<<S as Scheme>::Annotation>;

/// The holder of a secret key, who makes keys, encrypts and decrypts. It holds no randomness. Every encryption and
/// every key draws its own, so a copy of a holder (in a forked process or a restored machine) repeats none. Only a
/// holder from a test's seed repeats it.
pub trait KeyHolder: Sized {
    type Scheme: Scheme;
    type SecretKey;
    type Sender: Sender<Scheme = Self::Scheme>;

    /// Makes a key holder with a new secret key.
    fn new(params: Arc<Params<Self>>) -> Result<Self, Error<Self>>;

    /// Makes a key holder with an existing secret key.
    fn with_secret_key(
        params: Arc<Params<Self>>,
        secret: Self::SecretKey,
    ) -> Result<Self, Error<Self>>;

    /// Makes a holder whose keys and encryptions are the same each time, from the seed `seed`. It is for tests that
    /// must repeat, and for nothing else.
    fn from_seed_for_reproducible_tests_only(
        params: Arc<Params<Self>>,
        seed: [u8; 32],
    ) -> Result<Self, Error<Self>>;

    /// Returns a holder that shares all data with this one, and asks `watch` whether to stop while it makes keys.
    fn watched(&self, watch: &Watch) -> Self;

    fn secret_key(&self) -> &Self::SecretKey;

    /// Returns the identity of the secret key, which its ciphertexts and evaluation keys carry. It is `None` if the
    /// secret key came from a source without identities.
    fn key_id(&self) -> Option<KeyId>;

    /// Makes a new public key, with which others encrypt for this holder.
    fn public_key(&self) -> Result<PublicKey<Self>, Error<Self>>;

    /// Makes the evaluation keys with the names `names`. With `seeded`, each key has a seed in place of its uniform
    /// half.
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

    /// Decrypts a ciphertext to its plaintext: the message before it is decoded.
    fn decrypt(&self, cipher: &Ciphertext<Self>) -> Result<Plaintext<Self>, Error<Self>>;

    /// Decodes a decrypted plaintext to a message of its first `length` values. If the plaintext has fewer, BFV and BGV
    /// return all of them. CKKS refuses a `length` that is no power of two up to its number of slots.
    fn decode(&self, plain: &Plaintext<Self>, length: usize) -> Result<Message<Self>, Error<Self>>;
}

/// A party that encrypts for the holder of a secret key, under the holder's public key. It decrypts nothing.
pub trait Sender: Sized {
    type Scheme: Scheme;
    type PublicKey;

    /// Makes a sender for the holder of the public key `key`. Refuses a key of other parameters.
    fn new(
        params: Arc<<Self::Scheme as Scheme>::Params>,
        key: &Self::PublicKey,
    ) -> Result<Self, <Self::Scheme as Scheme>::Error>;

    /// Makes a sender whose encryptions are the same each time, from the seed `seed`. It is for tests that must repeat,
    /// and for nothing else.
    fn from_seed_for_reproducible_tests_only(
        params: Arc<<Self::Scheme as Scheme>::Params>,
        key: &Self::PublicKey,
        seed: [u8; 32],
    ) -> Result<Self, <Self::Scheme as Scheme>::Error>;

    /// Encrypts a message at a level and with an annotation. The ciphertext carries the public key's identity.
    fn encrypt(
        &self,
        message: &<Self::Scheme as Scheme>::Message,
        at: &Place<Self::Scheme>,
    ) -> Result<<Self::Scheme as Scheme>::Ciphertext, <Self::Scheme as Scheme>::Error>;
}

/// The party that computes on ciphertexts. It holds nothing secret.
pub trait Operator: Sized {
    type Scheme: Scheme;

    fn new(params: Arc<<Self::Scheme as Scheme>::Params>) -> Self;

    /// Encodes a message to a plaintext in the form that operations expect, at the level and with the annotation
    /// `at`. BFV and BGV ignore `at`, because their plaintexts have neither. It encrypts nothing.
    fn encode(
        &self,
        message: &<Self::Scheme as Scheme>::Message,
        at: &Place<Self::Scheme>,
    ) -> Result<<Self::Scheme as Scheme>::Plaintext, <Self::Scheme as Scheme>::Error>;

    /// Returns the evaluation key with this name in the form that a program expects: with its seed if `seeded` is set
    /// and the key has one, otherwise expanded. It is `None` if the client did not send this key.
    fn key(
        &self,
        keys: &<Self::Scheme as Scheme>::Keys,
        name: &<Self::Scheme as Scheme>::KeyName,
        seeded: bool,
    ) -> Result<Option<<Self::Scheme as Scheme>::Key>, <Self::Scheme as Scheme>::Error>;

    /// Refuses a ciphertext that belongs to other parameters.
    fn check(
        &self,
        cipher: &<Self::Scheme as Scheme>::Ciphertext,
    ) -> Result<(), <Self::Scheme as Scheme>::Error>;

    /// Makes a ciphertext from polynomials that a device computed, each with one limb after another. It first checks
    /// the level and the annotation, the numbers of polynomials and residues, and that residues are below their moduli.
    fn ciphertext(
        &self,
        at: &Place<Self::Scheme>,
        polys: Vec<Vec<u64>>,
        key_id: Option<KeyId>,
    ) -> Result<<Self::Scheme as Scheme>::Ciphertext, <Self::Scheme as Scheme>::Error>;
}

type PublicKey<H> = <<H as KeyHolder>::Sender as Sender>::PublicKey;
type Params<H> = <<H as KeyHolder>::Scheme as Scheme>::Params;
type Error<H> = <<H as KeyHolder>::Scheme as Scheme>::Error;
type KeyName<H> = <<H as KeyHolder>::Scheme as Scheme>::KeyName;
type Keys<H> = <<H as KeyHolder>::Scheme as Scheme>::Keys;
type Message<H> = <<H as KeyHolder>::Scheme as Scheme>::Message;
type Plaintext<H> = <<H as KeyHolder>::Scheme as Scheme>::Plaintext;
type Ciphertext<H> = <<H as KeyHolder>::Scheme as Scheme>::Ciphertext;
