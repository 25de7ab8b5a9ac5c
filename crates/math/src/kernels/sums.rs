// SPDX-License-Identifier: Apache-2.0
//! Computes sums of products of whole limbs.

use super::{check_len, simd};
use crate::{MathError, Modulus, Shoup};

/// The most products that a sum collects before it is reduced. The sum of that many products of residues below
/// 2^61, and of one residue, fits 128 bits.
pub(super) const LAZY_TERMS: usize = 32;

/// Computes out = the sum of a_k * b_k mod q over the terms (a_k, b_k), coefficient by coefficient. Without terms
/// the sum is 0.
///
/// # Errors
/// [`MathError::Length`] if a slice has another length than `out`.
pub fn dot(q: Modulus, out: &mut [u64], terms: &[(&[u64], &[u64])]) -> Result<(), MathError> {
    for (a, b) in terms {
        check_len("a", out.len(), a.len())?;
        check_len("b", out.len(), b.len())?;
    }
    // SAFETY: every slice is valid for out.len() words, as just checked.
    let done = unsafe { simd::dot(q, out.as_mut_ptr(), terms, out.len()) };
    for (i, o) in out.iter_mut().enumerate().skip(done) {
        let mut sum = 0u128;
        for group in terms.chunks(LAZY_TERMS) {
            for (a, b) in group {
                // Wraps only for inputs that are no residues.
                sum = sum.wrapping_add(u128::from(a[i]) * u128::from(b[i]));
            }
            sum = u128::from(q.reduce_wide(sum));
        }
        *o = sum as u64;
    }
    Ok(())
}

/// Computes out = the sum of w_k * a_k mod q over the limbs a_k and the constants w_k: one output limb of a base
/// extension. The a_k may be residues of other moduli (below 2^61).
///
/// # Errors
/// [`MathError::Length`] if a limb has another length than `out`, or the numbers of constants and limbs differ.
pub fn dot_scalars(
    q: Modulus,
    out: &mut [u64],
    limbs: &[&[u64]],
    constants: &[Shoup],
) -> Result<(), MathError> {
    check_len("constants", limbs.len(), constants.len())?;
    for a in limbs {
        check_len("limb", out.len(), a.len())?;
    }
    // SAFETY: every slice is valid for out.len() words, as just checked.
    let done = unsafe { simd::dot_scalars(q, out.as_mut_ptr(), limbs, constants, out.len()) };
    for (i, o) in out.iter_mut().enumerate().skip(done) {
        *o = limbs
            .iter()
            .zip(constants)
            .fold(0, |sum, (a, &w)| q.add(sum, q.mul_shoup(a[i], w)));
    }
    Ok(())
}
