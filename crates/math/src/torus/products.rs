// SPDX-License-Identifier: Apache-2.0
//! Computes the sums of products of a blind rotation in transform form, each reduced once: the
//! scalar path, and the choice of a SIMD path.

use super::key::GROUP;
use super::{KeyRows, KeyShape};
use crate::{Backend, Modulus};

/// Computes out(c) = the sum over rows r of digits(r) key(r, c) mod p at every position, for each
/// column c of a gadget ciphertext and residues below p < 2^52. `digits` holds a polynomial for
/// each row, `out` one for each column. The caller has checked the lengths.
pub(super) fn accumulate(
    p: Modulus,
    shape: KeyShape,
    digits: &[u64],
    key: KeyRows<'_>,
    out: &mut [u64],
) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: `Backend::current` only gives backends whose features the processor has; lengths are checked there.
    unsafe {
        match Backend::current() {
            Backend::Scalar => {}
            Backend::Avx2 | Backend::Avx512 => {
                return super::products_avx2::accumulate(p, shape, digits, key, out);
            }
            Backend::Avx512Ifma => {
                return super::products_ifma::accumulate(p, shape, digits, key, out);
            }
        }
    }
    match key {
        KeyRows::Narrow(key) => plain(p, shape, digits, key, out),
        KeyRows::Wide(key) => plain(p, shape, digits, key, out),
    }
}

fn plain<W: Copy + Into<u64>>(
    p: Modulus,
    shape: KeyShape,
    digits: &[u64],
    key: &[W],
    out: &mut [u64],
) {
    let (n, rows, cols) = (shape.n(), shape.rows(), shape.cols());
    for (block, key) in key.chunks_exact(rows * cols * GROUP).enumerate() {
        for c in 0..cols {
            for i in 0..GROUP {
                let at = block * GROUP + i;
                let sum = (0..rows).fold(0u128, |sum, r| {
                    let digit = u128::from(digits[r * n + at]);
                    let word = u128::from(key[(r * cols + c) * GROUP + i].into());
                    sum.wrapping_add(digit.wrapping_mul(word))
                });
                out[c * n + at] = p.reduce_wide(sum);
            }
        }
    }
}

/// Computes out(c) = the sum over u of weights(u) sums(u, c) mod p at every position, for each
/// column c. Here u numbers the gadget ciphertexts of a step of a blind rotation. `weights` holds
/// `terms` polynomials of n residues, `sums` holds `terms` times `cols` polynomials, and `out`
/// holds `cols`. The caller has checked the lengths.
pub(super) fn combine(
    p: Modulus,
    [n, terms, cols]: [usize; 3],
    weights: &[u64],
    sums: &[u64],
    out: &mut [u64],
) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: as in `accumulate`.
    unsafe {
        let sizes = [n, terms, cols];
        match Backend::current() {
            Backend::Scalar => {}
            Backend::Avx2 | Backend::Avx512 => {
                return super::products_avx2::combine(p, sizes, weights, sums, out);
            }
            Backend::Avx512Ifma => {
                return super::products_ifma::combine(p, sizes, weights, sums, out);
            }
        }
    }
    for c in 0..cols {
        for i in 0..n {
            let sum = (0..terms)
                .map(|u| u128::from(weights[u * n + i]) * u128::from(sums[(u * cols + c) * n + i]))
                .sum();
            out[c * n + i] = p.reduce_wide(sum);
        }
    }
}
