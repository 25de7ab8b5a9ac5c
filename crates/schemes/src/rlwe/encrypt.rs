// SPDX-License-Identifier: Apache-2.0
//! Encryption and decryption on the ring, which all ring schemes share.

use std::sync::Arc;

use ringmill_isa::Level;
use ringmill_math::wipe::off_the_stack;
use ringmill_math::{Modulus, PrngSource, Residues, Seeded, kernels};
use zeroize::Zeroizing;

use super::arith::{expand, limbs_mut, plan};
use super::cipher::{Annotation, Ciphertext, Plaintext};
use super::error::RlweError;
use super::key::{PublicKey, SecretKey};
use super::keygen::encrypt_zero;
use super::params::{Params, RingParams};
use super::public::PublicHalves;
use ringmill_device::KeyId;
use ringmill_device::ResidueVec;

/// A function that writes some coefficients of a message, modulo one prime, into a slice. Its arguments are the
/// index of the prime, the prime, the position of the first of these coefficients, and the slice.
pub(crate) type Message<'a> =
    &'a dyn Fn(usize, Modulus, usize, &mut [u64]) -> Result<(), RlweError>;

/// Encrypts under a public key, or under the secret key for its holder. Each encryption draws fresh randomness, so a
/// copy of an encryptor (in a forked process or a restored machine) repeats none, unless a test has fixed its seed.
pub struct Encryptor {
    params: Arc<Params>,
    key: EncryptionKey,
    key_id: Option<KeyId>,
    source: PrngSource,
}

enum EncryptionKey {
    Public(PublicHalves),
    Secret(SecretKey),
}

impl Encryptor {
    pub fn with_public_key(
        params: Arc<impl RingParams>,
        key: &PublicKey,
    ) -> Result<Self, RlweError> {
        let params = Arc::clone(params.ring_params());
        let key_id = key.key_id();
        let key = EncryptionKey::Public(PublicHalves::new(&params, key)?);
        Ok(Self {
            params,
            key,
            key_id,
            source: PrngSource::os(),
        })
    }

    pub fn with_secret_key(
        params: Arc<impl RingParams>,
        key: SecretKey,
    ) -> Result<Self, RlweError> {
        let params = Arc::clone(params.ring_params());
        params.check_id("secret key", key.params_id())?;
        let key_id = key.key_id();
        Ok(Self {
            params,
            key: EncryptionKey::Secret(key),
            key_id,
            source: PrngSource::os(),
        })
    }

    /// Makes the encryptor draw its randomness from a stream that `seed` fixes. A key generator with this seed
    /// draws from another stream. It is for tests that must repeat, and for nothing else.
    pub fn seed_for_reproducible_tests_only(mut self, seed: [u8; 32]) -> Self {
        self.source = PrngSource::from_seed_for_reproducible_tests_only(seed, Seeded::Encryptor);
        self
    }

    /// Encrypts a plaintext at its level, with its annotation.
    ///
    /// Under the secret key, c_1 is expanded from a seed, which the ciphertext keeps.
    ///
    /// With the public key, it works as in SEAL. Let P be the product of the special primes. An encryption of zero
    /// modulo q_0 ... q_level P is divided by P with rounding, which leaves little more than a rounding error. Then
    /// the plaintext is added.
    ///
    /// # Errors
    /// Fails for a plaintext of other parameters, and if the system gives no randomness. Under a public key,
    /// [`RlweError::MissingKey`] for a BGV plaintext whose plaintext modulus is not t.
    pub fn encrypt<A: Annotation>(&self, plain: &Plaintext<A>) -> Result<Ciphertext<A>, RlweError> {
        self.params.check_id("plaintext", plain.params_id())?;
        let mut cipher =
            self.encrypt_coefficients(plain.level(), plain.annotation().clone(), None)?;
        match cipher.c0_mut() {
            Some(ResidueVec::Wide(c0)) => add_plain(&self.params, c0, plain)?,
            Some(c0) => {
                let mut sum = c0.residues().wide().into_owned();
                add_plain(&self.params, &mut sum, plain)?;
                *c0 = ResidueVec::packed(self.params.short_words(), sum);
            }
            None => {}
        }
        Ok(cipher)
    }

    /// Encrypts the coefficients that the function `message` writes modulo each prime, or zero if there is no such
    /// function.
    pub(crate) fn encrypt_coefficients<A: Annotation>(
        &self,
        level: Level,
        annotation: A,
        message: Option<Message<'_>>,
    ) -> Result<Ciphertext<A>, RlweError> {
        let params = &self.params;
        params.check_level(level)?;
        match &self.key {
            EncryptionKey::Public(halves) => {
                if annotation.low(params)? != params.low_modulus() {
                    return Err(RlweError::MissingKey(
                        "secret (a public key encrypts modulo t alone)".into(),
                    ));
                }
                let mut prng = self.source.fresh()?;
                let polys = off_the_stack(|| halves.encrypt(params, level, message, &mut prng))?;
                let packed = |poly| ResidueVec::packed(params.short_words(), poly);
                let polys = polys.into_iter().map(packed).collect();
                let cipher = Ciphertext::trusted(params, level, annotation, polys, self.key_id);
                Ok(cipher)
            }
            EncryptionKey::Secret(secret) => {
                let indices: Vec<usize> = level.moduli().collect();
                let mut prng = self.source.fresh()?;
                let seed = prng.next_seed();
                let c1 = expand(params, &indices, &seed, 0);
                let low = annotation.low(params)?;
                let mut c0 = encrypt_zero(params, low, secret, &indices, &c1, &mut prng)?;
                if let Some(message) = message {
                    let mut room = Zeroizing::new(vec![0; params.degree()]);
                    for (i, q, limb) in limbs_mut(params, &indices, &mut c0) {
                        message(i, q, 0, &mut room)?;
                        plan(params, i)?.forward(&mut room)?;
                        kernels::add_assign(q, limb, &room)?;
                    }
                }
                let packed = |poly| ResidueVec::packed(params.short_words(), poly);
                let polys = [c0, c1].map(packed).into();
                let cipher = Ciphertext::trusted(params, level, annotation, polys, self.key_id);
                Ok(cipher.with_seed(seed))
            }
        }
    }
}

fn add_plain<A: Annotation>(
    params: &Params,
    c0: &mut [u64],
    plain: &Plaintext<A>,
) -> Result<(), RlweError> {
    let indices: Vec<usize> = plain.level().moduli().collect();
    let mut room = Zeroizing::new(Vec::new());
    for (i, q, limb) in limbs_mut(params, &indices, c0) {
        let m = match plain.limb(i) {
            Some(Residues::Wide(m)) => m,
            Some(Residues::Short(m)) => {
                room.resize(m.len(), 0);
                kernels::widen(&mut room, m)?;
                &room
            }
            None => continue,
        };
        kernels::add_assign(q, limb, m)?;
    }
    Ok(())
}

/// Holds a secret key and decrypts ciphertexts. The run time depends on public sizes alone.
pub struct Decryptor {
    params: Arc<Params>,
    secret: SecretKey,
}

impl Decryptor {
    pub fn new(params: Arc<impl RingParams>, secret: SecretKey) -> Result<Self, RlweError> {
        let params = Arc::clone(params.ring_params());
        params.check_id("secret key", secret.params_id())?;
        Ok(Self { params, secret })
    }

    /// Returns the identity of the secret key, or `None` if it has none.
    pub fn key_id(&self) -> Option<KeyId> {
        self.secret.key_id()
    }

    /// Returns the phase c_0 + c_1 s + c_2 s^2, by Horner's rule, at the ciphertext's level and with its
    /// annotation: the message before it is decoded.
    ///
    /// # Errors
    /// Fails for a ciphertext of other parameters or of another secret key. If the ciphertext or the secret key has no
    /// key identity, nothing checks that they belong together.
    pub fn decrypt<A: Annotation>(
        &self,
        cipher: &Ciphertext<A>,
    ) -> Result<Plaintext<A>, RlweError> {
        let phase = self.phase(cipher)?;
        let annotation = cipher.annotation().clone();
        Plaintext::trusted(&self.params, cipher.level(), annotation, phase)
    }

    /// Returns the phase of a ciphertext as limbs in evaluation form, without level and annotation, for a scheme
    /// that decodes it further.
    pub(crate) fn phase<A: Annotation>(
        &self,
        cipher: &Ciphertext<A>,
    ) -> Result<Zeroizing<Vec<u64>>, RlweError> {
        let params = &self.params;
        params.check_id("ciphertext", cipher.params_id())?;
        KeyId::common([
            ("secret key", self.key_id()),
            ("ciphertext", cipher.key_id()),
        ])?;
        off_the_stack(|| self.horner(cipher))
    }

    /// Computes the phase c_0 + c_1 s + c_2 s^2 of a ciphertext by Horner's rule. The caller has checked that the
    /// ciphertext belongs to this secret key.
    fn horner<A: Annotation>(
        &self,
        cipher: &Ciphertext<A>,
    ) -> Result<Zeroizing<Vec<u64>>, RlweError> {
        let params = &self.params;
        let indices: Vec<usize> = cipher.level().moduli().collect();
        let mut sum = Zeroizing::new(vec![0; indices.len() * params.degree()]);
        let n = params.degree();
        for (k, (i, q, limb)) in limbs_mut(params, &indices, &mut sum).enumerate() {
            let s = self.secret.limb(params, i);
            let s = s.ok_or_else(|| RlweError::MissingKey(format!("secret, modulus {i}")))?;
            let mut parts = cipher.polys().iter().rev();
            let mut next = || Some(parts.next()?.residues().get(k * n..(k + 1) * n)?.wide());
            // The two highest at once, as every ciphertext has at least two.
            if let (Some(high), Some(low)) = (next(), next()) {
                kernels::mac(q, limb, &low, &high, s)?;
            }
            while let Some(c) = next() {
                kernels::mul_assign(q, limb, s)?;
                kernels::add_assign(q, limb, &c)?;
            }
        }
        Ok(sum)
    }
}
