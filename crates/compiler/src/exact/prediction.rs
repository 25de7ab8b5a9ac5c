// SPDX-License-Identifier: Apache-2.0
//! The compiler's prediction for an output of a program of integers.

use super::IntegerRange;

/// The predicted noise budget and range of one output.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Prediction {
    /// A lower bound on the noise budget of the output in bits. It fails with a probability of at most 2^-40.
    pub budget: f64,
    /// The range in which the output's slots lie.
    pub range: IntegerRange,
}
