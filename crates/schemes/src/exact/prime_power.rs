// SPDX-License-Identifier: Apache-2.0
//! Powers of an odd prime as plaintext moduli.

use ringmill_math::primes;

use super::error::ExactError;
use super::plain_modulus::PlainModulus;
use crate::rlwe::RlweError;

/// A power p^r below 2^60 of an odd prime p, r >= 1. BGV can bootstrap ciphertexts with such a plaintext modulus
/// (BASALISC paper, section 2.2.1).
///
/// ```
/// use ringmill_schemes::exact::PrimePower;
/// let t = PrimePower::new(127, 3).unwrap();
/// assert_eq!((t.value(), t.prime(), t.exponent()), (2_048_383, 127, 3));
/// assert_eq!(PrimePower::of(t.modulus().unwrap()), Some(t));
/// assert!(PrimePower::new(2, 3).is_err() && PrimePower::new(127, 9).is_err() && PrimePower::new(9, 1).is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PrimePower {
    prime: u64,
    exponent: u32,
}

impl PrimePower {
    /// Makes the power `prime`^`exponent` of an odd prime.
    ///
    /// # Errors
    /// Fails if `prime` is no odd prime, the exponent is 0, or the power is 2^60 or more.
    pub fn new(prime: u64, exponent: u32) -> Result<Self, RlweError> {
        let refuse = |expected: &str| RlweError::Parameter {
            what: "a plaintext modulus p^r",
            expected: expected.into(),
            got: format!("{prime}^{exponent}"),
        };
        if prime.is_multiple_of(2) || !primes::is_prime(prime) {
            return Err(refuse("an odd prime p"));
        }
        let power = prime.checked_pow(exponent);
        if exponent == 0 || power.is_none_or(|power| power >= 1 << PlainModulus::MAX_BITS) {
            return Err(refuse("r from 1 on and p^r below 2^60"));
        }
        Ok(Self { prime, exponent })
    }

    /// Returns the power of an odd prime that a plaintext modulus equals, or `None` if it is no such power.
    pub fn of(t: PlainModulus) -> Option<Self> {
        let t = t.value();
        (1..=PlainModulus::MAX_BITS).find_map(|exponent| {
            // A double holds a root of degree 2 and above, which is at most 2^30, but not t.
            let near = match exponent {
                1 => t,
                _ => (t as f64).powf(1.0 / f64::from(exponent)).round() as u64,
            };
            let power = Self::new(near, exponent).ok()?;
            (power.value() == t).then_some(power)
        })
    }

    /// Returns the prime p of the power p^r.
    pub fn prime(self) -> u64 {
        self.prime
    }

    /// Returns the exponent r of the power p^r.
    pub fn exponent(self) -> u32 {
        self.exponent
    }

    /// Returns the power p^r itself.
    pub fn value(self) -> u64 {
        self.prime.pow(self.exponent)
    }

    /// Returns the power of the same prime with another exponent.
    ///
    /// # Errors
    /// The errors of [`PrimePower::new`].
    pub fn with_exponent(self, exponent: u32) -> Result<Self, RlweError> {
        Self::new(self.prime, exponent)
    }

    /// Returns the power p^r as a plaintext modulus.
    ///
    /// # Errors
    /// None, as every such power is a plaintext modulus.
    pub fn modulus(self) -> Result<PlainModulus, ExactError> {
        PlainModulus::new(self.value())
    }
}
