// SPDX-License-Identifier: Apache-2.0
//! LWE ciphertexts, which encrypt one bit or one small integer each.

use ringmill_device::KeyId;
use ringmill_schemes::identity::{Origin, belongs};

use super::TfheError;
use super::params::{Order, Params};

/// The LWE key that a ciphertext is encrypted under: the small or the large one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LweKey {
    /// The small key, of n bits, under which blind rotation takes ciphertexts.
    Small,
    /// The large key, of k N bits, which are the coefficients of the ring key. The extraction after a blind rotation
    /// gives ciphertexts under it.
    Large,
}

impl LweKey {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Large => "large",
        }
    }

    /// Returns the key of inputs and outputs, under which ciphertexts are between operations
    /// ([`super::params::Order`]).
    pub fn resting(params: &Params) -> Self {
        match params.sizes().order {
            Order::BootstrapFirst => Self::Small,
            Order::KeySwitchFirst => Self::Large,
        }
    }

    /// Returns the number of bits of this LWE key: n for the small key, and k N for the large key
    /// with k mask polynomials and ring degree N.
    pub fn dimension(self, params: &Params) -> usize {
        match self {
            Self::Small => params.sizes().n.0,
            Self::Large => params.sizes().large_dimension(),
        }
    }
}

/// An LWE ciphertext: a mask a and a body b. Its phase b - <a, s>, for the secret key s, has the message in its high
/// bits, and noise in the low ones.
#[derive(Clone, PartialEq, Debug)]
pub struct LweCiphertext {
    origin: Origin,
    key: LweKey,
    /// The mask, then the body, each word a residue modulo q. The mask has n words under the small
    /// key, and k N under the large one, for k mask polynomials and ring degree N.
    words: Vec<u64>,
}

belongs!(LweCiphertext);

impl LweCiphertext {
    /// Makes a ciphertext from its words, mask and body, after a check of length and residues. It has no identity of a
    /// secret key.
    ///
    /// # Errors
    /// [`TfheError::Dimension`], [`TfheError::Residue`].
    pub fn new(params: &Params, key: LweKey, words: Vec<u64>) -> Result<Self, TfheError> {
        let expected = key.dimension(params) + 1;
        if words.len() != expected {
            return Err(TfheError::Dimension {
                what: "ciphertext (mask and body)",
                expected,
                got: words.len(),
            });
        }
        params.check_words("ciphertext", &words)?;
        Ok(Self::trusted(params, key, words, None))
    }

    pub(super) fn trusted(
        params: &Params,
        key: LweKey,
        words: Vec<u64>,
        key_id: Option<KeyId>,
    ) -> Self {
        Self {
            origin: params.origin(key_id),
            key,
            words,
        }
    }

    pub fn key(&self) -> LweKey {
        self.key
    }

    /// Returns the words of the ciphertext: the mask, then the body.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Returns the words of the mask, and the body.
    pub fn parts(&self) -> (&[u64], u64) {
        match self.words.split_last() {
            Some((body, mask)) => (mask, *body),
            None => (&[], 0),
        }
    }

    /// Checks that the ciphertext has these parameters and is under the key `expected`.
    pub(super) fn check(&self, params: &Params, expected: LweKey) -> Result<(), TfheError> {
        params.check("ciphertext", &self.origin)?;
        if self.key == expected {
            return Ok(());
        }
        Err(TfheError::WrongKey {
            expected: expected.name(),
            got: self.key.name(),
        })
    }
}
