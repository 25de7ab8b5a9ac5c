// SPDX-License-Identifier: Apache-2.0
//! The orders in which an engine makes a step's transforms, products and sums.

use serde::{Deserialize, Serialize};

/// A schedule; all give the same bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// Each decomposed polynomial is transformed once, its products are summed in transform form, and two sums are
    /// transformed back.
    #[default]
    Sums,
    /// As [`Self::Sums`] for m > 1, with the patterns of an unrolled key bundled before their products, in coefficient
    /// form. A bundle is the sum over patterns u of (X^(a u) - 1) BK_u, modulo 2^32. Its 4 l polynomials are
    /// transformed for each ciphertext.
    Coefficients,
    /// The paper's order (section 3.4.2). Each of the 4 l pairs of a decomposed polynomial and one of the key has a
    /// unit of its own, which transforms, multiplies and transforms back. Products are summed in coefficient form.
    /// Unrolled keys are bundled before, while the units transform: the sum over patterns u of (X^(a u) - 1) BK_u, in
    /// transform form.
    Pairs,
}
