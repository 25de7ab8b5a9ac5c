// SPDX-License-Identifier: Apache-2.0
//! The place of a field in a binary word.

/// A field of a word of at most 64 bits, by its lowest bit and its width in bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    low: u32,
    width: u32,
}

impl Field {
    /// Returns the field of `width` bits, 1 to 64, whose lowest bit is bit `low` of the word.
    ///
    /// # Panics
    /// Panics if the field does not lie in a word of 64 bits.
    pub const fn new(low: u32, width: u32) -> Self {
        assert!(low < 64 && width >= 1 && width <= 64 - low);
        Self { low, width }
    }

    /// Returns the largest number that the field holds.
    #[inline]
    pub const fn max(self) -> u64 {
        u64::MAX >> (64 - self.width)
    }

    /// Returns a word whose field has the value `value` and whose other bits are 0. Bits of the
    /// value for which the field has no place are lost.
    #[inline]
    pub const fn put(self, value: u64) -> u64 {
        (value & self.max()) << self.low
    }

    /// Returns the value of the field in a word.
    #[inline]
    pub const fn get(self, word: u64) -> u64 {
        word >> self.low & self.max()
    }
}
