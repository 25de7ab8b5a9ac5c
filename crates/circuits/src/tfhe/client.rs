// SPDX-License-Identifier: Apache-2.0
//! The two parties that encrypt in TFHE. The client holds the secret key: it makes keys, encrypts and decrypts. The
//! encryptor holds the public key and encrypts.

use std::sync::Arc;

use ringmill_device::KeyId;
use ringmill_math::torus::{KeyShape, TransformedKey};
use ringmill_math::wipe::off_the_stack;
use ringmill_math::{Prng, PrngSource, Seeded};
use zeroize::Zeroizing;

use super::keygen::{self, Noise};
use super::keys::{BootstrapKey, KeySwitchKey, PublicKey, expand_mask};
use super::lwe::{LweCiphertext, LweKey};
use super::params::{Messages, Params};
use super::secret::SecretKey;
use super::seeded::SeededCiphertexts;
use super::tables::{bits, encode};
use super::{TfheError, steps};

/// The holder of a TFHE secret key, who makes evaluation keys, encrypts and decrypts.
pub struct Client {
    params: Arc<Params>,
    secret: Arc<SecretKey>,
    /// The sampler of the noise of fresh ciphertexts, whose width depends on their key: the small one or the large one
    /// ([`super::Order`]).
    noise: Noise,
    source: PrngSource,
}

impl Client {
    /// Makes a client with a new secret key from the operating system's randomness.
    ///
    /// # Errors
    /// [`TfheError::Math`] if the operating system gives no randomness, or for noise that cannot be sampled: a standard
    /// deviation below 0.3, if the step from one residue modulo q to the next counts as 1.
    pub fn new(params: Arc<Params>) -> Result<Self, TfheError> {
        Self::with_source(params, PrngSource::os())
    }

    /// Makes a client whose keys and ciphertexts follow from `seed`, so they are the same on every run. It is for tests
    /// that must repeat, and for nothing else.
    ///
    /// # Errors
    /// [`TfheError::Math`] for noise that cannot be sampled.
    pub fn from_seed_for_reproducible_tests_only(
        params: Arc<Params>,
        seed: [u8; 32],
    ) -> Result<Self, TfheError> {
        Self::with_source(
            params,
            PrngSource::from_seed_for_reproducible_tests_only(seed, Seeded::KeyHolder),
        )
    }

    fn with_source(params: Arc<Params>, source: PrngSource) -> Result<Self, TfheError> {
        let secret = Arc::new(SecretKey::draw(&params, &mut source.fresh()?));
        Self::of(params, secret, source)
    }

    fn of(
        params: Arc<Params>,
        secret: Arc<SecretKey>,
        source: PrngSource,
    ) -> Result<Self, TfheError> {
        let std = match LweKey::resting(&params) {
            LweKey::Small => params.sizes().lwe_std,
            LweKey::Large => params.sizes().glwe_std,
        };
        Ok(Self {
            noise: Noise::new(&params, std)?,
            params,
            secret,
            source,
        })
    }

    /// Makes a client with an existing secret key of the same parameters.
    ///
    /// # Errors
    /// [`TfheError::OtherParams`]; [`TfheError::Math`] for noise that cannot be sampled.
    pub fn with_secret(params: Arc<Params>, secret: Arc<SecretKey>) -> Result<Self, TfheError> {
        params.check("secret key", secret.origin())?;
        Self::of(params, secret, PrngSource::os())
    }

    pub fn params(&self) -> &Arc<Params> {
        &self.params
    }

    pub fn secret(&self) -> &Arc<SecretKey> {
        &self.secret
    }

    /// Makes the bootstrapping key, with which a server bootstraps this client's ciphertexts.
    ///
    /// # Errors
    /// [`TfheError::HeavyKey`] if more than half of the bits of the small key or of the large key are 1, which is
    /// possible for keys that this version did not draw. Such a secret key still decrypts. [`TfheError::Halt`] if
    /// memory does not hold the key; [`TfheError::Math`] if the operating system gives no randomness.
    pub fn bootstrap_key(&self) -> Result<BootstrapKey, TfheError> {
        if !self.secret.is_counted(&self.params) {
            return Err(TfheError::HeavyKey);
        }
        self.made(keygen::bootstrap_key)
    }

    /// Makes the key that a server needs to switch ciphertexts from the large key to the small one.
    ///
    /// # Errors
    /// [`TfheError::Math`] if the operating system gives no randomness, or for noise that cannot be sampled as in
    /// [`Client::new`].
    pub fn key_switch_key(&self) -> Result<KeySwitchKey, TfheError> {
        self.made(keygen::key_switch_key)
    }

    pub fn public_key(&self) -> Result<PublicKey, TfheError> {
        self.made(keygen::public_key)
    }

    /// Returns the key that a key-generating function makes, and wipes the stack that the function used.
    fn made<K>(
        &self,
        make: impl FnOnce(&Params, &SecretKey, &mut Prng) -> Result<K, TfheError>,
    ) -> Result<K, TfheError> {
        let mut prng = self.source.fresh()?;
        off_the_stack(|| make(&self.params, &self.secret, &mut prng))
    }

    /// Encrypts a bit under the key of inputs and outputs ([`LweKey::resting`]).
    ///
    /// # Errors
    /// [`TfheError::OtherMessages`] under parameters for integers; [`TfheError::Math`] if the operating system gives no
    /// randomness.
    pub fn encrypt_bit(&self, bit: bool) -> Result<LweCiphertext, TfheError> {
        self.encrypt_phase(encode_bit(&self.params, bit)?)
    }

    /// Encrypts a message under the key of inputs and outputs ([`LweKey::resting`]). The message may fill the carry
    /// too.
    ///
    /// # Errors
    /// [`TfheError::Message`]; [`TfheError::OtherMessages`] under parameters for booleans; [`TfheError::Math`] if the
    /// operating system gives no randomness.
    pub fn encrypt(&self, message: u64) -> Result<LweCiphertext, TfheError> {
        self.encrypt_phase(encode(&self.params, message)?)
    }

    fn encrypt_phase(&self, phase: u64) -> Result<LweCiphertext, TfheError> {
        let (params, mut prng) = (&*self.params, self.source.fresh()?);
        let one = SeededCiphertexts::new(prng.next_seed());
        let mut words = one.next_words(params);
        self.finish(&mut prng, phase, &mut words);
        let (key, key_id) = (LweKey::resting(params), self.secret.key_id());
        Ok(LweCiphertext::trusted(params, key, words, key_id))
    }

    /// Adds to a body of 0 the product of mask and secret key, a phase, and fresh noise.
    fn finish(&self, prng: &mut Prng, phase: u64, words: &mut [u64]) {
        let (params, q) = (&*self.params, self.params.coefficients());
        if let Some((body, mask)) = words.split_last_mut() {
            let product = (self.secret).inner_product(params, LweKey::resting(params), mask);
            *body = q.add(phase, product);
            self.noise.add_to(prng, std::slice::from_mut(body));
        }
    }

    /// Begins to encrypt several messages whose masks expand from one fresh seed.
    ///
    /// # Errors
    /// [`TfheError::Math`] if the operating system gives no randomness.
    pub fn batch(&self) -> Result<Batch<'_>, TfheError> {
        let mut prng = self.source.fresh()?;
        Ok(Batch {
            done: SeededCiphertexts::new(prng.next_seed()),
            client: self,
            prng,
        })
    }

    /// Returns the phase b - <a, s> of a ciphertext (a, b) under the secret key s: the encoded message plus noise.
    /// Whoever sees the phases of many ciphertexts learns the secret.
    ///
    /// # Errors
    /// [`TfheError::OtherParams`], [`TfheError::OtherKeys`].
    pub fn phase_with_its_noise(&self, x: &LweCiphertext) -> Result<u64, TfheError> {
        self.params.check("ciphertext", x.origin())?;
        let parts = [
            ("secret key", self.secret.key_id()),
            ("ciphertext", x.key_id()),
        ];
        KeyId::common(parts)?;
        let (mask, body) = x.parts();
        let product = self.secret.inner_product(&self.params, x.key(), mask);
        Ok(self.params.coefficients().sub(body, product))
    }

    /// Decrypts a ciphertext to a bit.
    ///
    /// # Errors
    /// [`TfheError::OtherParams`], [`TfheError::OtherKeys`]; [`TfheError::OtherMessages`] under parameters for
    /// integers.
    pub fn decrypt_bit(&self, x: &LweCiphertext) -> Result<bool, TfheError> {
        encode_bit(&self.params, true)?;
        let phase = self.phase_with_its_noise(x)?;
        Ok(self.params.coefficients().centred(phase) >= 0)
    }

    /// Decrypts a ciphertext to a message with its carry.
    ///
    /// # Errors
    /// [`TfheError::OtherParams`], [`TfheError::OtherKeys`]; [`TfheError::OtherMessages`] under parameters for
    /// booleans.
    pub fn decrypt(&self, x: &LweCiphertext) -> Result<u64, TfheError> {
        let bits = bits(&self.params)?;
        let phase = self.phase_with_its_noise(x)?;
        Ok(self.params.coefficients().switch(phase, bits + 1) & ((1 << bits) - 1))
    }
}

/// Encryptions of several messages under the secret key, whose masks expand from one fresh seed. [`Client::batch`] begins
/// a batch.
pub struct Batch<'a> {
    client: &'a Client,
    /// The generator of the seed, and then of the noise.
    prng: Prng,
    done: SeededCiphertexts,
}

impl Batch<'_> {
    /// Appends the encryption of a bit, as [`Client::encrypt_bit`] encrypts it.
    ///
    /// # Errors
    /// [`TfheError::OtherMessages`] under parameters for integers.
    pub fn encrypt_bit(&mut self, bit: bool) -> Result<(), TfheError> {
        let phase = encode_bit(&self.client.params, bit)?;
        self.append(phase);
        Ok(())
    }

    /// Appends the encryption of a message, as [`Client::encrypt`] encrypts it.
    ///
    /// # Errors
    /// [`TfheError::Message`]; [`TfheError::OtherMessages`] under parameters for booleans.
    pub fn encrypt(&mut self, message: u64) -> Result<(), TfheError> {
        let phase = encode(&self.client.params, message)?;
        self.append(phase);
        Ok(())
    }

    fn append(&mut self, phase: u64) {
        let client = self.client;
        let mut words = self.done.next_words(&client.params);
        client.finish(&mut self.prng, phase, &mut words);
        let key_id = client.secret.key_id();
        self.done.push(&client.params, words, key_id);
    }

    /// Returns the ciphertexts, in the order of their encryption.
    pub fn finish(self) -> SeededCiphertexts {
        self.done
    }
}

fn encode_bit(params: &Params, bit: bool) -> Result<u64, TfheError> {
    match params.sizes().messages {
        Messages::Booleans => {
            // True is 1, and false is 7, which is -1 modulo 8.
            let eighths = 1 | (u64::from(bit) ^ 1).wrapping_mul(6);
            Ok(params.coefficients().fraction(eighths, 3))
        }
        other => Err(TfheError::OtherMessages {
            expected: "booleans",
            got: other.name(),
        }),
    }
}

/// An encryptor with a public key. It sums the rows of the public key, each times a polynomial of random bits, adds
/// noise, and takes coefficient 0. Its ciphertexts are under the large key. If evaluators take ciphertexts under the
/// small key, a server switches them ([`super::Evaluator::bring_to_rest`]).
pub struct Encryptor {
    params: Arc<Params>,
    key: TransformedKey,
    noise: Noise,
    key_id: Option<KeyId>,
    source: PrngSource,
}

impl Encryptor {
    /// Makes an encryptor from a public key of the same parameters.
    ///
    /// # Errors
    /// [`TfheError::OtherParams`]; [`TfheError::Math`] for noise that cannot be sampled, or a key that memory does not
    /// hold.
    pub fn new(params: Arc<Params>, public: &PublicKey) -> Result<Self, TfheError> {
        params.check("public key", public.origin())?;
        let s = *params.sizes();
        let (n, k, ring) = (s.degree(), s.k.0, params.ring());
        let mut key = ring.key(KeyShape::new(n, k, k + 1)?, 1)?;
        let mut mask = vec![0; n];
        for (t, body) in public.bodies().chunks(n).enumerate() {
            for c in 0..k {
                let stream = (t * k + c) as u64;
                expand_mask(params.coefficients(), public.seed(), stream, &mut mask);
                ring.put(&mut key, 0, [t, c], &mask)?;
            }
            ring.put(&mut key, 0, [t, k], body)?;
        }
        Ok(Self {
            noise: Noise::new(&params, s.glwe_std)?,
            params,
            key,
            key_id: public.key_id(),
            source: PrngSource::os(),
        })
    }

    /// Replaces the encryptor's randomness by a fixed stream that follows from `seed`. It is for tests that must
    /// repeat, and for nothing else.
    pub fn seed_for_reproducible_tests_only(mut self, seed: [u8; 32]) -> Self {
        self.source = PrngSource::from_seed_for_reproducible_tests_only(seed, Seeded::Encryptor);
        self
    }

    /// Encrypts a bit under the large key.
    ///
    /// # Errors
    /// [`TfheError::OtherMessages`] under parameters for integers; [`TfheError::Math`] if the operating system gives no
    /// randomness.
    pub fn encrypt_bit(&self, bit: bool) -> Result<LweCiphertext, TfheError> {
        self.encrypt_phase(encode_bit(&self.params, bit)?)
    }

    /// Encrypts a message under the large key. The message may fill the carry too.
    ///
    /// # Errors
    /// [`TfheError::Message`]; [`TfheError::OtherMessages`] under parameters for booleans; [`TfheError::Math`] if the
    /// operating system gives no randomness.
    pub fn encrypt(&self, message: u64) -> Result<LweCiphertext, TfheError> {
        self.encrypt_phase(encode(&self.params, message)?)
    }

    fn encrypt_phase(&self, phase: u64) -> Result<LweCiphertext, TfheError> {
        let (params, mut prng) = (&*self.params, self.source.fresh()?);
        let (s, ring, q) = (params.sizes(), params.ring(), params.coefficients());
        let (n, cols) = (s.degree(), s.k.0 + 1);
        let mut cipher = vec![0; cols * n];
        self.noise.add_to(&mut prng, &mut cipher);
        let mut chosen = keygen::bits(&mut prng, s.large_dimension());
        // The sums are products with secret random bits, so they are wiped.
        let zeros = |n| Zeroizing::new(vec![0; n]);
        let mut sums = [zeros(cols * n), zeros(cols * n * (ring.lanes() - 1))];
        let small = chosen.clone();
        for (lane, sums) in sums.iter_mut().enumerate().take(ring.lanes()) {
            chosen.copy_from_slice(&small);
            ring.forward(lane, &mut chosen)?;
            let rows = self.key.rows(lane, 0);
            ring.accumulate(lane, self.key.shape(), &chosen, rows, sums)?;
        }
        let [first, second] = &mut sums;
        let mut second = second.chunks_mut(n);
        for (acc, first) in cipher.chunks_mut(n).zip(first.chunks_mut(n)) {
            ring.inverse_add(first, second.next().unwrap_or_default(), acc)?;
        }
        let mut words = vec![0; s.large_dimension() + 1];
        steps::sample_extract(params, &cipher, &mut words)?;
        if let Some(body) = words.last_mut() {
            *body = q.add(*body, phase);
        }
        Ok(LweCiphertext::trusted(
            params,
            LweKey::Large,
            words,
            self.key_id,
        ))
    }
}
