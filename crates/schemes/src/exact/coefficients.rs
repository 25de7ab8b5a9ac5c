// SPDX-License-Identifier: Apache-2.0
//! Encodes integers as the coefficients of a plaintext polynomial.

use std::sync::Arc;

use ringmill_math::declassify;

use super::error::ExactError;
use super::plain_modulus::{Integers, PlainModulus};
use super::plaintext::{ExactParams, Plaintext};

/// Encodes integers as the coefficients of a plaintext, integer i as coefficient i, for any plaintext modulus. A
/// product of two plaintexts is that of polynomials modulo x^N + 1.
#[derive(Debug)]
pub struct CoefficientEncoder<P> {
    params: Arc<P>,
}

impl<P: ExactParams> CoefficientEncoder<P> {
    pub fn new(params: Arc<P>) -> Self {
        Self { params }
    }

    /// Encodes up to N integers. The other coefficients are zero.
    ///
    /// # Errors
    /// [`ExactError::TooMany`] for more than N integers, [`ExactError::OutOfRange`] for one outside of the range
    /// `which`.
    pub fn encode<T: Copy + Into<i128>>(
        &self,
        values: &[T],
        which: Integers,
    ) -> Result<Plaintext, ExactError> {
        let room = (
            self.params.plain_modulus(),
            self.params.shared_params().degree(),
        );
        let residues = residues(room, values, which, 0..values.len())?;
        Ok(Plaintext::trusted(&*self.params, residues))
    }

    /// Decodes the N coefficients to integers in the range of [`Integers::Signed`].
    ///
    /// # Errors
    /// Fails for a plaintext of other parameters or of another plaintext modulus than t.
    pub fn decode_signed(&self, plain: &Plaintext) -> Result<Vec<i64>, ExactError> {
        let t = self.params.plain_modulus();
        let residues = self.checked(plain)?;
        Ok(residues.iter().map(|&x| t.centred(x)).collect())
    }

    /// Decodes the N coefficients to integers in the range of [`Integers::Unsigned`].
    ///
    /// # Errors
    /// Fails for a plaintext of other parameters or of another plaintext modulus than t.
    pub fn decode_unsigned(&self, plain: &Plaintext) -> Result<Vec<u64>, ExactError> {
        Ok(self.checked(plain)?.to_vec())
    }

    fn checked<'a>(&self, plain: &'a Plaintext) -> Result<&'a [u64], ExactError> {
        let params = self.params.shared_params();
        params.check_id("plaintext", plain.params_id())?;
        plain.check_modulo(&*self.params, self.params.plain_modulus().reducer())?;
        Ok(plain.residues())
    }
}

/// Returns `max` residues modulo `t`: that of `values[i]` at the index that item i of `places` says, and zeros
/// elsewhere. `places` must have an index below `max` for each integer. `which` is the range of the integers.
///
/// # Errors
/// [`ExactError::TooMany`] for more than `max` integers, [`ExactError::OutOfRange`] for one outside of the range.
pub(super) fn residues<T: Copy + Into<i128>>(
    (t, max): (PlainModulus, usize),
    values: &[T],
    which: Integers,
    places: impl Iterator<Item = usize>,
) -> Result<Vec<u64>, ExactError> {
    if values.len() > max {
        let got = values.len();
        return Err(ExactError::TooMany { got, max });
    }
    let range = t.integers(which);
    let (low, high) = (*range.start() as i64, *range.end() as i64);
    let mut outside = false;
    let mut residues = vec![0; max];
    for (&value, place) in values.iter().zip(places) {
        let wide: i128 = value.into();
        let x = wide as i64;
        outside |= (i128::from(x) != wide) | (x < low) | (x > high);
        if let Some(residue) = residues.get_mut(place) {
            *residue = x.wrapping_add(t.value() as i64 & (x >> 63)) as u64;
        }
    }
    if declassify(outside) {
        // The error names the first bad integer.
        for (i, &x) in values.iter().enumerate() {
            t.residue(i, x.into(), which)?;
        }
    }
    Ok(residues)
}
