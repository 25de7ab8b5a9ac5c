// SPDX-License-Identifier: Apache-2.0
//! What the predictions of both schemes share.

/// Predicted bounds fail with a probability of 2 to minus this.
pub(crate) const FAILURE_BITS: f64 = 40.0;

/// log2 of the sum of two numbers, by their log2.
pub(crate) fn log2_sum(a: f64, b: f64) -> f64 {
    let (large, small) = (a.max(b), a.min(b));
    large + (small - large).exp2().ln_1p() / std::f64::consts::LN_2
}
