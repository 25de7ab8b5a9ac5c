// SPDX-License-Identifier: Apache-2.0
//! The arguments and results of a saved program, with the types that the user declared.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::circuit::program::Type;

/// The type of a declared integer. A bit has the same values as an unsigned integer of one bit, and another name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum DeclaredType {
    Bit,
    Integer(Type),
}

impl DeclaredType {
    pub fn kind(self) -> Type {
        match self {
            Self::Bit => Type::BIT,
            Self::Integer(kind) => kind,
        }
    }
}

impl Display for DeclaredType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bit => f.write_str("bit"),
            Self::Integer(kind) => kind.fmt(f),
        }
    }
}

impl From<DeclaredType> for String {
    fn from(of: DeclaredType) -> Self {
        of.to_string()
    }
}

/// The error of a text that names no type.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no type, expected bit, uint(1) to uint(64), or sint(1) to sint(64)")]
pub struct UnknownType(String);

impl FromStr for DeclaredType {
    type Err = UnknownType;

    fn from_str(text: &str) -> Result<Self, UnknownType> {
        let integer = || {
            let (kind, bits) = text.strip_suffix(')')?.split_once('(')?;
            let signed = match kind {
                "uint" => false,
                "sint" => true,
                _ => return None,
            };
            Type::new(bits.parse().ok()?, signed).ok()
        };
        match text {
            "bit" => Ok(Self::Bit),
            _ => integer()
                .map(Self::Integer)
                .ok_or_else(|| UnknownType(text.to_owned())),
        }
    }
}

impl TryFrom<String> for DeclaredType {
    type Error = UnknownType;

    fn try_from(text: String) -> Result<Self, UnknownType> {
        text.parse()
    }
}

/// An argument or a result: an integer, or an array of integers of one type.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declared {
    pub name: String,
    #[serde(rename = "type")]
    pub of: DeclaredType,
    /// The number of integers of an array, or `None` for a single integer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<u32>,
}

impl Declared {
    /// Returns the number of integers.
    pub fn count(&self) -> usize {
        self.length.unwrap_or(1) as usize
    }

    /// Returns the names and types of the inputs that an argument consists of: `x`, or `x[0]`, `x[1]`, ...
    pub fn ports(&self) -> impl Iterator<Item = (String, Type)> {
        (0..self.count()).map(|i| {
            let name = match self.length {
                None => self.name.clone(),
                Some(_) => format!("{}[{i}]", self.name),
            };
            (name, self.of.kind())
        })
    }

    /// Returns the name and the type of each output that a result consists of. All have the name of the result.
    pub fn elements(&self) -> impl Iterator<Item = (&str, Type)> {
        std::iter::repeat_n((self.name.as_str(), self.of.kind()), self.count())
    }
}

/// The structure that the compiled function returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Returned {
    /// The function returned its only result.
    One,
    Tuple,
    Dict,
}

impl Returned {
    pub const ALL: [Self; 3] = [Self::One, Self::Tuple, Self::Dict];

    pub const fn name(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Tuple => "tuple",
            Self::Dict => "dict",
        }
    }
}
