//! Residues as they are held: in words of 64 bits, or of 32 where their moduli allow it.

use std::borrow::Cow;
use std::ops::Range;

/// A limb's residues, in words of either length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Residues<'a> {
    Wide(&'a [u64]),
    /// Of a modulus of at most 2^32: half the memory, and half of what sums of products read.
    Short(&'a [u32]),
}

impl<'a> Residues<'a> {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Wide(words) => words.len(),
            Self::Short(words) => words.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Those of a range; none of one that leaves it.
    pub fn get(&self, range: Range<usize>) -> Option<Self> {
        match self {
            Self::Wide(words) => words.get(range).map(Self::Wide),
            Self::Short(words) => words.get(range).map(Self::Short),
        }
    }

    /// The same in words of 64 bits.
    pub fn wide(self) -> Cow<'a, [u64]> {
        match self {
            Self::Wide(words) => Cow::Borrowed(words),
            Self::Short(words) => Cow::Owned(words.iter().map(|&x| x.into()).collect()),
        }
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
