// SPDX-License-Identifier: Apache-2.0
//! The list of the schemes that users can write programs for.
//!
//! [`with_scheme`](crate::with_scheme) is the only place that knows the type of each scheme.

use ringmill_compiler::Compiles;
pub use ringmill_schemes::bfv::Bfv;
pub use ringmill_schemes::bgv::Bgv;
pub use ringmill_schemes::ckks::Ckks;

/// A scheme of users' programs, whose type [`with_scheme`](crate::with_scheme) finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known {
    Ckks,
    Bfv,
    Bgv,
}

/// Evaluates `body`, which is written for any scheme, for the scheme of a [`Known`]. In `body` the identifier before
/// `=>` stands for the scheme's type.
#[macro_export]
macro_rules! with_scheme {
    ($scheme:expr, $name:ident => $body:expr) => {
        match $scheme {
            $crate::Known::Ckks => {
                type $name = $crate::known::Ckks;
                $body
            }
            $crate::Known::Bfv => {
                type $name = $crate::known::Bfv;
                $body
            }
            $crate::Known::Bgv => {
                type $name = $crate::known::Bgv;
                $body
            }
        }
    };
}

impl Known {
    pub const ALL: [Self; 3] = [Self::Ckks, Self::Bfv, Self::Bgv];

    /// Returns the name that programs use for the scheme.
    pub fn name(self) -> &'static str {
        with_scheme!(self, S => <S as Compiles>::NAME)
    }

    /// Returns one line of text on the kind of values that the scheme computes with.
    pub fn about(self) -> &'static str {
        match self {
            Self::Ckks => "Real and complex numbers, approximately",
            Self::Bfv => "Whole numbers, exactly",
            Self::Bgv => "Whole numbers, exactly, with levels",
        }
    }

    /// Returns the scheme that programs call by this name, or `None` for another name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scheme| scheme.name() == name)
    }

    /// Returns the names of all schemes in one line of text.
    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}
