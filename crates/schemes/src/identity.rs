//! Which scheme, parameters and secret key an object belongs to.

use std::fmt;

use ringmill_math::{Prng, declassify};
use thiserror::Error;

use crate::scheme::ParamsId;

/// A scheme's name for people and its number in files and canonical forms.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SchemeTag {
    pub name: &'static str,
    /// Never given to another scheme, and never changed: files carry it.
    pub byte: u8,
}

/// What an object belongs to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Origin {
    pub scheme: SchemeTag,
    pub params_id: ParamsId,
    /// The secret key, where that is known.
    pub key_id: Option<KeyId>,
}

/// Gives an object with a field `origin` the methods that say what it belongs to.
macro_rules! belongs {
    (for<$a:ident : $bound:ident> $object:ty) => {
        belongs!(@ [<$a: $bound>] $object);
    };
    (@ [$($generics:tt)*] $object:ty) => {
        impl $($generics)* $object {
            /// The scheme, the parameters and the secret key this belongs to.
            pub fn origin(&self) -> &$crate::identity::Origin {
                &self.origin
            }

            /// The secret key this belongs to, where that is known.
            pub fn key_id(&self) -> Option<$crate::identity::KeyId> {
                self.origin.key_id
            }

            /// The same under another identity: for readers of formats that keep it elsewhere, or not at all.
            pub fn with_key_id(mut self, key_id: Option<$crate::identity::KeyId>) -> Self {
                self.origin.key_id = key_id;
                self
            }

            pub fn params_id(&self) -> &$crate::scheme::ParamsId {
                &self.origin.params_id
            }
        }
    };
    ($object:ident) => {
        belongs!(@ [] $object);
    };
}
pub(crate) use belongs;

/// First eight bytes of an identity, in hexadecimal, for messages.
pub(crate) fn short_id(id: &ParamsId) -> String {
    id.iter().take(8).map(|b| format!("{b:02x}")).collect()
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_agree_or_are_refused_and_what_has_none_is_not_vouched_for() {
        let mut prng = Prng::from_seed_for_reproducible_tests_only([1; 32]);
        let (a, b) = (KeyId::draw(&mut prng), KeyId::draw(&mut prng));
        let common = |ids: &[Option<KeyId>]| KeyId::common(ids.iter().map(|&id| ("part", id)));
        assert_eq!(common(&[]), Ok(None));
        assert_eq!(common(&[Some(a), Some(a)]), Ok(Some(a)));
        assert_eq!(common(&[Some(a), None, Some(a)]), Ok(None));
        for mixed in [&[Some(a), Some(b)][..], &[Some(a), None, Some(b)]] {
            let refused = common(mixed).unwrap_err();
            let said = refused.to_string();
            assert!(
                said.contains(&a.short()) && said.contains(&b.short()),
                "{said}"
            );
        }
        assert_eq!(KeyId::from_bytes([0; 16]), None);
        assert_eq!(KeyId::from_bytes(*a.bytes()), Some(a));
    }
}
