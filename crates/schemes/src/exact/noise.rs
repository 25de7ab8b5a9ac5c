// SPDX-License-Identifier: Apache-2.0
//! The failure probability and the sum of logarithms that the noise models of BFV and BGV share.

/// The number b of bits of the failure probability: a predicted bound on noise fails with
/// probability 2^-b.
pub(crate) const FAILURE_BITS: f64 = 40.0;

/// Returns log2(x + y) for two positive numbers x and y, from `a` = log2 x and `b` = log2 y.
pub(crate) fn log2_sum(a: f64, b: f64) -> f64 {
    let (large, small) = (a.max(b), a.min(b));
    large + (small - large).exp2().ln_1p() / std::f64::consts::LN_2
}
