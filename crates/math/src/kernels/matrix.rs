// SPDX-License-Identifier: Apache-2.0
//! Computes products of a matrix and a vector whose entries are limbs, coefficient by coefficient. It is the work of a
//! linear map on slots, where the matrix holds diagonals and the vector the rotations of a ciphertext.
//!
//! With AVX-512 IFMA it has a loop of its own ([`super::matrix_ifma`]). Other backends, and the last coefficients, sum
//! row by row, a block of coefficients at a time.

#[cfg(target_arch = "x86_64")]
use super::matrix_ifma;
use super::{check_len, dot};
use crate::{MathError, Modulus};

/// The number of coefficients of a block that is summed at a time.
const BLOCK: usize = 256;

/// Computes sums\[r\]\[p\] = the sum of diagonals\[r K + k\] * factors\[k\]\[p\] mod q over the K factors, for each row r
/// and the two polynomials p of a ciphertext. A diagonal may hold one value for each block of equal residues: its length
/// divides the limbs' length, and each value stands for as many successive coefficients.
///
/// # Errors
/// [`MathError::Length`] if sums and factors differ in length, if there are not K diagonals for each sum, or if a
/// diagonal's length does not divide that of the sums.
pub fn mat_vec(
    q: Modulus,
    sums: &mut [[&mut [u64]; 2]],
    factors: &[[&[u64]; 2]],
    diagonals: &[&[u64]],
) -> Result<(), MathError> {
    let len = sums.first().map_or(0, |[sum, _]| sum.len());
    for sum in sums.iter().flatten() {
        check_len("sum", len, sum.len())?;
    }
    for factor in factors.iter().flatten() {
        check_len("factor", len, factor.len())?;
    }
    check_len("diagonals", sums.len() * factors.len(), diagonals.len())?;
    for values in diagonals {
        let divides = len.checked_rem(values.len()) == Some(0) || len == values.len();
        check_len("diagonal", len, if divides { len } else { values.len() })?;
    }
    #[cfg(target_arch = "x86_64")]
    let done = matrix_ifma::mat_vec(q, sums, factors, diagonals, len);
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    if done == len {
        return Ok(());
    }
    let count = factors.len();
    let mut row = vec![0; count * BLOCK];
    for start in (done..len).step_by(BLOCK) {
        let at = start..len.min(start + BLOCK);
        for (r, polys) in sums.iter_mut().enumerate() {
            let own = diagonals.get(r * count..(r + 1) * count).unwrap_or(&[]);
            for (block, values) in row.chunks_exact_mut(BLOCK).zip(own) {
                let run = len / values.len();
                for (x, i) in block.iter_mut().zip(at.clone()) {
                    *x = values[i / run];
                }
            }
            for (p, sum) in polys.iter_mut().enumerate() {
                let blocks = row.chunks_exact(BLOCK).map(|block| &block[..at.len()]);
                let terms = blocks.zip(factors).map(|(d, f)| (d, &f[p][at.clone()]));
                let terms: Vec<(&[u64], &[u64])> = terms.collect();
                dot(q, &mut sum[at.clone()], &terms)?;
            }
        }
    }
    Ok(())
}
