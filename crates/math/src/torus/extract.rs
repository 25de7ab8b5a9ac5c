// SPDX-License-Identifier: Apache-2.0
//! Extracts the LWE ciphertext of coefficient 0 from a GLWE ciphertext.

use super::Coefficients;
use super::coefficients::{Sums, with_sums};
use crate::MathError;
use crate::kernels::check_len;

/// Computes a part of the mask of the LWE ciphertext of coefficient 0, from a mask polynomial p of a GLWE ciphertext
/// modulo q: `(p[0], -p[N-1], ..., -p[1])` (Kong and Li, Algorithm 1, line 10).
///
/// # Errors
/// [`MathError::Length`] unless `out` is as long as p.
pub fn extract_mask(q: Coefficients, out: &mut [u64], p: &[u64]) -> Result<(), MathError> {
    check_len("extracted mask", p.len(), out.len())?;
    let (Some((first, rest)), Some((&p0, tail))) = (out.split_first_mut(), p.split_first()) else {
        return Ok(());
    };
    *first = p0;
    with_sums!(q, sums => {
        for (out, &x) in rest.iter_mut().zip(tail.iter().rev()) {
            *out = sums.sub(0, x);
        }
    });
    Ok(())
}
