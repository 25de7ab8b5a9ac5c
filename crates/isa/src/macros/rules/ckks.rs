// SPDX-License-Identifier: Apache-2.0
//! Checks the scales of CKKS programs: the scale of a product is the product of scales, and
//! rescaling divides a scale by a prime.

use super::Typed;
use crate::error::Fault;

/// The relative difference up to which two scales of CKKS values count as equal: 2^-40. A few
/// operations on doubles round a scale by far less, 2^-52 each. A difference that passes changes a
/// result by a share of 2^-40 at most, far below the error of a CKKS result.
pub const SCALE_TOLERANCE: f64 = 1.0 / (1u64 << 40) as f64;

fn fault(v: Typed, expected: String, found: f64) -> Fault {
    Fault::Scale {
        item: v.item(),
        expected,
        found: found.to_string(),
    }
}

/// Checks that the scale of the value `v` is a finite number of at least 1.
pub(super) fn check(v: Typed, scale: f64) -> Result<(), Fault> {
    if scale.is_finite() && scale >= 1.0 {
        return Ok(());
    }
    Err(fault(v, "a finite scale of at least 1".to_owned(), scale))
}

/// Checks that the scale `found` for the value `v` equals `expected` within [`SCALE_TOLERANCE`].
pub(super) fn expect(v: Typed, expected: f64, found: f64) -> Result<(), Fault> {
    if (expected - found).abs() <= SCALE_TOLERANCE * expected.abs() {
        return Ok(());
    }
    Err(fault(v, expected.to_string(), found))
}

/// Returns the scale of the product of a value of scale `scale` and a constant of scale `constant`.
/// A constant without a scale is an error.
pub(super) fn times_constant(scale: f64, constant: Option<f64>) -> Result<f64, Fault> {
    constant
        .map(|constant| scale * constant)
        .ok_or_else(|| Fault::Immediate {
            expected: "a constant with a scale".to_owned(),
            found: "no scale".to_owned(),
        })
}

/// Returns the scale of a value of scale `scale` after the division by `prime`. If the prime is not
/// known, returns the scale `declared` that the program states for the result.
pub(super) fn rescaled(scale: f64, prime: Option<u64>, declared: f64) -> f64 {
    prime.map_or(declared, |q| scale / q as f64)
}
