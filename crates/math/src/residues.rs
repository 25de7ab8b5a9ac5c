// SPDX-License-Identifier: Apache-2.0
//! Slices of residues in words of 64 bits, or of 32 bits if the modulus is below 2^32.

use std::borrow::Cow;
use std::ops::Range;

/// Returns whether residues of a modulus may be held in words of 32 bits: whether the modulus is below 2^32.
pub const fn is_short(modulus: u128) -> bool {
    modulus >> 32 == 0
}

/// The residues of a limb, in words of 64 bits, or of 32 bits, which only a modulus below 2^32 allows.
#[derive(Clone, Copy, Debug)]
pub enum Residues<'a> {
    Wide(&'a [u64]),
    /// Residues modulo a modulus below 2^32 ([`is_short`]), in words of 32 bits. They take half the memory, and half
    /// as many bytes are read and written.
    Short(&'a [u32]),
}

/// A writable limb of residues, in words of 64 bits, or of 32 bits, which only a modulus below 2^32 allows.
#[derive(Debug)]
pub enum ResiduesMut<'a> {
    Wide(&'a mut [u64]),
    Short(&'a mut [u32]),
}

impl<'a> Residues<'a> {
    /// Returns the number of residues of the limb.
    pub fn len(&self) -> usize {
        match self {
            Self::Wide(words) => words.len(),
            Self::Short(words) => words.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the residues at the indices of a range, or `None` if the range ends beyond the limb, or its end is
    /// before its start.
    pub fn get(&self, range: Range<usize>) -> Option<Self> {
        match self {
            Self::Wide(words) => words.get(range).map(Self::Wide),
            Self::Short(words) => words.get(range).map(Self::Short),
        }
    }

    /// Returns the residue at index `place`, or `None` beyond the last.
    pub fn at(&self, place: usize) -> Option<u64> {
        match self {
            Self::Wide(words) => words.get(place).copied(),
            Self::Short(words) => words.get(place).map(|&x| x.into()),
        }
    }

    /// Iterates over the residues of the limb in order, as words of 64 bits.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        (0..self.len()).map(|place| self.at(place).unwrap_or(0))
    }

    /// Returns the residues of the limb in words of 64 bits. It copies them if they are in words of 32 bits.
    pub fn wide(self) -> Cow<'a, [u64]> {
        match self {
            Self::Wide(words) => Cow::Borrowed(words),
            Self::Short(words) => Cow::Owned(words.iter().map(|&x| x.into()).collect()),
        }
    }
}

/// Residues are compared by value; the width of their words does not matter.
impl PartialEq for Residues<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Wide(a), Self::Wide(b)) => a == b,
            (Self::Short(a), Self::Short(b)) => a == b,
            (Self::Wide(wide), Self::Short(short)) | (Self::Short(short), Self::Wide(wide)) => {
                let words = || wide.iter().zip(*short);
                wide.len() == short.len() && words().all(|(&a, &b)| a == u64::from(b))
            }
        }
    }
}

impl Eq for Residues<'_> {}

impl<'a> ResiduesMut<'a> {
    /// Returns the number of residues of the writable limb.
    pub fn len(&self) -> usize {
        match self {
            Self::Wide(words) => words.len(),
            Self::Short(words) => words.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'a> From<&'a [u64]> for Residues<'a> {
    fn from(words: &'a [u64]) -> Self {
        Self::Wide(words)
    }
}

impl<'a> From<&'a Vec<u64>> for Residues<'a> {
    fn from(words: &'a Vec<u64>) -> Self {
        Self::Wide(words)
    }
}

impl<'a> From<&'a [u32]> for Residues<'a> {
    fn from(words: &'a [u32]) -> Self {
        Self::Short(words)
    }
}
