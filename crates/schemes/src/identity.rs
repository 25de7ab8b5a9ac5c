// SPDX-License-Identifier: Apache-2.0
//! The scheme, the parameters and the secret key to which an object belongs.

use ringmill_device::{KeyId, ParamsId};

/// A scheme: its name for people, and its number in files and canonical forms.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SchemeTag {
    pub name: &'static str,
    /// The number of the scheme. It is never changed or given to another scheme, because files contain it.
    pub byte: u8,
}

/// The scheme, the parameters and the secret key to which an object belongs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Origin {
    pub scheme: SchemeTag,
    pub params_id: ParamsId,
    /// The identity of the secret key, or `None` if it is not known.
    pub key_id: Option<KeyId>,
}

/// Defines methods that return the scheme, the parameters and the secret key to which an object belongs. The object
/// needs a field `origin` of type [`Origin`].
#[macro_export]
macro_rules! belongs {
    (for<$a:ident : $bound:ident> $object:ty) => {
        $crate::belongs!(@ [<$a: $bound>] $object);
    };
    (@ [$($generics:tt)*] $object:ty) => {
        impl $($generics)* $object {
            /// Returns the scheme, the parameters and the secret key to which the object belongs.
            pub fn origin(&self) -> &$crate::identity::Origin {
                &self.origin
            }

            /// Returns the identity of the secret key to which the object belongs, or `None` if it is not known.
            pub fn key_id(&self) -> Option<ringmill_device::KeyId> {
                self.origin.key_id
            }

            /// Returns the object with another key identity. It is for readers of formats that store the identity
            /// elsewhere, or not at all.
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

/// Returns the first eight bytes of an identity in hexadecimal, for error messages.
pub fn short_id(id: &ParamsId) -> String {
    id.iter().take(8).map(|b| format!("{b:02x}")).collect()
}
