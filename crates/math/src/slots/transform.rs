// SPDX-License-Identifier: Apache-2.0
//! Splits the core ring by a negacyclic NTT over the Galois ring, on rows of coefficients. The
//! length c of the NTT is the core's degree.

use super::galois_ring::{GaloisRing, Gaussian};
use crate::bits::bit_reverse;

/// The NTT modulo y^c + 1 with its twiddles, from natural to bit-reversed order as
/// [`NttPlan`](crate::NttPlan). The polynomials in y = x^(N/c) are the core ring of degree c, and
/// zeta is its root of unity of order 2c. After the transform, row i holds the value at zeta^(2
/// bitrev(i) + 1).
pub(crate) struct CoreTransform {
    ring: GaloisRing,
    log_core: u32,
    /// The forward twiddles: entry m + i is the factor of block i in the stage that works on m
    /// blocks of the rows.
    twiddles: Vec<Gaussian>,
    inverse_twiddles: Vec<Gaussian>,
    /// The inverse 1 / c of the transform's length c modulo p^e, the modulus of the encoder's integers.
    c_inv: u64,
}

impl CoreTransform {
    /// Makes the transform of length c = 2^`log_core`. `zeta` is a root of unity of order 2c, and `c_inv` is 1 / c
    /// modulo p^e.
    pub fn new(ring: GaloisRing, zeta: Gaussian, log_core: u32, c_inv: u64) -> Self {
        let table = |root: Gaussian| {
            let mut table = vec![ring.integer(1); 1 << log_core];
            let mut power = ring.integer(1);
            for i in 0..1usize << log_core {
                table[bit_reverse(i, log_core)] = power;
                power = ring.mul(power, root);
            }
            table
        };
        Self {
            ring,
            log_core,
            twiddles: table(zeta),
            inverse_twiddles: table(ring.pow(zeta, (2u128 << log_core) - 1)),
            c_inv,
        }
    }

    /// Returns the number of the row of a transformed matrix that holds the values at
    /// zeta^`exponent`, for an odd exponent. zeta is the root of unity of order 2c by which the
    /// transform of length c is made.
    pub fn row(&self, exponent: u64) -> usize {
        bit_reverse((exponent / 2) as usize, self.log_core)
    }

    /// Transforms each column of a matrix of c rows in place, where c is the length of the transform.
    pub fn forward(&self, matrix: &mut [Gaussian]) {
        let ring = self.ring;
        let mut blocks = 1;
        while blocks < 1 << self.log_core {
            let size = matrix.len() / blocks;
            for (block, &w) in matrix.chunks_exact_mut(size).zip(&self.twiddles[blocks..]) {
                let (low, high) = block.split_at_mut(size / 2);
                for (a, b) in low.iter_mut().zip(high) {
                    let t = ring.mul(*b, w);
                    (*a, *b) = (ring.add(*a, t), ring.sub(*a, t));
                }
            }
            blocks *= 2;
        }
    }

    /// Computes the inverse transform of each column of a matrix of c rows in place, where c is the
    /// length of the transform.
    pub fn inverse(&self, matrix: &mut [Gaussian]) {
        let ring = self.ring;
        let mut blocks = 1usize << self.log_core;
        while blocks > 1 {
            blocks /= 2;
            let size = matrix.len() / blocks;
            let twiddles = &self.inverse_twiddles[blocks..];
            for (block, &w) in matrix.chunks_exact_mut(size).zip(twiddles) {
                let (low, high) = block.split_at_mut(size / 2);
                for (a, b) in low.iter_mut().zip(high) {
                    let difference = ring.sub(*a, *b);
                    (*a, *b) = (ring.add(*a, *b), ring.mul(difference, w));
                }
            }
        }
        let q = ring.modulus();
        for value in matrix {
            value.re = q.mul(value.re, self.c_inv);
            value.im = q.mul(value.im, self.c_inv);
        }
    }
}
