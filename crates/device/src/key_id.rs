// SPDX-License-Identifier: Apache-2.0
//! Names of secret keys, which what is made with them carries.

use std::fmt;

use ringmill_math::{Prng, declassify};
use thiserror::Error;

/// Names a secret key: 128 random bits, drawn beside it and carried by everything that is made with it. They are
/// independent of the secret, so they tell nothing of it, and two keys have the same ones with probability 2^-128.
///
/// Where an object has none (SEAL's files, our files of version 1, secret keys that came from either), what it belongs
/// to cannot be checked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId([u8; 16]);

impl KeyId {
    /// A new identity.
    pub fn draw(prng: &mut Prng) -> Self {
        loop {
            if let Some(id) = Self::from_bytes(prng.next_u128().to_le_bytes()) {
                return id;
            }
        }
    }

    /// From a file's field; all zeros stand for no identity.
    pub fn from_bytes(bytes: [u8; 16]) -> Option<Self> {
        // Drawn beside a secret, from the same generator, but public.
        declassify(bytes != [0; 16]).then_some(Self(bytes))
    }

    pub fn bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// First eight bytes in hexadecimal, for messages.
    pub fn short(&self) -> String {
        self.0.iter().take(8).map(|b| format!("{b:02x}")).collect()
    }

    /// What the named parts of one computation say of the secret key they belong to. Those that have an identity must
    /// agree, whatever others lack.
    ///
    /// # Errors
    /// [`Mismatch`] when two parts belong to different secret keys.
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

    /// The identity that all parts share; `None` when a part has none, so that the whole cannot be checked.
    ///
    /// # Errors
    /// [`Mismatch`] when two parts belong to different secret keys.
    pub fn common<N>(
        parts: impl IntoIterator<Item = (N, Option<Self>)>,
    ) -> Result<Option<Self>, Mismatch<N>> {
        Self::agree(parts).map(|agreement| agreement.key_id())
    }
}

/// No two parts belong to different secret keys.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Agreement<N> {
    /// The identity of the parts that have one.
    pub known: Option<KeyId>,
    /// The parts that have none.
    pub unchecked: Vec<N>,
}

impl<N> Agreement<N> {
    /// The identity of the whole.
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
