// SPDX-License-Identifier: Apache-2.0
//! What is predicted of an output of exact integers.

use super::IntegerRange;

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Prediction {
    /// Bits of noise budget that it has at least, but for 2^-40 of all runs.
    pub budget: f64,
    /// Where its slots lie.
    pub range: IntegerRange,
}
