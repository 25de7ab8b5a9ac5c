// SPDX-License-Identifier: Apache-2.0
//! Enumerations whose variants have numbers and texts, as definition files of binary interfaces list them.

/// Defines an enumeration from rows of a name, its number, and the text that stands for it in messages and listings.
#[macro_export]
macro_rules! codes {
    (
        $(#[$about:meta])*
        pub enum $name:ident { $($(#[$meaning:meta])* $variant:ident = $number:literal => $text:literal,)+ }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        #[repr(u32)]
        pub enum $name {
            $($(#[$meaning])* $variant = $number,)+
        }

        impl $name {
            /// Every variant, in the definition file's order.
            pub const ALL: [Self; [$($number),+].len()] = [$(Self::$variant),+];

            /// Returns the number that stands for the variant.
            pub const fn bits(self) -> u64 {
                self as u64
            }

            /// Returns the variant with the number `bits`, or `None` if no variant has this number.
            pub fn from_bits(bits: u64) -> Option<Self> {
                Self::ALL.into_iter().find(|code| code.bits() == bits)
            }

            /// Returns the text that stands for the variant in messages and listings.
            pub const fn text(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.text())
            }
        }
    };
}
