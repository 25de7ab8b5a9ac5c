//! Encryption and decryption.

use std::sync::Arc;

use ringmill_math::{Prng, kernels, sample};
use zeroize::Zeroizing;

use super::arith::{expand, extended, limbs_mut, sample_error, small_to_eval};
use super::cipher::{Ciphertext, Plaintext, SeededCiphertext, limb};
use super::error::CkksError;
use super::evaluator::call;
use super::key::{PublicKey, SecretKey};
use super::keygen::encrypt_zero;
use super::ops::{OpKey, ProcCache};
use super::params::Params;

/// Encrypts under a public key, or under the secret key where its holder is the one who encrypts.
pub struct Encryptor {
    params: Arc<Params>,
    key: EncryptionKey,
    prng: Prng,
    cache: ProcCache,
}

enum EncryptionKey {
    Public { b: Vec<u64>, a: Vec<u64> },
    Secret(SecretKey),
}

impl Encryptor {
    pub fn with_public_key(params: Arc<Params>, key: &PublicKey) -> Result<Self, CkksError> {
        let a = key.expanded_a(&params)?;
        let key = EncryptionKey::Public {
            b: key.b().to_vec(),
            a,
        };
        Ok(Self {
            cache: ProcCache::new(Arc::clone(&params)),
            params,
            key,
            prng: Prng::from_os()?,
        })
    }

    pub fn with_secret_key(params: Arc<Params>, key: SecretKey) -> Result<Self, CkksError> {
        params.check_id("secret key", key.params_id())?;
        let key = EncryptionKey::Secret(key);
        Ok(Self {
            cache: ProcCache::new(Arc::clone(&params)),
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
            EncryptionKey::Public { .. } => self.encrypt_public(plain),
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
        let EncryptionKey::Public { b, a } = &self.key else {
            return Err(CkksError::MissingKey("public".into()));
        };
        let params = Arc::clone(&self.params);
        params.check_id("plaintext", plain.params_id())?;
        let (level, count) = (plain.level(), params.moduli().len());
        let indices = extended(&params, level);
        let u = small_to_eval(
            &params,
            &indices,
            &sample::ternary(&mut self.prng, params.degree()),
        )?;
        let mut zero = Vec::with_capacity(2);
        for half in [b, a] {
            let mut c = small_to_eval(&params, &indices, &sample_error(&params, &mut self.prng)?)?;
            for ((i, q, c), u) in
                limbs_mut(&params, &indices, &mut c).zip(u.chunks_exact(params.degree()))
            {
                if let Some(key) = limb(half, i, count) {
                    kernels::mac_assign(q, c, u, key)?;
                }
            }
            zero.push(c);
        }
        let procedure = self.cache.get(&OpKey::ModDown { level, size: 2 })?;
        let of = |poly: usize, index: usize| {
            let position = indices.iter().position(|&i| i == index)?;
            limb(zero.get(poly)?, position, indices.len())
        };
        let polys = call(&procedure, &[&of], &[], &[])?;
        let mut polys = polys.into_iter().flatten().collect::<Vec<_>>();
        if let Some(c0) = polys.first_mut() {
            let indices: Vec<usize> = (0..=level as usize).collect();
            add_plain(&params, &indices, c0, plain)?;
        }
        Ok(Ciphertext::trusted(&params, level, plain.scale(), polys))
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
        let mut sum = Zeroizing::new(cipher.polys().last().cloned().unwrap_or_default());
        let mut product = Zeroizing::new(vec![0; params.degree()]);
        for poly in cipher.polys().iter().rev().skip(1) {
            for ((i, q, limb), c) in
                limbs_mut(params, &indices, &mut sum).zip(poly.chunks_exact(params.degree()))
            {
                if let Some(s) = self.secret.limb(params, i) {
                    kernels::mac(q, &mut product, c, limb, s)?;
                    limb.copy_from_slice(&product);
                }
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
