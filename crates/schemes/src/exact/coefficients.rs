//! Integers as coefficients.

use std::sync::Arc;

use super::error::ExactError;
use super::plain_modulus::Integers;
use super::plaintext::{ExactParams, Plaintext};

/// Encodes integer i as coefficient i, for any plain modulus. Products are those of polynomials modulo x^N + 1.
#[derive(Debug)]
pub struct CoefficientEncoder<P> {
    params: Arc<P>,
}

impl<P: ExactParams> CoefficientEncoder<P> {
    pub fn new(params: Arc<P>) -> Self {
        Self { params }
    }

    /// Up to N integers; the other coefficients are zero.
    ///
    /// # Errors
    /// [`ExactError::TooMany`], [`ExactError::OutOfRange`].
    pub fn encode<T: Copy + Into<i128>>(
        &self,
        values: &[T],
        which: Integers,
    ) -> Result<Plaintext, ExactError> {
        let residues = residues(&*self.params, values, which)?;
        Ok(Plaintext::trusted(&*self.params, residues))
    }

    /// The N coefficients as integers of [`Integers::Signed`].
    ///
    /// # Errors
    /// A plaintext of other parameters.
    pub fn decode_signed(&self, plain: &Plaintext) -> Result<Vec<i64>, ExactError> {
        let t = self.params.plain_modulus();
        let residues = self.checked(plain)?;
        Ok(residues.iter().map(|&x| t.centred(x)).collect())
    }

    /// The N coefficients as integers of [`Integers::Unsigned`].
    ///
    /// # Errors
    /// A plaintext of other parameters.
    pub fn decode_unsigned(&self, plain: &Plaintext) -> Result<Vec<u64>, ExactError> {
        Ok(self.checked(plain)?.to_vec())
    }

    fn checked<'a>(&self, plain: &'a Plaintext) -> Result<&'a [u64], ExactError> {
        let params = self.params.ring_params();
        params.check_id("plaintext", plain.params_id())?;
        Ok(plain.residues())
    }
}

/// The residues of up to N integers, then zeros up to N.
pub(super) fn residues<T: Copy + Into<i128>>(
    params: &impl ExactParams,
    values: &[T],
    which: Integers,
) -> Result<Vec<u64>, ExactError> {
    let (t, max) = (params.plain_modulus(), params.ring_params().degree());
    if values.len() > max {
        let got = values.len();
        return Err(ExactError::TooMany { got, max });
    }
    let given = values.iter().enumerate();
    let given = given.map(|(i, &x)| t.residue(i, x.into(), which));
    let mut residues = given.collect::<Result<Vec<_>, _>>()?;
    residues.resize(max, 0);
    Ok(residues)
}
