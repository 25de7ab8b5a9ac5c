//! Encryption and decryption.

use std::sync::Arc;

use ringmill_math::{Prng, kernels};
use zeroize::Zeroizing;

use super::arith::{expand, limbs_mut};
use super::cipher::{Ciphertext, Plaintext, SeededCiphertext};
use super::error::CkksError;
use super::key::{PublicKey, SecretKey};
use super::keygen::encrypt_zero;
use super::params::Params;
use super::public::PublicHalves;

/// Encrypts under a public key, or under the secret key where its holder is the one who encrypts.
pub struct Encryptor {
    params: Arc<Params>,
    key: EncryptionKey,
    prng: Prng,
}

enum EncryptionKey {
    Public(PublicHalves),
    Secret(SecretKey),
}

impl Encryptor {
    pub fn with_public_key(params: Arc<Params>, key: &PublicKey) -> Result<Self, CkksError> {
        let key = EncryptionKey::Public(PublicHalves::new(&params, key)?);
        Ok(Self {
            params,
            key,
            prng: Prng::from_os()?,
        })
    }

    pub fn with_secret_key(params: Arc<Params>, key: SecretKey) -> Result<Self, CkksError> {
        params.check_id("secret key", key.params_id())?;
        let key = EncryptionKey::Secret(key);
        Ok(Self {
            params,
            key,
            prng: Prng::from_os()?,
        })
    }

    /// Replaces the randomness by a fixed stream: for tests that must repeat, and for nothing else.
    pub fn seed_for_reproducible_tests_only(mut self, seed: [u8; 32]) -> Self {
        self.prng = Prng::from_seed_for_reproducible_tests_only(seed);
        self
    }

    /// Encrypts at the plaintext's level and scale.
    ///
    /// With the public key, as SEAL: an encryption of zero modulo q_0 ... q_level P is divided by P with rounding, which
    /// leaves little more than a rounding error; then the plaintext is added.
    pub fn encrypt(&mut self, plain: &Plaintext) -> Result<Ciphertext, CkksError> {
        match &self.key {
            EncryptionKey::Public(_) => self.encrypt_public(plain),
            EncryptionKey::Secret(_) => self.encrypt_seeded(plain)?.expand(&self.params),
        }
    }

    /// Encrypts under the secret key with a seeded c_1, half the size to send. Refused on a public-key encryptor.
    pub fn encrypt_seeded(&mut self, plain: &Plaintext) -> Result<SeededCiphertext, CkksError> {
        let EncryptionKey::Secret(secret) = &self.key else {
            return Err(CkksError::MissingKey("secret".into()));
        };
        let params = &self.params;
        params.check_id("plaintext", plain.params_id())?;
        let indices: Vec<usize> = (0..=plain.level() as usize).collect();
        let seed = self.prng.next_seed();
        let c1 = expand(params, &indices, &seed, 0);
        let mut c0 = encrypt_zero(params, secret, &indices, &c1, &mut self.prng)?;
        add_plain(params, &indices, &mut c0, plain)?;
        Ok(SeededCiphertext::trusted(
            params,
            plain.level(),
            plain.scale(),
            c0,
            seed,
        ))
    }

    fn encrypt_public(&mut self, plain: &Plaintext) -> Result<Ciphertext, CkksError> {
        let EncryptionKey::Public(halves) = &self.key else {
            return Err(CkksError::MissingKey("public".into()));
        };
        let (params, level) = (&self.params, plain.level());
        params.check_id("plaintext", plain.params_id())?;
        let [mut c0, c1] = halves.zero(params, level, &mut self.prng)?;
        let indices: Vec<usize> = (0..=level as usize).collect();
        add_plain(params, &indices, &mut c0, plain)?;
        let polys = vec![c0, c1];
        Ok(Ciphertext::trusted(params, level, plain.scale(), polys))
    }
}

fn add_plain(
    params: &Params,
    indices: &[usize],
    c0: &mut [u64],
    plain: &Plaintext,
) -> Result<(), CkksError> {
    for ((_, q, limb), m) in
        limbs_mut(params, indices, c0).zip(plain.limbs().chunks_exact(params.degree()))
    {
        kernels::add_assign(q, limb, m)?;
    }
    Ok(())
}

/// Decrypts; holds the secret key. Running time depends on public sizes alone.
pub struct Decryptor {
    params: Arc<Params>,
    secret: SecretKey,
}

impl Decryptor {
    pub fn new(params: Arc<Params>, secret: SecretKey) -> Result<Self, CkksError> {
        params.check_id("secret key", secret.params_id())?;
        Ok(Self { params, secret })
    }

    /// c_0 + c_1 s + c_2 s^2, by Horner's rule, at the ciphertext's level and scale.
    pub fn decrypt(&self, cipher: &Ciphertext) -> Result<Plaintext, CkksError> {
        let params = &self.params;
        params.check_id("ciphertext", cipher.params_id())?;
        let indices: Vec<usize> = (0..=cipher.level() as usize).collect();
        let mut sum = Zeroizing::new(vec![0; indices.len() * params.degree()]);
        let n = params.degree();
        for (k, (i, q, limb)) in limbs_mut(params, &indices, &mut sum).enumerate() {
            let s = self.secret.limb(params, i);
            let s = s.ok_or_else(|| CkksError::MissingKey(format!("secret, modulus {i}")))?;
            let mut parts = cipher.polys().iter().rev();
            let mut next = || parts.next().and_then(|c| c.get(k * n..(k + 1) * n));
            // The two highest at once; no ciphertext has fewer.
            if let (Some(high), Some(low)) = (next(), next()) {
                kernels::mac(q, limb, low, high, s)?;
            }
            while let Some(c) = next() {
                kernels::mul_assign(q, limb, s)?;
                kernels::add_assign(q, limb, c)?;
            }
        }
        Ok(Plaintext::trusted(
            params,
            cipher.level(),
            cipher.scale(),
            std::mem::take(&mut *sum),
        ))
    }
}
