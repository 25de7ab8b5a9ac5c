// SPDX-License-Identifier: Apache-2.0
//! The compiler's prediction for an output of a program of integers.

use super::IntegerRange;

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Prediction {
    /// The least noise budget of the output in bits, except in 2^-40 of all runs.
    pub budget: f64,
    /// The range in which the output's slots lie.
    pub range: IntegerRange,
}
