// SPDX-License-Identifier: Apache-2.0
//! Identifiers of secret keys. All ciphertexts and keys made with a secret key carry its identifier.

use std::fmt;

use ringmill_math::{Prng, declassify};
use thiserror::Error;

/// An identifier of a secret key: 128 random bits, drawn when the key is made. All objects made with the key carry it.
/// It is independent of the secret, so it tells nothing of the secret. Two keys have the same identifier with
/// probability 2^-128.
///
/// Files of SEAL and Ringmill's files of format version 1 have no identifier, nor have secret keys from either. Without
/// an identifier nobody can check to which key an object belongs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId([u8; 16]);

impl KeyId {
    /// Draws a new random identifier from `prng`.
    pub fn draw(prng: &mut Prng) -> Self {
        loop {
            if let Some(id) = Self::from_bytes(prng.next_u128().to_le_bytes()) {
                return id;
            }
        }
    }

    /// Reads an identifier from a file's 16 bytes. All zeros stand for an object without an identifier, and give
    /// `None`.
    pub fn from_bytes(bytes: [u8; 16]) -> Option<Self> {
        // The bytes were drawn beside a secret, from the same generator, but they are public.
        declassify(bytes != [0; 16]).then_some(Self(bytes))
    }

    pub fn bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// Returns the first eight bytes of the identifier in hexadecimal, for error messages.
    pub fn short(&self) -> String {
        self.0.iter().take(8).map(|b| format!("{b:02x}")).collect()
    }

    /// Compares the identifiers of the named ciphertexts, plaintexts and keys of one computation. Those with an
    /// identifier must agree. [`Agreement::unchecked`] lists those without one.
    ///
    /// # Errors
    /// [`Mismatch`] if two of them belong to different secret keys.
    pub fn agree<N>(
        parts: impl IntoIterator<Item = (N, Option<Self>)>,
    ) -> Result<Agreement<N>, Mismatch<N>> {
        let mut agreement = Agreement {
            known: None,
            unchecked: Vec::new(),
        };
        for (what, id) in parts {
            let Some(got) = id else {
                agreement.unchecked.push(what);
                continue;
            };
            let expected = *agreement.known.get_or_insert(got);
            if got != expected {
                return Err(Mismatch {
                    what,
                    expected,
                    got,
                });
            }
        }
        Ok(agreement)
    }

    /// Returns the identifier that all ciphertexts, plaintexts and keys of a computation share. It is `None` if one of
    /// them has no identifier, or if `parts` is empty.
    ///
    /// # Errors
    /// [`Mismatch`] if two of them belong to different secret keys.
    pub fn common<N>(
        parts: impl IntoIterator<Item = (N, Option<Self>)>,
    ) -> Result<Option<Self>, Mismatch<N>> {
        Self::agree(parts).map(|agreement| agreement.key_id())
    }
}

/// The result of a comparison of ciphertexts, plaintexts and keys, no two of which belong to different secret keys.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Agreement<N> {
    /// The identifier that all those ciphertexts, plaintexts and keys share that have one, or
    /// `None` if none has one.
    pub known: Option<KeyId>,
    /// The names of the ciphertexts, plaintexts and keys that have no identifier.
    pub unchecked: Vec<N>,
}

impl<N> Agreement<N> {
    /// Returns the identifier for a result that is computed from the compared ciphertexts, plaintexts and keys. It is
    /// the one that they share, or `None` if one of them has no identifier.
    pub fn key_id(&self) -> Option<KeyId> {
        self.known.filter(|_| self.unchecked.is_empty())
    }
}

/// The error of a ciphertext, plaintext or key that belongs to another secret key than those before it.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error(
    "{what} belongs to another secret key (key identity {got}, expected {expected})",
    got = got.short(),
    expected = expected.short()
)]
pub struct Mismatch<N> {
    pub what: N,
    pub expected: KeyId,
    pub got: KeyId,
}

/// Writes all 16 bytes of the identifier in hexadecimal.
impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({})", self.short())
    }
}
