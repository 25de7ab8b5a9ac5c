// SPDX-License-Identifier: Apache-2.0
//! Fresh ciphertexts that share one seed. A file of them holds the seed and a body for each ciphertext, and no masks.

use ringmill_device::KeyId;

use super::TfheError;
use super::keys::expand_mask;
use super::lwe::{LweCiphertext, LweKey};
use super::params::Params;

/// Fresh ciphertexts whose masks all expand from one public seed. The mask of ciphertext r comes from stream r
/// ([`expand_mask`]). All are under the key of inputs and outputs ([`LweKey::resting`]).
#[derive(Clone, PartialEq, Debug)]
pub struct SeededCiphertexts {
    seed: [u8; 32],
    ciphertexts: Vec<LweCiphertext>,
}

impl SeededCiphertexts {
    /// Makes a list without ciphertexts. The seed must be fresh, since two masks must not share a stream.
    pub(super) fn new(seed: [u8; 32]) -> Self {
        Self {
            seed,
            ciphertexts: Vec::new(),
        }
    }

    /// Returns the words of the next ciphertext: its expanded mask, and a body of 0.
    pub(super) fn next_words(&self, params: &Params) -> Vec<u64> {
        words(params, &self.seed, self.ciphertexts.len(), 0)
    }

    /// Appends a ciphertext whose words come from [`SeededCiphertexts::next_words`], with another body.
    pub(super) fn push(&mut self, params: &Params, words: Vec<u64>, key_id: Option<KeyId>) {
        let key = LweKey::resting(params);
        let next = LweCiphertext::trusted(params, key, words, key_id);
        self.ciphertexts.push(next);
    }

    /// Expands the ciphertexts of a seed that have these bodies.
    ///
    /// # Errors
    /// [`TfheError::Residue`] for a body that is no residue modulo q; [`TfheError::Halt`] if memory does not hold the
    /// ciphertexts.
    pub fn expand(
        params: &Params,
        seed: [u8; 32],
        bodies: &[u64],
        key_id: Option<KeyId>,
    ) -> Result<Self, TfheError> {
        params.check_words("ciphertexts", bodies)?;
        ringmill_limits::room("encrypted integers", expanded_bytes(params, bodies.len()))?;
        let mut found = Self::new(seed);
        for (stream, &body) in bodies.iter().enumerate() {
            let words = words(params, &seed, stream, body);
            found.push(params, words, key_id);
        }
        Ok(found)
    }

    pub fn seed(&self) -> &[u8; 32] {
        &self.seed
    }

    pub fn ciphertexts(&self) -> &[LweCiphertext] {
        &self.ciphertexts
    }

    pub fn into_ciphertexts(self) -> Vec<LweCiphertext> {
        self.ciphertexts
    }
}

fn words(params: &Params, seed: &[u8; 32], stream: usize, body: u64) -> Vec<u64> {
    let mut words = vec![0; LweKey::resting(params).dimension(params) + 1];
    if let Some((last, mask)) = words.split_last_mut() {
        expand_mask(params.coefficients(), seed, stream as u64, mask);
        *last = body;
    }
    words
}

/// Returns the bytes of memory that `count` ciphertexts take with their masks.
pub fn expanded_bytes(params: &Params, count: usize) -> u64 {
    let words = LweKey::resting(params).dimension(params) as u64 + 1;
    (count as u64).saturating_mul(8 * words)
}
