// SPDX-License-Identifier: Apache-2.0
//! The scheme, parameters and secret key that an object belongs to.

use ringmill_device::{KeyId, ParamsId};

/// A scheme's name for people, and its number in files and canonical forms.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SchemeTag {
    pub name: &'static str,
    /// The number is never given to another scheme and never changed, since files carry it.
    pub byte: u8,
}

/// The scheme, parameters and key that an object belongs to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Origin {
    pub scheme: SchemeTag,
    pub params_id: ParamsId,
    /// The secret key, if it is known.
    pub key_id: Option<KeyId>,
}

/// Defines the methods that return what an object belongs to, for an object with a field `origin` of type [`Origin`].
#[macro_export]
macro_rules! belongs {
    (for<$a:ident : $bound:ident> $object:ty) => {
        $crate::belongs!(@ [<$a: $bound>] $object);
    };
    (@ [$($generics:tt)*] $object:ty) => {
        impl $($generics)* $object {
            /// Returns the scheme, the parameters and the secret key that this belongs to.
            pub fn origin(&self) -> &$crate::identity::Origin {
                &self.origin
            }

            /// Returns the secret key that this belongs to, if it is known.
            pub fn key_id(&self) -> Option<ringmill_device::KeyId> {
                self.origin.key_id
            }

            /// Returns the same object under another identity, for readers of formats that store it elsewhere, or not
            /// at all.
            pub fn with_key_id(mut self, key_id: Option<ringmill_device::KeyId>) -> Self {
                self.origin.key_id = key_id;
                self
            }

            pub fn params_id(&self) -> &ringmill_device::ParamsId {
                &self.origin.params_id
            }
        }
    };
    ($object:ident) => {
        $crate::belongs!(@ [] $object);
    };
}
pub use belongs;

/// Returns the first eight bytes of an identity, in hexadecimal, for messages.
pub fn short_id(id: &ParamsId) -> String {
    id.iter().take(8).map(|b| format!("{b:02x}")).collect()
}
