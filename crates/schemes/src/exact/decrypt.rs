// SPDX-License-Identifier: Apache-2.0
//! Decryption: the phase of a ciphertext, opened as its scheme does.

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

/// Holds a secret key and opens ciphertexts of scheme `S`. Running time depends on public sizes and on whether a message is
/// refused, but for that of [`Decryptor::noise_budget`].
pub struct Decryptor<S: ExactScheme> {
    params: Arc<S::Params>,
    phases: rlwe::Decryptor,
    opening: S::Opening,
}

impl<S: ExactScheme> Decryptor<S> {
    /// # Errors
    /// A secret key of other parameters.
    pub fn new(params: Arc<S::Params>, secret: SecretKey) -> Result<Self, S::Error> {
        Ok(Self {
            opening: S::opening(&params)?,
            phases: rlwe::Decryptor::new(Arc::clone(&params), secret)?,
            params,
        })
    }

    /// The secret key's identity, where it has one.
    pub fn key_id(&self) -> Option<KeyId> {
        self.phases.key_id()
    }

    /// c(s) = c_0 + c_1 s + c_2 s^2 in coefficient form, limb-major.
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

    /// The message.
    ///
    /// # Errors
    /// [`ExactError::NoBudget`](super::ExactError::NoBudget) where it may be lost; ciphertexts of other parameters or another
    /// key.
    pub fn decrypt(&self, cipher: &S::Ciphertext) -> Result<Plaintext, S::Error> {
        let phase = self.phase(cipher)?;
        S::opened(&self.opening, &self.params, cipher, phase)
    }

    /// Bits of noise that the ciphertext can still take: SEAL's invariant noise budget, from 0.
    ///
    /// # Errors
    /// Ciphertexts of other parameters or another key.
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
    /// Bits of noise that the ciphertext can still take.
    ///
    /// # Errors
    /// As [`Decryptor::noise_budget`].
    pub fn noise_budget(&self, cipher: &S::Ciphertext) -> Result<u32, S::Error> {
        self.decryptor().noise_budget(cipher)
    }
}
