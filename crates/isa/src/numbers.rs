// SPDX-License-Identifier: Apache-2.0
//! Types for levels, Galois elements and indices of polynomials, so that no code mistakes one for another.
//!
//! Each type is as wide as the number that it holds, and is printed and parsed as that number.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The level of a ciphertext: the number of its ciphertext primes, less one.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
pub struct Level(pub u32);

impl Level {
    /// The lowest level. A program's outputs are at this level unless a caller asks for another.
    pub const LOWEST: Self = Self(0);

    /// Returns the level as an index into a table that has an entry for each level, the lowest first.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the number of ciphertext primes at this level.
    pub const fn primes(self) -> usize {
        self.index() + 1
    }

    /// Returns the indices of this level's ciphertext primes in a program's table of moduli.
    pub const fn moduli(self) -> std::ops::Range<usize> {
        0..self.primes()
    }

    /// Returns the level below this one, or `None` at level 0.
    pub const fn below(self) -> Option<Self> {
        match self.0.checked_sub(1) {
            Some(below) => Some(Self(below)),
            None => None,
        }
    }

    /// Returns the level `by` above this one, at most the largest number that the type holds.
    pub const fn above(self, by: u32) -> Self {
        Self(self.0.saturating_add(by))
    }

    /// Returns all levels from this one to `last`, both included, the lowest first.
    pub fn to(self, last: Self) -> impl DoubleEndedIterator<Item = Self> {
        (self.0..=last.0).map(Self)
    }
}

/// The Galois element g of an automorphism a(x) -> a(x^g): odd and below 2N.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Galois(pub u32);

impl From<Galois> for u64 {
    fn from(element: Galois) -> Self {
        element.0.into()
    }
}

/// The index of a polynomial of a ciphertext, c_0, c_1 or c_2. A plaintext has polynomial 0 alone.
/// A key has two polynomials for each digit, numbered digit by digit.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
pub struct Poly(pub u16);

impl Poly {
    /// The index of the first polynomial of a ciphertext, the only one of a plaintext.
    pub const FIRST: Self = Self(0);

    /// Returns the index as a position in a list of polynomials.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns whether a ciphertext of `count` polynomials has a polynomial with this index.
    pub const fn within(self, count: u32) -> bool {
        (self.0 as u32) < count
    }

    /// Returns the indices of all polynomials of a ciphertext that has `count` of them.
    pub fn of(count: u32) -> impl Iterator<Item = Self> + Clone {
        // No value has 2^16 polynomials: ciphertexts have at most three, keys two a digit.
        (0..u16::try_from(count).unwrap_or(u16::MAX)).map(Self)
    }
}

/// Implements printing and parsing of a type that wraps a number, as that number.
macro_rules! as_number {
    ($($name:ident),*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = std::num::ParseIntError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
    )*};
}

as_number!(Level, Galois, Poly);
