// SPDX-License-Identifier: Apache-2.0
//! The sparse secret under which a bootstrap raises a ciphertext's modulus, and the keys that switch to it and
//! back. When the modulus q is raised, the phase gains a multiple of q. The multiple is small if few coefficients
//! of the secret are other than 0.

use std::fmt;

use ringmill_isa::Level;

use super::SecretDistribution;
use super::arith::small_to_eval;
use super::error::RlweError;
use super::key::{KSwitchKey, KeyForm, SecretKey};
use super::keygen::KeyGenerator;
use super::ops::keyswitch::special_of_few;
use super::params::Params;
use super::security::{SecurityTable, bound, no_bound};
use super::switching::{Shape, switching_key};

/// The sparse secret under which ciphertexts are encapsulated during a bootstrap. The keys of bootstrapping are made
/// from it. Whoever has it decrypts encapsulated ciphertexts.
pub struct SparseSecret(SecretKey);

impl fmt::Debug for SparseSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SparseSecret(redacted)")
    }
}

impl SparseSecret {
    /// Samples a new sparse secret with `weight` coefficients other than 0, from the randomness of the key
    /// generator `keygen`.
    ///
    /// # Errors
    /// Fails if the system has no randomness, and for a weight above the ring degree.
    pub fn sample(params: &Params, weight: u32, keygen: &KeyGenerator) -> Result<Self, RlweError> {
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

    /// Makes the key that switches ciphertexts at `level`, and at no other level, from the secret key of `keygen` to
    /// the sparse secret.
    ///
    /// # Errors
    /// Fails for a level of more primes than there are special primes, and for missing memory or randomness.
    pub(crate) fn encapsulation(
        &self,
        params: &Params,
        level: Level,
        keygen: &KeyGenerator,
        form: KeyForm,
    ) -> Result<KSwitchKey, RlweError> {
        let shape = encapsulation_shape(params, level)?;
        let main = keygen.secret_key();
        let secrets = (main.expose_eval_limbs(), &self.0);
        self.switching(params, &shape, secrets, keygen, form)
    }

    /// Makes the key that switches ciphertexts at the highest level from the sparse secret to the secret key of
    /// `keygen`.
    ///
    /// # Errors
    /// Fails for missing memory or randomness.
    pub(crate) fn decapsulation(
        &self,
        params: &Params,
        keygen: &KeyGenerator,
        form: KeyForm,
    ) -> Result<KSwitchKey, RlweError> {
        let shape = Shape::at(params, params.max_level());
        let secrets = (self.0.expose_eval_limbs(), keygen.secret_key());
        self.switching(params, &shape, secrets, keygen, form)
    }

    fn switching(
        &self,
        params: &Params,
        shape: &Shape,
        secrets: (&[u64], &SecretKey),
        keygen: &KeyGenerator,
        form: KeyForm,
    ) -> Result<KSwitchKey, RlweError> {
        let id = keygen.secret_key().key_id();
        let (mut prng, watch) = (keygen.fresh()?, keygen.watch());
        switching_key(params, shape, secrets, id, form, &mut prng, watch)
    }
}

/// Returns the shape of the encapsulation key for ciphertexts at a level. It has one digit, and its moduli are the
/// level's primes and as many special primes. [`encapsulate`](super::ops::keyswitch::encapsulate), which uses the key,
/// needs a level whose primes are all in the parameters' first digit.
///
/// # Errors
/// Fails for a level of more primes than there are special primes.
pub(crate) fn encapsulation_shape(params: &Params, level: Level) -> Result<Shape, RlweError> {
    let special = special_of_few(params, level)?;
    let primes = 0..level.primes();
    Ok(Shape {
        moduli: primes.clone().chain(special.clone()).collect(),
        special,
        digits: vec![primes],
        low: params.low_modulus(),
    })
}

/// Checks by the security tables of sparse secrets that a sparse secret of weight `weight` is secure. `bits` is the
/// size in bits of the modulus of its encapsulation key. Returns one line about the table.
///
/// # Errors
/// The reason in words, for a modulus that is too large for the weight or for which the table has no bound, unless the
/// parameters may be insecure.
pub(crate) fn security(params: &Params, weight: u32, bits: u64) -> Result<String, String> {
    let (table, level) = (SecurityTable::SparseTernary2026, params.security().level);
    let secret = SecretDistribution::SparseTernary { weight };
    let log_n = params.log_n();
    let found = bound(table, secret, level, log_n).map_err(|e| e.to_string())?;
    let reason = match found {
        Some(most) if bits <= most.into() => {
            let level = level.bits();
            return Ok(format!(
                "{level}-bit by {table}: {bits} bits, at most {most}"
            ));
        }
        Some(most) => format!(
            "its modulus has {bits} bits, table {table} allows at most {most} for weight {weight} at N = 2^{log_n}"
        ),
        None => no_bound(table, secret, level, log_n),
    };
    match params.insecure_allowed() {
        true => Ok(format!("INSECURE, allowed for tests only: {reason}")),
        false => Err(reason),
    }
}

/// Returns the number of bits of an encapsulation key's modulus: the product of the level's primes and as many
/// special primes.
///
/// # Errors
/// Fails for a level of more primes than there are special primes.
pub(crate) fn key_bits(params: &Params, level: Level) -> Result<u64, RlweError> {
    let special = special_of_few(params, level)?;
    let special = params.moduli().get(special).unwrap_or_default();
    let primes = params.moduli().iter().take(level.primes()).chain(special);
    Ok(primes.product::<num_bigint::BigUint>().bits())
}
