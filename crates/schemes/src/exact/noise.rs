// SPDX-License-Identifier: Apache-2.0
//! The part that the noise models of both exact schemes share.

/// The bits of the failure probability: predicted bounds fail with probability 2^-`FAILURE_BITS`.
pub(crate) const FAILURE_BITS: f64 = 40.0;

/// Returns log2 of the sum of two numbers, from their log2.
pub(crate) fn log2_sum(a: f64, b: f64) -> f64 {
    let (large, small) = (a.max(b), a.min(b));
    large + (small - large).exp2().ln_1p() / std::f64::consts::LN_2
}
