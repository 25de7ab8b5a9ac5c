//! Sums of products in transform form, reduced once: the scalar path, and the choice of the others.

use super::key::LANES;
use super::{KeyRows, KeyShape};
use crate::{Backend, Modulus};

/// out(c) = sum over r of digits(r) key(r, c) mod p at every position, for residues below p < 2^52; `digits` holds the
/// shape's rows, `out` its columns. Lengths are the caller's business.
pub(super) fn accumulate(
    p: Modulus,
    shape: KeyShape,
    digits: &[u64],
    key: KeyRows<'_>,
    out: &mut [u64],
) {
    #[cfg(target_arch = "x86_64")]
    if Backend::current() == Backend::Avx512Ifma {
        // SAFETY: `Backend::current` only gives backends whose features the processor has; lengths are checked there.
        return unsafe { super::products_ifma::accumulate(p, shape, digits, key, out) };
    }
    match key {
        KeyRows::Narrow(key) => narrow(p, shape, digits, key, out),
        KeyRows::Wide(key) => wide(p, shape, digits, key, out),
    }
}

super::levels! {
    /// Products of 32-bit residues: their halves are summed apart, in words.
    fn narrow_blocks(shape: KeyShape, digits: &[u64], key: &[u32], low: &mut [u64], high: &mut [u64], block: usize) {
        let (n, rows, cols) = (shape.n(), shape.rows(), shape.cols());
        let key = &key[block * rows * cols * LANES..][..rows * cols * LANES];
        low.fill(0);
        high.fill(0);
        for (r, key) in key.chunks_exact(cols * LANES).enumerate() {
            let digits = &digits[r * n + block * LANES..][..LANES];
            for (c, key) in key.chunks_exact(LANES).enumerate() {
                let (low, high) = (&mut low[c * LANES..][..LANES], &mut high[c * LANES..][..LANES]);
                for i in 0..LANES {
                    let product = (digits[i] & 0xffff_ffff) * u64::from(key[i]);
                    low[i] += product & 0xffff_ffff;
                    high[i] += product >> 32;
                }
            }
        }
    }
}

fn narrow(p: Modulus, shape: KeyShape, digits: &[u64], key: &[u32], out: &mut [u64]) {
    let (mut low, mut high) = ([0; 8 * LANES], [0; 8 * LANES]);
    let used = shape.cols() * LANES;
    for block in 0..shape.n() / LANES {
        narrow_blocks(
            shape,
            digits,
            key,
            &mut low[..used],
            &mut high[..used],
            block,
        );
        for c in 0..shape.cols() {
            for i in 0..LANES {
                let (low, high) = (low[c * LANES + i], high[c * LANES + i]);
                out[c * shape.n() + block * LANES + i] =
                    p.reduce_wide((u128::from(high) << 32) + u128::from(low));
            }
        }
    }
}

fn wide(p: Modulus, shape: KeyShape, digits: &[u64], key: &[u64], out: &mut [u64]) {
    let (n, rows, cols) = (shape.n(), shape.rows(), shape.cols());
    for (block, key) in key.chunks_exact(rows * cols * LANES).enumerate() {
        for c in 0..cols {
            for i in 0..LANES {
                let at = block * LANES + i;
                let sum = (0..rows)
                    .map(|r| {
                        u128::from(digits[r * n + at]) * u128::from(key[(r * cols + c) * LANES + i])
                    })
                    .sum();
                out[c * n + at] = p.reduce_wide(sum);
            }
        }
    }
}

/// out(c) = sum over u of weights(u) sums(u, c) mod p at every position: `weights` holds `terms` polynomials of n
/// residues, `sums` `terms` times `cols` of them, `out` `cols`. Lengths are the caller's business.
pub(super) fn combine(
    p: Modulus,
    [n, terms, cols]: [usize; 3],
    weights: &[u64],
    sums: &[u64],
    out: &mut [u64],
) {
    #[cfg(target_arch = "x86_64")]
    if Backend::current() == Backend::Avx512Ifma {
        // SAFETY: as in `accumulate`.
        return unsafe { super::products_ifma::combine(p, [n, terms, cols], weights, sums, out) };
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
