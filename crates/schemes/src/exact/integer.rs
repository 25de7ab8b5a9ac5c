// SPDX-License-Identifier: Apache-2.0
//! Encodes one integer as a polynomial whose value at a base b is the integer.

use std::sync::Arc;

use num_bigint::{BigInt, Sign};
use num_traits::{ToPrimitive, Zero};

use super::error::ExactError;
use super::plain_modulus::Integers;
use super::plaintext::{ExactParams, Plaintext};

/// Encodes an integer of any size by its digits in base b. Coefficient i is digit i with the integer's sign, so the
/// integer is the polynomial's value at b. Sums and products of polynomials have the sums and products of the integers
/// as values. This holds as long as each coefficient stays among the integers that stand for residues modulo the
/// plaintext modulus t, and the degree stays below N.
///
/// ```
/// use num_bigint::BigInt;
/// # use ringmill_schemes::exact::{Integers, IntegerEncoder};
/// # fn show<P: ringmill_schemes::exact::ExactParams>(params: std::sync::Arc<P>) {
/// let encoder = IntegerEncoder::new(params, 2, Integers::Signed).unwrap();
/// let large = -BigInt::from(3).pow(100);
/// assert_eq!(encoder.decode(&encoder.encode(&large).unwrap()).unwrap(), large);
/// # }
/// ```
#[derive(Debug)]
pub struct IntegerEncoder<P> {
    params: Arc<P>,
    base: u32,
    which: Integers,
}

impl<P: ExactParams> IntegerEncoder<P> {
    /// Makes an encoder with digits below `base` in absolute value. `which` says whether integers may be negative.
    ///
    /// # Errors
    /// [`ExactError::Base`] unless the base is at least 2, and the base less one is among the integers that stand for
    /// residues.
    pub fn new(params: Arc<P>, base: u32, which: Integers) -> Result<Self, ExactError> {
        let t = params.plain_modulus();
        let top = *t.integers(which).end() + 1;
        if base < 2 || i128::from(base) > top {
            return Err(ExactError::Base {
                got: base.into(),
                modulus: t.value(),
                max: top.min(i128::from(u32::MAX)) as u64,
            });
        }
        Ok(Self {
            params,
            base,
            which,
        })
    }

    /// Encodes an integer as a plaintext: coefficient i is digit i in the encoder's base, with the integer's sign.
    ///
    /// # Errors
    /// [`ExactError::TooLong`] for more than N digits, [`ExactError::Negative`] for a negative integer if the encoder
    /// is for [`Integers::Unsigned`].
    pub fn encode(&self, value: &BigInt) -> Result<Plaintext, ExactError> {
        let (t, max) = (
            self.params.plain_modulus(),
            self.params.shared_params().degree(),
        );
        let negative = value.sign() == Sign::Minus;
        if negative && self.which == Integers::Unsigned {
            return Err(ExactError::Negative);
        }
        let (mut rest, mut residues) = (value.magnitude().clone(), Vec::with_capacity(max));
        while !rest.is_zero() {
            if residues.len() == max {
                // At least log2 of the base, so `more` is at most the number of missing digits.
                let more = (rest.bits() as usize).div_ceil(self.base.ilog2() as usize);
                let got = max + more.max(1);
                return Err(ExactError::TooLong { got, max });
            }
            let digit = (&rest % self.base).to_u64().unwrap_or(0); // a remainder below the base always fits
            rest /= self.base;
            residues.push(if negative {
                t.reducer().neg(digit)
            } else {
                digit
            });
        }
        residues.resize(max, 0);
        Ok(Plaintext::trusted(&*self.params, residues))
    }

    /// Decodes a plaintext to the polynomial's value at the base.
    ///
    /// # Errors
    /// Fails for a plaintext of other parameters or of another plaintext modulus than t.
    pub fn decode(&self, plain: &Plaintext) -> Result<BigInt, ExactError> {
        let (params, t) = (self.params.shared_params(), self.params.plain_modulus());
        params.check_id("plaintext", plain.params_id())?;
        plain.check_modulo(&*self.params, self.params.plain_modulus().reducer())?;
        let integer = |&x: &u64| match self.which {
            Integers::Signed => BigInt::from(t.centred(x)),
            Integers::Unsigned => BigInt::from(x),
        };
        let high_first = plain.residues().iter().rev().map(integer);
        Ok(high_first.fold(BigInt::zero(), |sum, x| sum * self.base + x))
    }
}
