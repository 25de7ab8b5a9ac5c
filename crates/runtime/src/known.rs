// SPDX-License-Identifier: Apache-2.0
//! The schemes that people's programs are for: the only list of them. [`with_scheme`](crate::with_scheme) is the one place that
//! knows the type of each.

use ringmill_compiler::Compiles;
pub use ringmill_schemes::bfv::Bfv;
pub use ringmill_schemes::bgv::Bgv;
pub use ringmill_schemes::ckks::Ckks;

/// A scheme whose type is found by [`with_scheme`](crate::with_scheme).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known {
    Ckks,
    Bfv,
    Bgv,
}

/// What is written for any scheme, for the one of a [`Known`]: in `body` the name stands for the scheme's type.
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

    /// As programs name it.
    pub fn name(self) -> &'static str {
        with_scheme!(self, S => <S as Compiles>::NAME)
    }

    /// What it computes on, in one line.
    pub fn about(self) -> &'static str {
        match self {
            Self::Ckks => "Real and complex numbers, approximately",
            Self::Bfv => "Whole numbers, exactly",
            Self::Bgv => "Whole numbers, exactly, with levels",
        }
    }

    /// The scheme that programs call so.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scheme| scheme.name() == name)
    }

    /// The names of all, in one line.
    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}
