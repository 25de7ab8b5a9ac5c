// SPDX-License-Identifier: Apache-2.0
//! Decrypts ciphertexts of the schemes of exact integers: computes the phase, and recovers the message as the
//! scheme does.

use std::sync::Arc;

use ringmill_math::kernels;
use ringmill_math::wipe::off_the_stack;
use zeroize::Zeroizing;

use super::budget::budget;
use super::plaintext::Plaintext;
use super::scheme::ExactScheme;
use crate::rlwe::arith::{limbs_mut, plan};
use crate::rlwe::{self, RingParams, SecretKey};
use ringmill_device::KeyId;

/// Holds a secret key and decrypts ciphertexts of scheme `S`. The run time of decryption depends only on public
/// sizes and on whether a message is refused. That of [`Decryptor::noise_budget`] depends on the noise, too.
pub struct Decryptor<S: ExactScheme> {
    params: Arc<S::Params>,
    phases: rlwe::Decryptor,
    opening: S::Opening,
}

impl<S: ExactScheme> Decryptor<S> {
    /// Makes a decryptor that holds the secret key `secret`, for these parameters.
    ///
    /// # Errors
    /// Fails for a secret key of other parameters.
    pub fn new(params: Arc<S::Params>, secret: SecretKey) -> Result<Self, S::Error> {
        Ok(Self {
            opening: S::opening(&params)?,
            phases: rlwe::Decryptor::new(Arc::clone(&params), secret)?,
            params,
        })
    }

    /// Returns the identity of the secret key, or `None` if it has none.
    pub fn key_id(&self) -> Option<KeyId> {
        self.phases.key_id()
    }

    /// Returns the phase c(s) = c_0 + c_1 s + c_2 s^2 of a ciphertext in coefficient form, with one limb after
    /// another.
    fn phase(&self, cipher: &S::Ciphertext) -> Result<Zeroizing<Vec<u64>>, S::Error> {
        let mut phase = self.phases.phase(cipher)?;
        let indices: Vec<usize> = cipher.level().moduli().collect();
        let params = self.params.ring_params();
        let phase = off_the_stack(|| {
            for (i, _, limb) in limbs_mut(params, &indices, &mut phase) {
                plan(params, i)?
                    .inverse(limb)
                    .map_err(rlwe::RlweError::from)?;
            }
            Ok::<_, rlwe::RlweError>(phase)
        });
        Ok(phase?)
    }

    /// Decrypts a ciphertext to its message, a polynomial modulo the plaintext modulus of the ciphertext.
    ///
    /// # Errors
    /// [`ExactError::NoBudget`](super::ExactError::NoBudget) if the message may be lost. Also fails for ciphertexts
    /// of other parameters or another key.
    pub fn decrypt(&self, cipher: &S::Ciphertext) -> Result<Plaintext, S::Error> {
        let phase = self.phase(cipher)?;
        S::opened(&self.opening, &self.params, cipher, phase)
    }

    /// Returns the noise budget in bits: about how often the noise of the ciphertext may still double before its
    /// message is lost. It is SEAL's invariant noise budget. It is 0 if the noise reaches a quarter of Q, near which
    /// [`Decryptor::decrypt`] begins to refuse.
    ///
    /// # Errors
    /// Fails for ciphertexts of other parameters or another key.
    pub fn noise_budget(&self, cipher: &S::Ciphertext) -> Result<u32, S::Error> {
        let mut noise = self.phase(cipher)?;
        let params = self.params.ring_params();
        let factor = S::noise_factor(&self.params);
        if factor != 1 {
            let indices: Vec<usize> = cipher.level().moduli().collect();
            for (_, q, limb) in limbs_mut(params, &indices, &mut noise) {
                kernels::mul_scalar_assign(q, limb, q.reduce(factor));
            }
        }
        Ok(budget(params, &noise, cipher.level())?)
    }
}

impl<S: ExactScheme> rlwe::KeyHolder<S> {
    /// Returns the noise budget in bits: about how often the noise of the ciphertext may still double before its
    /// message is lost.
    ///
    /// # Errors
    /// The errors of [`Decryptor::noise_budget`].
    pub fn noise_budget(&self, cipher: &S::Ciphertext) -> Result<u32, S::Error> {
        self.decryptor().noise_budget(cipher)
    }
}
