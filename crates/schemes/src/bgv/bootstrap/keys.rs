// SPDX-License-Identifier: Apache-2.0
//! The keys of bootstrapping.

use ringmill_math::kernels;

use super::error::BootstrapError;
use super::maps::Maps;
use super::params::Bootstrapping;
use crate::bgv::{Ciphertext, Factor, KeyGenerator, Params};
use crate::rlwe::arith::{expand, limbs_mut};
use crate::rlwe::key::KSwitchKey;
use crate::rlwe::keygen::encrypt_zero;
use crate::rlwe::sparse::{SparseSecret, encapsulation_shape};
use crate::rlwe::switching::Shape as KeyShape;
use crate::rlwe::{GaloisKeys, KeyForm, RelinKey};
use ringmill_device::ResidueVec;

/// The keys that a server needs to bootstrap. They are public: the server cannot decrypt with them.
#[derive(Clone, Debug)]
pub struct BootstrapKeys {
    /// The key-switching key from the main secret to the sparse one. Its modulus is the inner modulus q times as
    /// many special primes as q has primes.
    pub(super) encapsulation: KSwitchKey,
    /// The sparse secret, encrypted under the main one with the last plaintext modulus p^e, at the highest level.
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
    /// Fails for maps or a generator of other parameters, for parameters with too few primes, and for missing memory or
    /// randomness.
    pub fn generate(
        setup: &Bootstrapping,
        maps: &Maps,
        keygen: &KeyGenerator,
        form: KeyForm,
    ) -> Result<Self, BootstrapError> {
        let secret = SparseSecret::sample(setup.params(), setup.weight(), keygen)?;
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
            encapsulation: sparse.encapsulation(params, setup.inner(), keygen, form)?,
            secret: encrypted(params, keygen, sparse)?,
            relin: keygen.relin_key(form)?,
            low: keygen.galois_keys_at(&low, form, start)?,
            high: keygen.galois_keys(&high, form)?,
        })
    }

    /// Returns the bytes of memory that all keys will take, before they are made.
    ///
    /// # Errors
    /// Fails if the maps belong to other parameters, or if the parameters have too few primes.
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
        Ok(
            encapsulation_shape(params, setup.inner())?.bytes(params, form)
                + low.len() as u64 * low_shape.bytes(params, form)
                + (1 + high.len() as u64) * high_shape.bytes(params, form)
                + secret,
        )
    }

    /// Returns the bytes of memory that all keys take.
    pub fn bytes(&self) -> u64 {
        let secret: u64 = self.secret.polys().iter().map(ResidueVec::bytes).sum();
        let galois = self.low.iter().chain(self.high.iter());
        let galois: u64 = galois.map(|(_, key)| key.bytes()).sum();
        self.encapsulation.bytes() + secret + self.relin.0.bytes() + galois
    }
}

/// Encrypts the sparse secret s' as (b + s', a) at the highest level. Here (b, a) is an encryption of zero whose error
/// is a multiple of the last plaintext modulus p^e.
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
    let secret = sparse
        .secret_key()
        .expose_eval_limbs()
        .chunks_exact(params.degree());
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
