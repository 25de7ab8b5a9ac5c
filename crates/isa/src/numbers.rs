// SPDX-License-Identifier: Apache-2.0
//! Numbers that must not be taken for one another. Each is as wide as the number it holds and is written as it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A ciphertext's level: it has one more ciphertext prime.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
pub struct Level(pub u32);

impl Level {
    /// Of the outputs, unless something else is asked for.
    pub const LOWEST: Self = Self(0);

    /// Its index in a table that has an entry a level, the lowest first.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Number of ciphertext primes.
    pub const fn primes(self) -> usize {
        self.index() + 1
    }

    /// The ciphertext primes, by their places in the table of moduli.
    pub const fn moduli(self) -> std::ops::Range<usize> {
        0..self.primes()
    }

    /// The level below, where there is one.
    pub const fn below(self) -> Option<Self> {
        match self.0.checked_sub(1) {
            Some(below) => Some(Self(below)),
            None => None,
        }
    }

    /// The level so many above; the highest there is where that is too high.
    pub const fn above(self, by: u32) -> Self {
        Self(self.0.saturating_add(by))
    }

    /// The levels from this one to `last`, which is among them.
    pub fn to(self, last: Self) -> impl DoubleEndedIterator<Item = Self> {
        (self.0..=last.0).map(Self)
    }
}

/// The element g of an automorphism a(x) -> a(x^g): odd and below 2N.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Galois(pub u32);

impl From<Galois> for u64 {
    fn from(element: Galois) -> Self {
        element.0.into()
    }
}

/// A polynomial of a ciphertext, by its index: c_0, c_1, c_2. A plaintext has polynomial 0 alone; a key's are numbered
/// digit by digit, two each.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
pub struct Poly(pub u16);

impl Poly {
    /// The first; the only one of a plaintext.
    pub const FIRST: Self = Self(0);

    /// Its index in a list of polynomials.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Whether a value of so many polynomials has this one.
    pub const fn within(self, count: u32) -> bool {
        (self.0 as u32) < count
    }

    /// The polynomials of a value that has so many.
    pub fn of(count: u32) -> impl Iterator<Item = Self> + Clone {
        // No value has 2^16: ciphertexts have three at most, keys two a digit.
        (0..u16::try_from(count).unwrap_or(u16::MAX)).map(Self)
    }
}

/// Written, and read, as the number.
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
