// SPDX-License-Identifier: Apache-2.0
//! The sender: encrypts inputs of a compiled program under the public key of a client, and decrypts nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use ringmill_compiler::Compiled;
use ringmill_isa::macros::Visibility;
use ringmill_limits::Watch;
use ringmill_schemes::ParameterSet;
use ringmill_schemes::ckks::Ckks;
use ringmill_schemes::roles::Sender as _;
use ringmill_schemes::scheme::roles::Place;

use super::scheme::{ErrorOf, PublicKeyOf, Runs, SenderOf, limb_bytes, slots};
use super::{RuntimeError, check_names};

/// A party that encrypts inputs of one compiled program for the holder of a secret key. Each encryption draws its own
/// randomness.
pub struct Sender<S: Runs = Ckks> {
    compiled: Arc<Compiled<S>>,
    sender: SenderOf<S>,
}

impl<S: Runs> Sender<S> {
    /// Makes a sender for the holder of the public key `key`.
    ///
    /// # Errors
    /// [`RuntimeError::Scheme`] for a public key of other parameters than the program's.
    pub fn new(compiled: Arc<Compiled<S>>, key: &PublicKeyOf<S>) -> Result<Self, ErrorOf<S>> {
        let sender = SenderOf::<S>::new(compiled.params.clone(), key);
        Ok(Self {
            compiled,
            sender: sender.map_err(RuntimeError::Scheme)?,
        })
    }

    /// Makes a sender whose encryptions follow from `seed`, so they are the same on every run. It is for reproducible
    /// tests only.
    ///
    /// # Errors
    /// The errors of [`Sender::new`].
    pub fn from_seed_for_reproducible_tests_only(
        compiled: Arc<Compiled<S>>,
        key: &PublicKeyOf<S>,
        seed: [u8; 32],
    ) -> Result<Self, ErrorOf<S>> {
        let params = compiled.params.clone();
        let sender = SenderOf::<S>::from_seed_for_reproducible_tests_only(params, key, seed);
        Ok(Self {
            compiled,
            sender: sender.map_err(RuntimeError::Scheme)?,
        })
    }

    /// Encrypts encrypted inputs of the program, given by name, as [`Client::encrypt`](crate::Client::encrypt) does. Inputs
    /// that are not given are those of other senders. `watch` can stop the work and limits its memory.
    ///
    /// # Errors
    /// The errors of [`Client::encrypt`](crate::Client::encrypt) but that for a missing input.
    pub fn encrypt(
        &self,
        inputs: &BTreeMap<String, S::Message>,
        watch: &Watch,
    ) -> Result<BTreeMap<String, S::Ciphertext>, ErrorOf<S>> {
        let one = |message: &_, at: &_| self.sender.encrypt(message, at);
        encrypted(&self.compiled, inputs, Wanted::Given, watch, one)
    }
}

/// Which encrypted inputs of a program are encrypted.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Wanted {
    All,
    Given,
}

/// Encrypts encrypted inputs of a program, each by the function `encrypt` at the level at which the program takes it.
///
/// # Errors
/// The errors of [`Client::encrypt`](crate::Client::encrypt).
pub(super) fn encrypted<S: Runs>(
    compiled: &Compiled<S>,
    inputs: &BTreeMap<String, S::Message>,
    wanted: Wanted,
    watch: &Watch,
    encrypt: impl Fn(&S::Message, &Place<S>) -> Result<S::Ciphertext, S::Error>,
) -> Result<BTreeMap<String, S::Ciphertext>, ErrorOf<S>> {
    let encrypted = || {
        let inputs = compiled.inputs.iter();
        inputs.filter(|input| input.visibility == Visibility::Encrypted)
    };
    let asked =
        || encrypted().filter(|input| wanted == Wanted::All || inputs.contains_key(&input.name));
    let known: Vec<&str> = encrypted().map(|input| input.name.as_str()).collect();
    check_names(inputs.keys(), &known, "encrypted input")?;
    let mut ciphertexts = BTreeMap::new();
    // The memory of the two polynomials of every ciphertext, and of eight polynomials modulo all primes while one
    // message is encrypted.
    let limbs: u64 = asked().map(|i| i.at.level.primes() as u64).sum();
    let working = 8 * compiled.params.moduli().len() as u64;
    let bytes = limb_bytes(compiled) * (2 * limbs + working);
    watch.admit("the encrypted inputs", bytes)?;
    for input in asked() {
        watch.check()?;
        let missing = || RuntimeError::MissingInput {
            kind: "encrypted",
            name: input.name.clone(),
        };
        let message = inputs.get(&input.name).ok_or_else(missing)?;
        S::check(input, slots(compiled), message)?;
        let refused = |source| RuntimeError::Value {
            name: input.name.clone(),
            source,
        };
        let cipher = encrypt(message, &input.at).map_err(refused)?;
        ciphertexts.insert(input.name.clone(), cipher);
    }
    Ok(ciphertexts)
}
