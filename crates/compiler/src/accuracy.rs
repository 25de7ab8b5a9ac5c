// SPDX-License-Identifier: Apache-2.0
//! The accuracy that the outputs of a program of approximate numbers must have, in bits or in decimal digits.

use std::fmt;

/// The least accuracy that a user accepts of every output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Accuracy {
    /// Right bits after the binary point: the error is absolute.
    Bits(u32),
    /// Right decimal digits: the error is relative to the output's largest magnitude on the sample, rounded down to a
    /// power of two. It is relative to the output's bound if there is no sample, or if the output is zero on it.
    Digits(u32),
}

impl Accuracy {
    /// The default: six digits.
    pub const DEFAULT: Self = Self::Digits(6);

    /// Returns the accuracy that a user asks for in bits or in digits, or `None` if the user asks for neither. If both
    /// are given, the bits count.
    pub fn asked(bits: Option<u32>, digits: Option<u32>) -> Option<Self> {
        bits.map(Self::Bits).or(digits.map(Self::Digits))
    }

    /// Returns the number of right bits, or of right decimal digits, that this accuracy demands.
    pub fn count(self) -> u32 {
        match self {
            Self::Bits(count) | Self::Digits(count) => count,
        }
    }

    /// Returns an accuracy of the same kind with another number of bits or digits.
    pub fn with_count(self, count: u32) -> Self {
        match self {
            Self::Bits(_) => Self::Bits(count),
            Self::Digits(_) => Self::Digits(count),
        }
    }

    /// Returns the right bits after the binary point that an output needs. `reference` is the
    /// magnitude to which digits are relative. Digits need infinitely many bits of an output that
    /// is always zero, since its magnitude is 0.
    pub fn bits(self, reference: f64) -> f64 {
        match self {
            Self::Bits(bits) => f64::from(bits),
            Self::Digits(digits) => f64::from(digits) * 10f64.log2() - reference.log2(),
        }
    }
}

/// Names the accuracy in a message, as "6 digits" or "a precision of 20 bits".
impl fmt::Display for Accuracy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bits(bits) => write!(f, "a precision of {bits} bits"),
            Self::Digits(1) => f.write_str("1 digit"),
            Self::Digits(digits) => write!(f, "{digits} digits"),
        }
    }
}
