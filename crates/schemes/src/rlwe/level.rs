//! Numbers that must not be taken for one another.

use std::fmt;

/// A ciphertext's level: it has one more ciphertext prime.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Level(pub u32);

impl Level {
    /// Number of ciphertext primes.
    pub const fn primes(self) -> usize {
        self.0 as usize + 1
    }

    /// The level below, where there is one.
    pub const fn below(self) -> Option<Self> {
        match self.0.checked_sub(1) {
            Some(below) => Some(Self(below)),
            None => None,
        }
    }
}

impl From<u32> for Level {
    fn from(level: u32) -> Self {
        Self(level)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The element g of an automorphism a(x) -> a(x^g): odd and below 2N.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Galois(pub u32);

impl From<u32> for Galois {
    fn from(element: u32) -> Self {
        Self(element)
    }
}

impl fmt::Display for Galois {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
