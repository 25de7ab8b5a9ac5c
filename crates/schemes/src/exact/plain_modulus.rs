// SPDX-License-Identifier: Apache-2.0
//! The plaintext modulus t, and the integers that stand for its residues.

use std::ops::RangeInclusive;

use num_bigint::BigUint;
use ringmill_isa::mid::TableModulus;
use ringmill_math::{Modulus, primes};

use super::error::ExactError;
use crate::rlwe::Params;

/// The range of integers that a caller uses for the residues modulo a plaintext modulus t: with or without negative
/// ones.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Integers {
    /// The integers from -floor(t / 2) to ceil(t / 2) - 1 for the plaintext modulus t. For an even t, the residue t / 2
    /// stands for -t / 2, as in SEAL.
    #[default]
    Signed,
    /// The integers from 0 to t - 1 for the plaintext modulus t, each of which is its own residue.
    Unsigned,
}

/// A plaintext modulus t with 2 <= t < 2^60, as in SEAL. A message in coefficients allows any such t. A message in N
/// slots needs a t that is prime and 1 mod 2N ([`PlainModulus::check_batchable`]). BGV parameters that bootstrap also
/// have slots for a power of an odd prime, which may be fewer than N.
///
/// ```
/// use ringmill_schemes::exact::{Integers, PlainModulus};
/// let t = PlainModulus::new(65537).unwrap();
/// assert!(t.is_batchable(15) && !t.is_batchable(16));
/// assert_eq!(t.integers(Integers::Signed), -32768..=32768);
/// assert_eq!((t.centred(65536), t.centred(32768)), (-1, 32768));
/// assert!(PlainModulus::new(1).is_err() && PlainModulus::new(1 << 60).is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PlainModulus(Modulus);

impl PlainModulus {
    /// The most bits that a plaintext modulus t may have: t is below 2 to this power.
    pub const MAX_BITS: u32 = 60;

    /// Makes the plaintext modulus t from its value.
    ///
    /// # Errors
    /// [`ExactError::PlainModulus`] for t outside of 2 to 2^60 - 1.
    pub fn new(t: u64) -> Result<Self, ExactError> {
        if !(2..1 << Self::MAX_BITS).contains(&t) {
            return Err(ExactError::PlainModulus { got: t });
        }
        Ok(Self(Modulus::new(t)?))
    }

    /// Returns the largest prime of `bits` bits that allows batching at ring degree 2^`log_n`, as SEAL's
    /// `PlainModulus::Batching`.
    ///
    /// # Errors
    /// Fails for a size without such a prime, or above 60 bits.
    pub fn batching(log_n: u8, bits: u32) -> Result<Self, ExactError> {
        let found = primes::ntt_primes(bits, u32::from(log_n), 1)?;
        Self::new(found.first().copied().unwrap_or(0))
    }

    /// Returns the plaintext modulus t.
    pub fn value(self) -> u64 {
        self.0.value()
    }

    /// Returns this plaintext modulus as a [`Modulus`], which has arithmetic on residues.
    pub fn reducer(self) -> Modulus {
        self.0
    }

    /// Returns this plaintext modulus as an entry of a table of moduli: [`TableModulus::PowerOfTwo`] for a power of
    /// two, otherwise [`TableModulus::Plain`].
    pub fn table_modulus(self) -> TableModulus {
        let t = self.value();
        if t.is_power_of_two() {
            TableModulus::PowerOfTwo(t.trailing_zeros() as u8)
        } else {
            TableModulus::Plain(t)
        }
    }

    /// Returns whether a polynomial of ring degree N = 2^`log_n` has N slots modulo this plaintext modulus, with
    /// one integer in each.
    pub fn is_batchable(self, log_n: u8) -> bool {
        self.check_batchable(log_n).is_ok()
    }

    /// Refuses this plaintext modulus t unless it gives N slots, one integer in each, at ring degree N = 2^`log_n`.
    ///
    /// # Errors
    /// [`ExactError::NotBatchable`] unless t is a prime that is 1 mod 2N.
    pub fn check_batchable(self, log_n: u8) -> Result<(), ExactError> {
        let order = 2u64.checked_shl(log_n.into()).unwrap_or(0);
        let t = self.value();
        if order > 0 && t % order == 1 && primes::is_prime(t) {
            return Ok(());
        }
        Err(ExactError::NotBatchable { got: t, order })
    }

    /// Refuses the plaintext modulus t if it does not fit the primes of `ring`.
    ///
    /// # Errors
    /// [`ExactError::NotCoprime`] if a ciphertext prime or a special prime divides t. [`ExactError::PlainTooLarge`] if
    /// t is not below the product of the ciphertext primes.
    pub(crate) fn check_chain(self, ring: &Params) -> Result<(), ExactError> {
        let plain = self.value();
        if let Some(&prime) = ring.moduli().iter().find(|&&q| plain.is_multiple_of(q)) {
            return Err(ExactError::NotCoprime { plain, prime });
        }
        let q: BigUint = ring.cipher_moduli().iter().product();
        if q <= plain.into() {
            let bits = q.bits();
            return Err(ExactError::PlainTooLarge { plain, bits });
        }
        Ok(())
    }

    /// Returns the range of the integers that stand for the residues modulo this plaintext modulus.
    pub fn integers(self, which: Integers) -> RangeInclusive<i128> {
        let t = i128::from(self.value());
        match which {
            Integers::Signed => -(t / 2)..=(t - 1) / 2,
            Integers::Unsigned => 0..=t - 1,
        }
    }

    /// Returns the residue that the integer `value` stands for. `index` is the integer's position in the message,
    /// for the error message.
    ///
    /// # Errors
    /// [`ExactError::OutOfRange`] for an integer that stands for no residue in the range `which`.
    pub fn residue(self, index: usize, value: i128, which: Integers) -> Result<u64, ExactError> {
        let range = self.integers(which);
        if range.contains(&value) {
            return Ok(value.rem_euclid(self.value().into()) as u64);
        }
        Err(ExactError::OutOfRange {
            index,
            got: value,
            modulus: self.value(),
            low: *range.start(),
            high: *range.end(),
        })
    }

    /// Returns the integer of [`Integers::Signed`] that stands for the residue `x`, without branching on it.
    pub fn centred(self, x: u64) -> i64 {
        let (t, x) = (self.value() as i64, x as i64);
        // All ones if x is above (t - 1) / 2.
        let negative = ((t - 1) / 2).wrapping_sub(x) >> 63;
        x.wrapping_sub(t & negative)
    }

    /// Returns ceil(t / 2), the smallest residue x for which [`PlainModulus::centred`] returns a negative integer.
    pub fn upper_half(self) -> u64 {
        self.value().div_ceil(2)
    }
}
