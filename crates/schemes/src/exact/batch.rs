// SPDX-License-Identifier: Apache-2.0
//! Encodes integers as the slots of a plaintext polynomial, as SEAL's `BatchEncoder`.

use std::sync::Arc;

use ringmill_math::bits::bit_reverse;
use ringmill_math::{NttPlan, Ring};
use zeroize::Zeroizing;

use super::coefficients::residues;
use super::error::ExactError;
use super::plain_modulus::Integers;
use super::plaintext::{ExactParams, Plaintext};
use crate::rlwe::RlweError;

/// Encodes N integers as the slots of a polynomial, so that sums and products act slot by slot. The plaintext modulus t
/// must be a prime that is 1 mod 2N.
///
/// The slots are a matrix of two rows of N / 2 columns, given row by row, as in SEAL's `BatchEncoder`. With psi the
/// smallest primitive 2N-th root of unity modulo t, column i holds m(psi^(3^i)) in row 0 and m(psi^(-3^i)) in row 1. So
/// Galois element 3^k takes column i + k to column i in both rows, and 2N - 1 exchanges the rows.
pub struct BatchEncoder<P> {
    params: Arc<P>,
    plan: Arc<NttPlan>,
    /// For each slot, its position in the evaluation form of a plaintext polynomial.
    places: Vec<u32>,
}

impl<P: ExactParams> BatchEncoder<P> {
    /// Makes the encoder of N integers as the slots of a polynomial modulo t, for these parameters.
    ///
    /// # Errors
    /// [`ExactError::NotBatchable`] if t is no prime that is 1 mod 2N.
    pub fn new(params: Arc<P>) -> Result<Self, ExactError> {
        let (t, log_n) = (params.plain_modulus(), params.shared_params().log_n());
        t.check_batchable(log_n)?;
        let plan = NttPlan::shared(t.reducer(), Ring::full(log_n))?;
        Ok(Self {
            plan,
            places: places(log_n),
            params,
        })
    }

    /// Returns the number of slots: N, rows times columns.
    pub fn slots(&self) -> usize {
        self.places.len()
    }

    /// Encodes up to N integers, row by row. The other slots are zero.
    ///
    /// # Errors
    /// [`ExactError::TooMany`] for more than N integers, [`ExactError::OutOfRange`] for one outside of the range
    /// `which`.
    pub fn encode<T: Copy + Into<i128>>(
        &self,
        values: &[T],
        which: Integers,
    ) -> Result<Plaintext, ExactError> {
        let places = self.places.iter().map(|&place| place as usize);
        let room = (self.params.plain_modulus(), self.places.len());
        let mut form = residues(room, values, which, places)?;
        self.plan.inverse(&mut form)?;
        Ok(Plaintext::trusted(&*self.params, form))
    }

    /// Decodes the N slots to integers in the range of [`Integers::Signed`].
    ///
    /// # Errors
    /// Fails for a plaintext of other parameters or of another plaintext modulus than t.
    pub fn decode_signed(&self, plain: &Plaintext) -> Result<Vec<i64>, ExactError> {
        let t = self.params.plain_modulus();
        let values = self.decode_unsigned(plain)?;
        Ok(values.into_iter().map(|x| t.centred(x)).collect())
    }

    /// Decodes the N slots to integers in the range of [`Integers::Unsigned`].
    ///
    /// # Errors
    /// Fails for a plaintext of other parameters or of another plaintext modulus than t.
    pub fn decode_unsigned(&self, plain: &Plaintext) -> Result<Vec<u64>, ExactError> {
        let params = self.params.shared_params();
        params.check_id("plaintext", plain.params_id())?;
        plain.check_modulo(&*self.params, self.params.plain_modulus().reducer())?;
        let mut form = Zeroizing::new(plain.residues().to_vec());
        self.plan.forward(&mut form)?;
        let places = self.places.iter();
        let values: Option<Vec<u64>> = places.map(|&p| form.get(p as usize).copied()).collect();
        values.ok_or(ExactError::Rlwe(RlweError::Length {
            what: "plaintext",
            expected: self.places.len(),
            got: form.len(),
        }))
    }
}

/// Returns the position of each slot in the evaluation form of a plaintext polynomial. Slot (row, i) is the value
/// at psi^g for a primitive 2N-th root of unity psi, with g = 3^i in row 0 and -3^i in row 1. It is at position
/// bitrev((g - 1) / 2).
fn places(log_n: u8) -> Vec<u32> {
    let (width, two_n) = (u32::from(log_n), 2u64 << log_n);
    let row = 1usize << log_n.saturating_sub(1);
    let position = |g: u64| bit_reverse(((g - 1) / 2) as usize, width) as u32;
    let powers = || std::iter::successors(Some(1u64), |g| Some(g * 3 % two_n)).take(row);
    let first = powers().map(position);
    let second = powers().map(|g| position(two_n - g));
    first.chain(second).collect()
}
