// SPDX-License-Identifier: Apache-2.0
//! Identifiers of secret keys. All ciphertexts and keys made with a secret key carry its identifier.

use std::fmt;

use ringmill_math::{Prng, declassify};
use thiserror::Error;

/// An identifier of a secret key: 128 random bits, drawn beside the key. All objects made with the key carry it. It is
/// independent of the secret, so it tells nothing of the secret. Two keys have the same identifier with probability
/// 2^-128.
///
/// SEAL's files, our files of version 1, and secret keys from either have no identifier. For objects without one nobody
/// can check to which key they belong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId([u8; 16]);

impl KeyId {
    /// Draws a new identifier.
    pub fn draw(prng: &mut Prng) -> Self {
        loop {
            if let Some(id) = Self::from_bytes(prng.next_u128().to_le_bytes()) {
                return id;
            }
        }
    }

    /// Reads an identifier from a file's field; all zeros stand for none.
    pub fn from_bytes(bytes: [u8; 16]) -> Option<Self> {
        // Drawn beside a secret, from the same generator, but public.
        declassify(bytes != [0; 16]).then_some(Self(bytes))
    }

    pub fn bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// Returns the first eight bytes in hexadecimal, for messages.
    pub fn short(&self) -> String {
        self.0.iter().take(8).map(|b| format!("{b:02x}")).collect()
    }

    /// Compares the identifiers of the named parts of one computation. Parts that have an identifier must agree; others
    /// may lack one.
    ///
    /// # Errors
    /// [`Mismatch`] if two parts belong to different secret keys.
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

    /// Returns the identifier that all parts share, or `None` if a part has none, because the whole cannot be checked
    /// then.
    ///
    /// # Errors
    /// [`Mismatch`] if two parts belong to different secret keys.
    pub fn common<N>(
        parts: impl IntoIterator<Item = (N, Option<Self>)>,
    ) -> Result<Option<Self>, Mismatch<N>> {
        Self::agree(parts).map(|agreement| agreement.key_id())
    }
}

/// The result of a comparison in which no two parts belong to different secret keys.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Agreement<N> {
    /// The identifier of the parts that have one.
    pub known: Option<KeyId>,
    /// The parts that have no identifier.
    pub unchecked: Vec<N>,
}

impl<N> Agreement<N> {
    /// Returns the identifier of the whole.
    pub fn key_id(&self) -> Option<KeyId> {
        self.known.filter(|_| self.unchecked.is_empty())
    }
}

/// A part that belongs to another secret key than those before it.
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

/// All bytes in hexadecimal.
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
