// SPDX-License-Identifier: Apache-2.0
//! Moduli that are powers of two up to 2^64, which is too large for a [`Modulus`], and a type for moduli of either
//! kind.

use std::fmt;

use num_bigint::BigUint;

use crate::rns::reduce_big;
use crate::{MathError, Modulus};

/// A modulus 2^k with 1 <= k <= 64. Its arithmetic is that of machine words, cut to k bits. It
/// takes no division, and an operand may be any word. A power of two up to 2^60 may be a
/// [`Modulus`] as well.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct WordModulus {
    /// The mask 2^k - 1 of the modulus 2^k.
    mask: u64,
}

impl WordModulus {
    /// The largest exponent k of a modulus 2^k: the number of bits of a machine word.
    pub const MAX_BITS: u32 = u64::BITS;

    /// Returns the modulus 2^`bits`.
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] for 0 bits or more than 64.
    pub fn new(bits: u32) -> Result<Self, MathError> {
        if !(1..=Self::MAX_BITS).contains(&bits) {
            return Err(MathError::OutOfRange {
                what: "log2 of a power of two",
                expected: "from 1 to 64",
                got: bits.to_string(),
            });
        }
        Ok(Self {
            mask: u64::MAX >> (Self::MAX_BITS - bits),
        })
    }

    /// Returns the exponent k of the modulus 2^k.
    pub fn bits(self) -> u32 {
        self.mask.count_ones()
    }

    /// Returns the largest residue, 2^k - 1.
    #[inline]
    pub fn mask(self) -> u64 {
        self.mask
    }
}

/// A modulus of either kind: below 2^61, or a power of two up to 2^64.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AnyModulus {
    Below61(Modulus),
    Word(WordModulus),
}

impl From<Modulus> for AnyModulus {
    fn from(q: Modulus) -> Self {
        Self::Below61(q)
    }
}

impl From<WordModulus> for AnyModulus {
    fn from(q: WordModulus) -> Self {
        Self::Word(q)
    }
}

impl fmt::Display for AnyModulus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Below61(q) => write!(f, "{}", q.value()),
            Self::Word(q) => write!(f, "2^{}", q.bits()),
        }
    }
}

impl AnyModulus {
    /// Returns x modulo this modulus, for any word x.
    pub fn reduce(self, x: u64) -> u64 {
        match self {
            Self::Below61(q) => q.reduce(x),
            Self::Word(q) => x & q.mask,
        }
    }

    /// Returns x modulo this modulus, for an integer x of any size.
    pub fn reduce_big(self, x: &BigUint) -> u64 {
        match self {
            Self::Below61(q) => reduce_big(x, q),
            Self::Word(q) => x.iter_u64_digits().next().unwrap_or(0) & q.mask,
        }
    }

    /// Returns -a modulo this modulus, for a residue a.
    pub fn neg(self, a: u64) -> u64 {
        match self {
            Self::Below61(q) => q.neg(a),
            Self::Word(q) => a.wrapping_neg() & q.mask,
        }
    }

    /// Returns a b modulo this modulus, for any words a and b.
    pub fn mul(self, a: u64, b: u64) -> u64 {
        match self {
            Self::Below61(q) => q.mul(a, b),
            Self::Word(q) => a.wrapping_mul(b) & q.mask,
        }
    }

    /// Returns the modulus as a [`Modulus`], if it was made from one.
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] for a [`WordModulus`], even one below 2^61.
    pub fn below_61(self) -> Result<Modulus, MathError> {
        match self {
            Self::Below61(q) => Ok(q),
            Self::Word(q) => Err(MathError::OutOfRange {
                what: "modulus",
                expected: "below 2^61",
                got: format!("2^{}", q.bits()),
            }),
        }
    }
}
