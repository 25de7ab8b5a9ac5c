// SPDX-License-Identifier: Apache-2.0
//! The keys of bootstrapping, and the sparse secret for which they are made.

use std::fmt;

use ringmill_math::kernels;

use super::error::BootstrapError;
use super::maps::Maps;
use super::params::Bootstrapping;
use crate::bgv::{Ciphertext, Factor, KeyGenerator, Params};
use crate::rlwe::arith::{expand, limbs_mut, small_to_eval};
use crate::rlwe::key::KSwitchKey;
use crate::rlwe::keygen::encrypt_zero;
use crate::rlwe::ops::keyswitch::special_of_few;
use crate::rlwe::switching::{Shape as KeyShape, switching_key};
use crate::rlwe::{GaloisKeys, KeyForm, RelinKey, SecretDistribution, SecretKey};
use ringmill_device::ResidueVec;

/// The sparse secret under which ciphertexts are encapsulated during a bootstrap. It is needed to make keys, and for
/// nothing else.
pub struct SparseSecret(SecretKey);

impl fmt::Debug for SparseSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SparseSecret(redacted)")
    }
}

impl SparseSecret {
    /// Samples a new sparse secret from the generator's randomness.
    ///
    /// # Errors
    /// Fails if the system has no randomness.
    pub fn sample(setup: &Bootstrapping, keygen: &KeyGenerator) -> Result<Self, BootstrapError> {
        let params = setup.params();
        let weight = setup.weight();
        let distribution = SecretDistribution::SparseTernary { weight };
        let coefficients = distribution.sample(&mut keygen.fresh()?, params.degree())?;
        let indices: Vec<usize> = (0..params.moduli().len()).collect();
        let eval = small_to_eval(params, &indices, &coefficients)?;
        Ok(Self(SecretKey::known(params, eval)))
    }

    /// Returns the sparse secret as a key, which decrypts encapsulated ciphertexts.
    pub fn secret_key(&self) -> &SecretKey {
        &self.0
    }
}

/// The keys that a server needs to bootstrap. They are public: the server cannot decrypt with them.
#[derive(Clone, Debug)]
pub struct BootstrapKeys {
    /// The key from the main secret to the sparse one, modulo the inner modulus q and as many special primes.
    pub(super) encapsulation: KSwitchKey,
    /// The sparse secret, encrypted under the main one with plaintext modulus p^e, at the highest level.
    pub(super) secret: Ciphertext,
    pub(super) relin: RelinKey,
    /// The Galois keys of the map to coefficients, at a low level; `high` has the Galois keys of later steps.
    pub(super) low: GaloisKeys,
    pub(super) high: GaloisKeys,
}

impl BootstrapKeys {
    /// Generates all keys of bootstrapping for a new sparse secret, which it wipes afterwards.
    ///
    /// # Errors
    /// Fails for a generator of other parameters, and for missing memory or randomness.
    pub fn generate(
        setup: &Bootstrapping,
        maps: &Maps,
        keygen: &KeyGenerator,
        form: KeyForm,
    ) -> Result<Self, BootstrapError> {
        let secret = SparseSecret::sample(setup, keygen)?;
        Self::of_secret(setup, maps, keygen, &secret, form)
    }

    /// Generates all keys of bootstrapping for a given sparse secret.
    ///
    /// # Errors
    /// The errors of [`BootstrapKeys::generate`].
    pub fn of_secret(
        setup: &Bootstrapping,
        maps: &Maps,
        keygen: &KeyGenerator,
        sparse: &SparseSecret,
        form: KeyForm,
    ) -> Result<Self, BootstrapError> {
        let params = setup.params();
        params.check_id("secret key", keygen.secret_key().params_id())?;
        params.check_id("linear maps", maps.params_id())?;
        let [low, high] = maps.elements();
        let start = setup.start()?;
        Ok(Self {
            encapsulation: encapsulation(setup, keygen, sparse, form)?,
            secret: encrypted(params, keygen, sparse)?,
            relin: keygen.relin_key(form)?,
            low: keygen.galois_keys_at(&low, form, start)?,
            high: keygen.galois_keys(&high, form)?,
        })
    }

    /// Returns the bytes of memory that all keys will take, before they are made.
    ///
    /// # Errors
    /// Fails if the maps belong to other parameters.
    pub fn bytes_of(
        setup: &Bootstrapping,
        maps: &Maps,
        form: KeyForm,
    ) -> Result<u64, BootstrapError> {
        let params = setup.params();
        params.check_id("linear maps", maps.params_id())?;
        let [low, high] = maps.elements();
        let low_shape = KeyShape::at(params, setup.start()?);
        let high_shape = KeyShape::at(params, params.max_level());
        let residues = params.cipher_count() * params.degree();
        let secret = (2 * params.key_word_bytes() * residues) as u64;
        Ok(encapsulation_shape(setup)?.bytes(params, form)
            + low.len() as u64 * low_shape.bytes(params, form)
            + (1 + high.len() as u64) * high_shape.bytes(params, form)
            + secret)
    }

    /// Returns the bytes of memory that all keys take.
    pub fn bytes(&self) -> u64 {
        let secret: u64 = self.secret.polys().iter().map(ResidueVec::bytes).sum();
        let galois = self.low.iter().chain(self.high.iter());
        let galois: u64 = galois.map(|(_, key)| key.bytes()).sum();
        self.encapsulation.bytes() + secret + self.relin.0.bytes() + galois
    }
}

/// Returns the shape of the encapsulation key: one digit, the primes of the inner modulus, and as many special primes.
pub(super) fn encapsulation_shape(setup: &Bootstrapping) -> Result<KeyShape, BootstrapError> {
    let (params, level) = (setup.params(), setup.inner());
    let special = special_of_few(params, level)?;
    let primes = 0..level.primes();
    Ok(KeyShape {
        moduli: primes.clone().chain(special.clone()).collect(),
        special,
        digits: vec![primes],
        low: params.low_modulus(),
    })
}

fn encapsulation(
    setup: &Bootstrapping,
    keygen: &KeyGenerator,
    sparse: &SparseSecret,
    form: KeyForm,
) -> Result<KSwitchKey, BootstrapError> {
    let params = setup.params();
    let shape = encapsulation_shape(setup)?;
    let main = keygen.secret_key();
    let secrets = (main.expose_eval_limbs(), &sparse.0);
    let (mut prng, watch) = (keygen.fresh()?, keygen.watch());
    let key_id = main.key_id();
    Ok(switching_key(
        params, &shape, secrets, key_id, form, &mut prng, watch,
    )?)
}

/// Encrypts the sparse secret s' as (b + s', a) at the highest level. Here (b, a) is an encryption of zero whose error
/// is a multiple of p^e.
fn encrypted(
    params: &Params,
    keygen: &KeyGenerator,
    sparse: &SparseSecret,
) -> Result<Ciphertext, BootstrapError> {
    let level = params.max_level();
    let indices: Vec<usize> = level.moduli().collect();
    let mut prng = keygen.fresh()?;
    let a = expand(params, &indices, &prng.next_seed(), 0);
    let main = keygen.secret_key();
    let mut b = encrypt_zero(params, params.key_modulus(), main, &indices, &a, &mut prng)?;
    let secret = sparse.0.expose_eval_limbs().chunks_exact(params.degree());
    for ((_, q, limb), s) in limbs_mut(params, &indices, &mut b).zip(secret) {
        kernels::add_assign(q, limb, s)?;
    }
    let factor = Factor::one_modulo(params.last_plain());
    let key_id = main.key_id();
    Ok(Ciphertext::trusted(
        params,
        level,
        factor,
        [b, a]
            .map(|poly| ResidueVec::packed(params.short_words(), poly))
            .into(),
        key_id,
    ))
}
