// SPDX-License-Identifier: Apache-2.0
//! Generates the keys of the ring schemes.

use std::sync::Arc;

use ringmill_isa::{Galois, Level};
use ringmill_limits::Watch;
use ringmill_math::wipe::off_the_stack;
use ringmill_math::{Modulus, Prng, PrngSource, Seeded, kernels};
use zeroize::Zeroizing;

use super::arith::{expand, limbs_mut, place_error, sample_error, sample_secret, small_to_eval};
use super::error::RlweError;
use super::key::{GaloisKeys, KSwitchKey, KeyForm, KeyHalf, PublicKey, RelinKey, SecretKey};
use super::params::{Params, RingParams};
use super::switching::{Shape, switching_key};
use ringmill_device::KeyId;

/// Generates keys for one secret key, each from fresh randomness. So a copy of a generator (in a forked process or a
/// restored machine) repeats none, unless a test has fixed its seed.
///
/// ```
/// # fn main() -> Result<(), ringmill_schemes::ckks::CkksError> {
/// use ringmill_schemes::ckks::{KeyGenerator, Params};
/// let params = Params::builder(12).prime_bits(&[35, 35], &[35]).build()?;
/// let keygen = KeyGenerator::new(params.clone())?;
/// let relin = keygen.relin_key(Default::default())?;
/// let rotations = keygen.galois_keys(&[params.galois_element(1)?], Default::default())?;
/// # let _ = (relin, rotations);
/// # Ok(())
/// # }
/// ```
pub struct KeyGenerator {
    params: Arc<Params>,
    secret: Arc<SecretKey>,
    source: Arc<PrngSource>,
    indices: Vec<usize>,
    watch: Watch,
}

impl KeyGenerator {
    /// Returns a generator that shares all data with this one, and asks `watch` whether to stop while it makes keys.
    pub fn watched(&self, watch: &Watch) -> Self {
        Self {
            params: Arc::clone(&self.params),
            secret: Arc::clone(&self.secret),
            source: Arc::clone(&self.source),
            indices: self.indices.clone(),
            watch: watch.clone(),
        }
    }

    /// Makes a generator with a new secret key from the operating system's randomness.
    pub fn new(params: Arc<impl RingParams>) -> Result<Self, RlweError> {
        Self::with_source(Arc::clone(params.ring_params()), PrngSource::os())
    }

    /// Makes a generator that makes the same keys on every run. It is for tests that must repeat, and for nothing
    /// else.
    pub fn from_seed_for_reproducible_tests_only(
        params: Arc<impl RingParams>,
        seed: [u8; 32],
    ) -> Result<Self, RlweError> {
        let source = PrngSource::from_seed_for_reproducible_tests_only(seed, Seeded::KeyHolder);
        Self::with_source(Arc::clone(params.ring_params()), source)
    }

    /// Makes a generator for an existing secret key. The keys that it makes carry the secret key's identity, or none if
    /// the secret key has none.
    pub fn from_secret_key(
        params: Arc<impl RingParams>,
        secret: SecretKey,
    ) -> Result<Self, RlweError> {
        let params = Arc::clone(params.ring_params());
        params.check_id("secret key", secret.params_id())?;
        let indices = (0..params.moduli().len()).collect();
        Ok(Self {
            params,
            secret: Arc::new(secret),
            source: Arc::new(PrngSource::os()),
            indices,
            watch: Watch::default(),
        })
    }

    fn with_source(params: Arc<Params>, source: PrngSource) -> Result<Self, RlweError> {
        let indices: Vec<usize> = (0..params.moduli().len()).collect();
        let coefficients = sample_secret(&params, &mut source.fresh()?)?;
        let eval = small_to_eval(&params, &indices, &coefficients)?;
        let key_id = KeyId::draw(&mut source.fresh()?);
        let secret = SecretKey::made(&params, eval, key_id);
        Ok(Self {
            params,
            secret: Arc::new(secret),
            source: Arc::new(source),
            indices,
            watch: Watch::default(),
        })
    }

    pub fn secret_key(&self) -> &SecretKey {
        &self.secret
    }

    /// Makes a public key: an encryption of zero modulo all primes, whose uniform half is expanded from a seed.
    pub fn public_key(&self) -> Result<PublicKey, RlweError> {
        let mut prng = self.source.fresh()?;
        let seed = prng.next_seed();
        let a = expand(&self.params, &self.indices, &seed, 0);
        let low = self.params.low_modulus();
        let b = encrypt_zero(
            &self.params,
            low,
            &self.secret,
            &self.indices,
            &a,
            &mut prng,
        )?;
        let key_id = self.secret.key_id();
        Ok(PublicKey::trusted(
            &self.params,
            b,
            KeyHalf::Seed(seed),
            key_id,
        ))
    }

    /// Makes the relinearisation key, which switches the square s^2 of the secret to the secret s.
    pub fn relin_key(&self, form: KeyForm) -> Result<RelinKey, RlweError> {
        self.relin_key_at(form, self.params.max_level())
    }

    /// Makes a relinearisation key for ciphertexts at `level` and below only. Below the highest level, it is smaller
    /// than one for all levels.
    pub fn relin_key_at(&self, form: KeyForm, level: Level) -> Result<RelinKey, RlweError> {
        off_the_stack(|| self.relin_key_of_square(form, level))
    }

    fn relin_key_of_square(&self, form: KeyForm, level: Level) -> Result<RelinKey, RlweError> {
        let mut square = Zeroizing::new(self.secret.expose_eval_limbs().to_vec());
        let secret = Arc::clone(&self.secret);
        for (i, q, limb) in limbs_mut(&self.params, &self.indices, &mut square) {
            if let Some(s) = secret.limb(&self.params, i) {
                kernels::mul_assign(q, limb, s)?;
            }
        }
        Ok(RelinKey(self.switching_key(&square, form, level)?))
    }

    /// Makes the Galois keys, which switch the secret's image s(x^g) to the secret s, for each given Galois element g.
    ///
    /// # Errors
    /// Fails for an element that is even or not below 2N, for missing memory or randomness, and if the generator's
    /// watch stops it.
    pub fn galois_keys(&self, elements: &[Galois], form: KeyForm) -> Result<GaloisKeys, RlweError> {
        self.galois_keys_at(elements, form, self.params.max_level())
    }

    /// Makes Galois keys for ciphertexts at `level` and below only. Below the highest level, they are smaller than keys
    /// for all levels.
    pub fn galois_keys_at(
        &self,
        elements: &[Galois],
        form: KeyForm,
        level: Level,
    ) -> Result<GaloisKeys, RlweError> {
        let mut keys = GaloisKeys::new();
        for &g in elements {
            let secret = Arc::clone(&self.secret);
            let mut turned = Zeroizing::new(vec![0; secret.expose_eval_limbs().len()]);
            for (i, _, limb) in limbs_mut(&self.params, &self.indices, &mut turned) {
                if let Some(s) = secret.limb(&self.params, i) {
                    kernels::auto_eval(u64::from(g), limb, s)?;
                }
            }
            let key = off_the_stack(|| self.switching_key(&turned, form, level));
            keys.insert(g, key?);
        }
        Ok(keys)
    }

    /// Makes the Galois keys of rotations of slots by the numbers of places `steps`. A rotation by s moves slot i + s
    /// to slot i.
    ///
    /// # Errors
    /// [`RlweError::RotationStep`] for a step of 0, and for one of N / 2 or more in absolute value. Also fails for
    /// missing memory or randomness, and if the generator's watch stops it.
    pub fn rotation_keys(&self, steps: &[i64], form: KeyForm) -> Result<GaloisKeys, RlweError> {
        let elements = steps
            .iter()
            .map(|&s| self.params.galois_element(s))
            .collect::<Result<Vec<_>, _>>()?;
        self.galois_keys(&elements, form)
    }

    /// Makes the key that switches the secret `from` to this generator's secret, for ciphertexts at `level` and
    /// below. `from` is in evaluation form modulo all primes.
    fn switching_key(
        &self,
        from: &[u64],
        form: KeyForm,
        level: Level,
    ) -> Result<KSwitchKey, RlweError> {
        let params = &self.params;
        params.check_level(level)?;
        let shape = Shape::at(params, level);
        let secrets = (from, &*self.secret);
        let mut prng = self.source.fresh()?;
        let key_id = self.secret.key_id();
        switching_key(
            params,
            &shape,
            secrets,
            key_id,
            form,
            &mut prng,
            &self.watch,
        )
    }

    /// Returns a fresh random generator for one more key or ciphertext.
    pub(crate) fn fresh(&self) -> Result<Prng, RlweError> {
        Ok(self.source.fresh()?)
    }

    pub(crate) fn watch(&self) -> &Watch {
        &self.watch
    }
}

/// Returns -(a s + e) modulo the moduli of `indices`, for the secret s and a fresh error e. In BGV, whose messages
/// are in the low bits, `low` is the plaintext modulus t, and t e replaces e. `a` has one limb for each modulus.
pub(crate) fn encrypt_zero(
    params: &Params,
    low: Option<Modulus>,
    secret: &SecretKey,
    indices: &[usize],
    a: &[u64],
    prng: &mut Prng,
) -> Result<Vec<u64>, RlweError> {
    let mut b = small_to_eval(params, indices, &sample_error(params, prng)?)?;
    for ((i, q, limb), a) in limbs_mut(params, indices, &mut b).zip(a.chunks_exact(params.degree()))
    {
        if let Some(s) = secret.limb(params, i) {
            place_error(low, q, limb);
            kernels::mac_assign(q, limb, a, s)?;
            kernels::neg_assign(q, limb);
        }
    }
    Ok(std::mem::take(&mut *b))
}
