//! The annotation of BGV: what a message is multiplied by modulo t.

use std::fmt;

use ringmill_isa::Level;
use ringmill_math::Modulus;

use super::error::BgvError;
use crate::file::{FileError, Reader, Writer};
use crate::rlwe::{Annotation, Params, RlweError};

/// A correction factor: a unit modulo t, from 1 to t - 1. A fresh ciphertext has 1, products have products of them, and
/// whoever divides by a prime divides the factor by it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Factor(u64);

impl Factor {
    pub const ONE: Self = Self(1);

    /// # Errors
    /// [`BgvError::Factor`] unless 1 <= `factor` < t and the two are coprime.
    pub fn new(factor: u64, t: Modulus) -> Result<Self, BgvError> {
        if factor < t.value() && t.inv(factor).is_ok() {
            return Ok(Self(factor));
        }
        Err(BgvError::Factor {
            got: factor,
            modulus: t.value(),
        })
    }

    pub fn value(self) -> u64 {
        self.0
    }

    /// The factor of a product.
    pub fn times(self, other: Self, t: Modulus) -> Self {
        Self(t.mul(self.0, other.0))
    }

    /// The factor of a ciphertext divided by a prime.
    ///
    /// # Errors
    /// A prime that is not coprime to t.
    pub fn over(self, prime: u64, t: Modulus) -> Result<Self, RlweError> {
        Ok(Self(t.mul(self.0, t.inv(t.reduce(prime))?)))
    }

    /// f^-1 mod t, which takes f m to m.
    ///
    /// # Errors
    /// A factor of other parameters.
    pub fn inverse(self, t: Modulus) -> Result<u64, RlweError> {
        Ok(t.inv(self.0)?)
    }

    /// What ciphertexts with factors `a` and `b` are multiplied by so that they have one: SEAL's choice. Of the pairs
    /// (x, y) with x a = y b modulo t that the extended Euclidean algorithm goes through it is the first whose |x| + |y| is
    /// least, with x and y taken about zero. They are given, and multiplied by, in [0, t), as SEAL does.
    ///
    /// # Errors
    /// A factor of other parameters.
    pub fn balance(a: Self, b: Self, t: Modulus) -> Result<Balance, RlweError> {
        let size = |x: u64| x.min(t.neg(x));
        let ratio = t.mul(a.inverse(t)?, b.0);
        let mut best = [ratio, 1];
        let mut least = size(ratio) + 1;
        // Invariant: x = y ratio modulo t, for both pairs; the remainders x fall from t to 0.
        let (mut before, mut now) = ((t.value(), 0), (ratio, 1));
        while now.0 != 0 {
            let (quotient, rest) = (before.0 / now.0, before.0 % now.0);
            let next = t.sub(before.1, t.mul(t.reduce(quotient), now.1));
            (before, now) = (now, (rest, next));
            let [x, y] = [now.0, now.1];
            if t.inv(x).is_ok() && size(x) + size(y) < least {
                least = size(x) + size(y);
                best = [x, y];
            }
        }
        let [x, _] = best;
        Ok(Balance {
            by: best,
            factor: Self(t.mul(x, a.0)),
        })
    }
}

/// How two factors are made one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Balance {
    /// What each ciphertext is multiplied by.
    pub by: [u64; 2],
    /// What both have then.
    pub factor: Factor,
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Annotation for Factor {
    type Error = BgvError;
    const FILE_BYTES: usize = 8;

    fn check(&self, params: &Params, _: Level) -> Result<(), BgvError> {
        let t = params.low_modulus().ok_or_else(|| RlweError::Parameter {
            what: "parameters of a value with a correction factor",
            expected: "BGV's".into(),
            got: params.scheme().name.into(),
        })?;
        Self::new(self.0, t).map(drop)
    }

    fn write(&self, to: &mut Writer) {
        to.residues(&[self.0]);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, FileError> {
        Ok(Self(from.u64()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balanced_factors_agree_and_are_small() {
        for t in [65537u64, 97, 1_032_193, (1 << 59) - 55, 9, 16] {
            let t = Modulus::new(t).unwrap();
            let mut state = 7u64;
            let mut unit = || {
                loop {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(99);
                    if let Ok(factor) = Factor::new((state >> 3) % t.value(), t) {
                        return factor;
                    }
                }
            };
            for _ in 0..200 {
                let (a, b) = (unit(), unit());
                let Balance { by: [x, y], factor } = Factor::balance(a, b, t).unwrap();
                assert_eq!(t.mul(x, a.0), factor.0);
                assert_eq!(t.mul(y, b.0), factor.0);
                assert!(Factor::new(factor.0, t).is_ok());
                let size = |x: u64| u128::from(x.min(t.neg(x)));
                let ratio = t.mul(a.inverse(t).unwrap(), b.0);
                assert!(size(x) + size(y) <= size(ratio) + 1);
                // Where t is prime every pair will do, and one of them has both parts below the square root of t.
                if t.value() > 16 {
                    let sum = size(x) + size(y);
                    assert!(sum * sum <= 4 * u128::from(t.value()), "{x} {y}");
                }
            }
        }
    }

    #[test]
    fn equal_factors_need_nothing() {
        let t = Modulus::new(97).unwrap();
        let a = Factor::new(5, t).unwrap();
        let balance = Factor::balance(a, a, t).unwrap();
        assert_eq!((balance.by, balance.factor), ([1, 1], a));
        assert!(Factor::new(0, t).is_err() && Factor::new(97, t).is_err());
        assert!(Factor::new(6, Modulus::new(9).unwrap()).is_err());
    }
}
