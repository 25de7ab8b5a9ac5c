// SPDX-License-Identifier: Apache-2.0
//! Computes the sums of products of a blind rotation in transform form, in 32-bit words: the scalar
//! path, and the choice of a SIMD path.

use super::key::{BLOCK, NarrowStep};
use crate::torus::KeyShape;
use crate::{Backend, Modulus};

/// Computes the sums of [`super::NarrowRing::accumulate`]: digits times key words, times weights (transforms of
/// X^a - 1). The caller has checked the lengths.
pub(super) fn accumulate(
    q: Modulus,
    shape: KeyShape,
    step: NarrowStep<'_>,
    digits: &[u32],
    weights: &[u32],
    out: &mut [u32],
) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: `Backend::current` only gives backends whose features the processor has.
    unsafe {
        use super::loops;
        match Backend::current() {
            Backend::Scalar => {}
            Backend::Avx2 => {
                return loops::avx2::accumulate(q, shape, step, digits, weights, out);
            }
            Backend::Avx512 | Backend::Avx512Ifma => {
                return loops::avx512::accumulate(q, shape, step, digits, weights, out);
            }
        }
    }
    plain(q, shape, step, digits, weights, out);
}

/// Computes the sums of [`super::NarrowRing::accumulate`] in plain Rust, by their definition.
fn plain(
    q: Modulus,
    shape: KeyShape,
    step: NarrowStep<'_>,
    digits: &[u32],
    weights: &[u32],
    out: &mut [u32],
) {
    let (n, rows, cols, patterns) = (shape.n(), shape.rows(), shape.cols(), step.patterns());
    // Keys are multiplied by 2^32, and 1 / 2^32 is ((q + 1) / 2)^32.
    let unscale = q.shoup(q.pow(q.value().div_ceil(2), 32));
    let key = |block: usize, r: usize, u: usize, c: usize, i: usize| {
        step.words()[(((block * rows + r) * patterns + u) * cols + c) * BLOCK + i]
    };
    for at in 0..n {
        let (block, i) = (at / BLOCK, at % BLOCK);
        for c in 0..cols {
            let mut sum = 0;
            for u in 0..patterns {
                let products = (0..rows)
                    .map(|r| u64::from(digits[r * n + at]) * u64::from(key(block, r, u, c, i)));
                let product = q.reduce(products.sum());
                // Of the pair of words for sixteen positions, the one for low words.
                let weight = weights.get(2 * (u * n + block * BLOCK) + i);
                let weight = weight.map_or(1, |&w| q.from_i64(i64::from(w as i32)));
                sum = q.add(sum, q.mul(weight, product));
            }
            out[c * n + at] = q.mul_shoup(sum, unscale) as u32;
        }
    }
}
