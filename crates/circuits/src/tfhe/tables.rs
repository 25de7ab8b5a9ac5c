// SPDX-License-Identifier: Apache-2.0
//! The tables of functions that a TFHE bootstrap looks up.

use ringmill_math::declassify;
use ringmill_schemes::identity::Origin;

use super::TfheError;
use super::params::{Messages, Params};

/// A lookup table with a value f(m) for every message m, carry included. A message with its carry has `bits` bits. The
/// table's polynomial, which a blind rotation turns by the phase, has N / 2^bits coefficients for each message, each
/// f(m) / 2^(bits + 1) of the torus.
#[derive(Clone, PartialEq, Debug)]
pub struct LookupTable {
    origin: Origin,
    /// The table's entries, in halves of a message.
    entries: Vec<i64>,
    polynomial: Vec<u64>,
}

/// Returns the number of bits of a message with its carry. Fails under parameters for booleans.
pub(super) fn bits(params: &Params) -> Result<u32, TfheError> {
    match params.sizes().messages {
        Messages::Integers {
            message_bits,
            carry_bits,
        } => Ok(message_bits + carry_bits),
        other => Err(TfheError::OtherMessages {
            expected: "integers",
            got: other.name(),
        }),
    }
}

/// Returns the encoding of a message, m / 2^(bits + 1) of the torus, in constant time. Here bits counts the bits of the
/// message and of its carry.
pub(super) fn encode(params: &Params, message: u64) -> Result<u64, TfheError> {
    let bits = bits(params)?;
    if declassify(message >> bits != 0) {
        return Err(TfheError::Message {
            got: message,
            bound: 1 << bits,
        });
    }
    Ok(params.coefficients().fraction(message, bits + 1))
}

/// Returns the encoding of `halves` / 2 messages of either sign: `halves` / 2^(bits + 2) of the torus. Here bits counts
/// the bits of a message and of its carry.
fn encode_halves(params: &Params, halves: i64) -> Result<u64, TfheError> {
    let bits = bits(params)?;
    let whole = 4i64 << bits;
    if halves.abs() > whole / 2 {
        return Err(TfheError::OutOfRange {
            what: "an entry, in halves of a message",
            expected: format!("{} to {}", -whole / 2, whole / 2),
            got: halves.to_string(),
        });
    }
    let turns = halves.rem_euclid(whole) as u64;
    Ok(params.coefficients().fraction(turns, bits + 2))
}

impl LookupTable {
    /// Makes a table of values in halves of a message, of either sign. Entry m is the result for a phase of m messages.
    /// The result for m - 2^bits is its negative, if a message with its carry has `bits` bits.
    ///
    /// # Errors
    /// [`TfheError::TableSize`], [`TfheError::OutOfRange`] beyond 2^(bits + 1) halves; [`TfheError::OtherMessages`]
    /// under parameters for booleans.
    pub fn of_halves(params: &Params, values: &[i64]) -> Result<Self, TfheError> {
        let expected = 1 << bits(params)?;
        if values.len() != expected {
            return Err(TfheError::TableSize {
                expected,
                got: values.len(),
            });
        }
        let each = params.sizes().degree() / expected;
        let mut polynomial = Vec::with_capacity(params.sizes().degree());
        for &value in values {
            polynomial.extend(std::iter::repeat_n(encode_halves(params, value)?, each));
        }
        Ok(Self {
            origin: params.origin(None),
            entries: values.to_vec(),
            polynomial,
        })
    }

    /// Makes a table of 2^(message_bits + carry_bits) values, each below that number.
    ///
    /// # Errors
    /// [`TfheError::TableSize`], [`TfheError::Message`]; [`TfheError::OtherMessages`] under parameters for booleans.
    pub fn new(params: &Params, values: &[u64]) -> Result<Self, TfheError> {
        let bound = 1 << bits(params)?;
        let halves = values.iter().map(|&v| match v < bound {
            true => Ok(2 * v as i64),
            false => Err(TfheError::Message { got: v, bound }),
        });
        Self::of_halves(params, &halves.collect::<Result<Vec<_>, _>>()?)
    }

    /// Makes the table of f, whose values are taken modulo 2^(message_bits + carry_bits).
    ///
    /// # Errors
    /// [`TfheError::OtherMessages`] under parameters for booleans.
    pub fn of(params: &Params, f: impl Fn(u64) -> u64) -> Result<Self, TfheError> {
        let count = 1u64 << bits(params)?;
        let values: Vec<u64> = (0..count).map(|m| f(m) % count).collect();
        Self::new(params, &values)
    }

    /// Makes the table of a function of two messages that [`super::Evaluator::pack`] packed. Each message is taken
    /// modulo 2^message_bits, and the values of f modulo 2^(message_bits + carry_bits).
    ///
    /// # Errors
    /// [`TfheError::OtherMessages`] under parameters for booleans.
    pub fn of_two(params: &Params, f: impl Fn(u64, u64) -> u64) -> Result<Self, TfheError> {
        let Messages::Integers { message_bits, .. } = params.sizes().messages else {
            return Err(TfheError::OtherMessages {
                expected: "integers",
                got: params.sizes().messages.name(),
            });
        };
        let mask = (1 << message_bits) - 1;
        Self::of(params, |m| f(m >> message_bits & mask, m & mask))
    }

    /// Returns the table's entries, in halves of a message.
    pub fn entries(&self) -> &[i64] {
        &self.entries
    }

    pub fn polynomial(&self) -> &[u64] {
        &self.polynomial
    }

    /// Checks that the table was made for these parameters.
    ///
    /// # Errors
    /// [`TfheError::OtherParams`] for a table of other parameters.
    pub fn check(&self, params: &Params) -> Result<(), TfheError> {
        params.check("table", &self.origin)
    }
}
