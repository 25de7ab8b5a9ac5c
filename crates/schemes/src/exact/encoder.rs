// SPDX-License-Identifier: Apache-2.0
//! Encodes messages of programs: in slots if the plaintext modulus has slots, otherwise in coefficients.

use std::sync::Arc;

use super::batch::BatchEncoder;
use super::coefficients::CoefficientEncoder;
use super::error::ExactError;
use super::plain_modulus::Integers;
use super::plaintext::{ExactParams, Plaintext};
use super::thin::ThinEncoder;

/// The encoder of a message of integers. It puts them into N slots if the plaintext modulus allows batching. For other
/// parameters that bootstrap, it puts them into slots modulo a prime power, which may be fewer. Otherwise it puts them
/// into N coefficients.
pub enum Encoder<P> {
    Slots(BatchEncoder<P>),
    Thin(ThinEncoder<P>),
    Coefficients(CoefficientEncoder<P>),
}

impl<P: ExactParams> Encoder<P> {
    /// Makes the encoder that suits the plaintext modulus t: to slots, to slots modulo a prime power, or to
    /// coefficients.
    ///
    /// # Errors
    /// Fails for parameters that bootstrap at a ring degree above 2^16, unless t allows batching.
    pub fn new(params: Arc<P>) -> Result<Self, ExactError> {
        if params
            .plain_modulus()
            .is_batchable(params.shared_params().log_n())
        {
            BatchEncoder::new(params).map(Self::Slots)
        } else if params.plain_moduli().len() > 1 {
            ThinEncoder::new(params).map(Self::Thin)
        } else {
            Ok(Self::Coefficients(CoefficientEncoder::new(params)))
        }
    }

    /// Encodes integers in the slots or coefficients of a plaintext, at most as many as there are. `which` is the range
    /// of the integers.
    ///
    /// # Errors
    /// [`ExactError::TooMany`] for too many integers, [`ExactError::OutOfRange`] for one outside of the range `which`.
    pub fn encode<T: Copy + Into<i128>>(
        &self,
        values: &[T],
        which: Integers,
    ) -> Result<Plaintext, ExactError> {
        match self {
            Self::Slots(slots) => slots.encode(values, which),
            Self::Thin(slots) => slots.encode(values, which),
            Self::Coefficients(coefficients) => coefficients.encode(values, which),
        }
    }

    /// Encodes a message in the form that programs expect. If its length divides that of a row of slots, it repeats
    /// through all slots, so that rotating the rows rotates the message. Otherwise, and in coefficients, zeros follow
    /// it.
    ///
    /// # Errors
    /// The errors of [`Encoder::encode`].
    pub fn encode_repeated<T: Copy + Into<i128>>(
        &self,
        values: &[T],
        which: Integers,
    ) -> Result<Plaintext, ExactError> {
        match self {
            Self::Slots(slots) if !values.is_empty() && slots.slots() / 2 % values.len() == 0 => {
                slots.encode(&values.repeat(slots.slots() / values.len()), which)
            }
            Self::Thin(slots) if !values.is_empty() && slots.columns() % values.len() == 0 => {
                slots.encode(&values.repeat(slots.slots() / values.len()), which)
            }
            Self::Slots(_) | Self::Thin(_) | Self::Coefficients(_) => self.encode(values, which),
        }
    }

    /// Decodes all slots or coefficients of a plaintext to integers in the range of [`Integers::Signed`].
    ///
    /// # Errors
    /// Fails for a plaintext of other parameters or of another plaintext modulus than t. With slots modulo a prime
    /// power, also fails for slots that hold elements other than integers.
    pub fn decode_signed(&self, plain: &Plaintext) -> Result<Vec<i64>, ExactError> {
        match self {
            Self::Slots(slots) => slots.decode_signed(plain),
            Self::Thin(slots) => slots.decode_signed(plain),
            Self::Coefficients(coefficients) => coefficients.decode_signed(plain),
        }
    }

    /// Decodes all slots or coefficients of a plaintext to integers in the range of [`Integers::Unsigned`].
    ///
    /// # Errors
    /// Fails for a plaintext of other parameters or of another plaintext modulus than t. With slots modulo a prime
    /// power, also fails for slots that hold elements other than integers.
    pub fn decode_unsigned(&self, plain: &Plaintext) -> Result<Vec<u64>, ExactError> {
        match self {
            Self::Slots(slots) => slots.decode_unsigned(plain),
            Self::Thin(slots) => slots.decode_unsigned(plain),
            Self::Coefficients(coefficients) => coefficients.decode_unsigned(plain),
        }
    }
}
