// SPDX-License-Identifier: Apache-2.0
//! Computes products of a matrix and a vector whose entries are limbs, coefficient by coefficient. It is the work of a
//! linear map on slots, where the matrix holds diagonals and the vector the rotations of a ciphertext.
//!
//! With AVX-512 IFMA it has a loop of its own ([`super::matrix_ifma`]). Other backends, and the last coefficients, sum
//! row by row, a block of coefficients at a time.

#[cfg(target_arch = "x86_64")]
use super::matrix_ifma;
use super::{add_assign, check_len, dot};
use crate::{MathError, Modulus};

/// The number of coefficients of a block that is summed at a time.
const BLOCK: usize = 256;

/// The number of products that are summed at a time.
const TERMS: usize = 32;

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
    let mut part = [0; BLOCK];
    for start in (done..len).step_by(BLOCK) {
        let at = start..len.min(start + BLOCK);
        let part = &mut part[..at.len()];
        for (r, polys) in sums.iter_mut().enumerate() {
            let own = diagonals.get(r * count..(r + 1) * count).unwrap_or(&[]);
            for (block, values) in row.chunks_exact_mut(BLOCK).zip(own) {
                fill_blocks(&mut block[..at.len()], values, start, len);
            }
            for (p, sum) in polys.iter_mut().enumerate() {
                let sum = &mut sum[at.clone()];
                sum.fill(0);
                for (row, factors) in row.chunks(TERMS * BLOCK).zip(factors.chunks(TERMS)) {
                    let mut terms: [(&[u64], &[u64]); TERMS] = [(&[], &[]); TERMS];
                    let blocks = row.chunks_exact(BLOCK).zip(factors);
                    for (term, (block, factor)) in terms.iter_mut().zip(blocks) {
                        *term = (&block[..at.len()], &factor[p][at.clone()]);
                    }
                    dot(q, part, &terms[..factors.len()])?;
                    add_assign(q, sum, part)?;
                }
            }
        }
    }
    Ok(())
}

/// Writes to `out` the residues from number `start` on of a limb of `len` residues. The limb consists of blocks of equal
/// residues, and `values` has the residue of each block. The number of values must divide `len`. Residues beyond the limb
/// are 0.
pub fn fill_blocks(out: &mut [u64], values: &[u64], start: usize, len: usize) {
    let run = (len / values.len().max(1)).max(1);
    if let (1, Some(values)) = (run, values.get(start..start + out.len())) {
        return out.copy_from_slice(values);
    }
    let (mut at, mut rest) = (start, out);
    while !rest.is_empty() {
        let here = (run - at % run).min(rest.len());
        let (block, after) = rest.split_at_mut(here);
        block.fill(values.get(at / run).copied().unwrap_or(0));
        (at, rest) = (at + here, after);
    }
}
