// SPDX-License-Identifier: Apache-2.0
//! Checks the scales of CKKS programs: products multiply them, and rescaling divides them by primes.

use super::Typed;
use crate::error::Fault;

/// The relative difference up to which two scales of CKKS values count as equal. It is far above the rounding of a few
/// operations on doubles (2^-52 each). It is far below the precision of any CKKS result, so nobody can see a
/// difference that passes.
pub const SCALE_TOLERANCE: f64 = 1.0 / (1u64 << 40) as f64;

fn fault(v: Typed, expected: String, found: f64) -> Fault {
    Fault::Scale {
        item: v.item(),
        expected,
        found: found.to_string(),
    }
}

/// Checks that `scale` is a possible scale for the value `v`.
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

/// Returns the scale of a value's product with a constant: `scale` times the constant's own scale.
pub(super) fn times_constant(scale: f64, constant: Option<f64>) -> Result<f64, Fault> {
    constant
        .map(|constant| scale * constant)
        .ok_or_else(|| Fault::Immediate {
            expected: "a constant with a scale".to_owned(),
            found: "no scale".to_owned(),
        })
}

/// Returns the scale of a value after the division by `prime`. If the prime is not known, returns the scale `declared`
/// that the program states for the result.
pub(super) fn rescaled(scale: f64, prime: Option<u64>, declared: f64) -> f64 {
    prime.map_or(declared, |q| scale / q as f64)
}
