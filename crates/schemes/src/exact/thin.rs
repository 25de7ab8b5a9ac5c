// SPDX-License-Identifier: Apache-2.0
//! Encodes integers modulo a power of an odd prime in slots, for parameters that bootstrap.

use std::sync::Arc;

use ringmill_math::slots::{SlotEncoder, SlotError, SlotStructure};

use super::coefficients::residues;
use super::error::ExactError;
use super::plain_modulus::Integers;
use super::plaintext::{ExactParams, Plaintext};
use super::prime_power::PrimePower;
use crate::rlwe::RlweError;

/// Encodes integers modulo the plaintext modulus t = p^r as the slots of a thin polynomial ([`SlotEncoder`]), so that
/// sums and products act slot by slot.
pub struct ThinEncoder<P> {
    params: Arc<P>,
    slots: SlotEncoder,
}

impl<P: ExactParams> ThinEncoder<P> {
    /// Makes the encoder of integers as slots modulo t = p^r, for parameters with this plaintext modulus.
    ///
    /// # Errors
    /// Fails for a plaintext modulus that is no power of an odd prime, and for a ring degree above 2^16.
    pub fn new(params: Arc<P>) -> Result<Self, ExactError> {
        let t = params.plain_modulus();
        let power = PrimePower::of(t).ok_or_else(|| RlweError::Parameter {
            what: "the plaintext modulus of slots",
            expected: "a power of an odd prime".into(),
            got: t.value().to_string(),
        })?;
        let structure = SlotStructure::new(params.shared_params().log_n().into(), power.prime());
        let slots = structure.and_then(|s| SlotEncoder::new(s, power.exponent()));
        let slots = slots.map_err(refused)?;
        Ok(Self { params, slots })
    }

    /// Returns the number of slots in a row, along which rotations work.
    pub fn columns(&self) -> usize {
        self.slots.structure().columns()
    }

    pub fn slots(&self) -> usize {
        self.slots.structure().slots()
    }

    /// Encodes at most as many integers as there are slots. The other slots are 0.
    ///
    /// # Errors
    /// [`ExactError::TooMany`] for more integers than slots, [`ExactError::OutOfRange`] for one outside of the range
    /// `which`.
    pub fn encode<T: Copy + Into<i128>>(
        &self,
        values: &[T],
        which: Integers,
    ) -> Result<Plaintext, ExactError> {
        let room = (self.params.plain_modulus(), self.slots.structure().slots());
        let residues = residues(room, values, which, 0..values.len())?;
        let polynomial = self.slots.encode(&residues).map_err(refused)?;
        Ok(Plaintext::trusted(&*self.params, polynomial))
    }

    /// Decodes the slots to integers in the range of [`Integers::Unsigned`].
    ///
    /// # Errors
    /// Fails for a plaintext of other parameters or of another plaintext modulus than t, or one whose slots hold
    /// elements other than integers.
    pub fn decode_unsigned(&self, plain: &Plaintext) -> Result<Vec<u64>, ExactError> {
        let params = self.params.shared_params();
        params.check_id("plaintext", plain.params_id())?;
        plain.check_modulo(&*self.params, self.params.plain_modulus().reducer())?;
        self.slots.decode(plain.residues()).map_err(refused)
    }

    /// Decodes the slots to integers in the range of [`Integers::Signed`].
    ///
    /// # Errors
    /// The errors of [`ThinEncoder::decode_unsigned`].
    pub fn decode_signed(&self, plain: &Plaintext) -> Result<Vec<i64>, ExactError> {
        let t = self.params.plain_modulus();
        let values = self.decode_unsigned(plain)?;
        Ok(values.into_iter().map(|x| t.centred(x)).collect())
    }
}

fn refused(error: SlotError) -> ExactError {
    ExactError::Slots(error)
}
