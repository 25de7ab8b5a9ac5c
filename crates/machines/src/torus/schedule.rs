// SPDX-License-Identifier: Apache-2.0
//! The orders in which an engine does the transforms, products and sums of a blind rotation's step.

use serde::{Deserialize, Serialize};

/// The order of the transforms, products and sums in a step of the blind rotation. All orders give the same bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// Each decomposed polynomial is transformed once. Its products with the key are summed in transform form, and the
    /// two sums are transformed back.
    #[default]
    Sums,
    /// For m > 1 key bits a step: as [`Self::Sums`], but the keys of all patterns of the m bits are summed to a bundle
    /// in coefficient form before the products. A bundle is the sum over patterns u of (X^(a u) - 1) BK_u, modulo 2^32.
    /// BK_u is the key of pattern u, and a u the inner product of the mask's exponents a with u. With l digits, 4 l
    /// polynomials of the bundle are transformed for each ciphertext in each step.
    Coefficients,
    /// The order of Kong and Li's paper (Section III-D). With l digits, each of the 4 l pairs of a decomposed
    /// polynomial and one of the key has its own unit, which transforms, multiplies and transforms back. Products are
    /// summed in coefficient form. An unrolled key has a key BK_u for each pattern u of a step's bits. Before the
    /// products, while the units transform, these keys are summed to a bundle: the sum of (X^(a u) - 1) BK_u, in
    /// transform form.
    Pairs,
}
