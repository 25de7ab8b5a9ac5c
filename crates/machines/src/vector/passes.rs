// SPDX-License-Identifier: Apache-2.0
//! The computation of the vector machine's transform units: the passes of a negacyclic transform on
//! matrices of rows and columns (BASALISC paper, section 6.1, Equation 2 and Figure 4).
//!
//! Coefficient x[n] has n = columns n1 + n2, for row n1 and column n2, and k = k1 + rows k2. psi is
//! a primitive 2N-th root of unity. The value at psi^(2k+1) is the sum over n2 of psi^n2 w2^(n2 k2)
//! times psi^(2 n2 k1) times the sum over n1 of f^n1 w1^(n1 k1) x[n]. Here f = psi^columns has
//! order 2 rows, w1 = f^2, and w2 = psi^(2 rows).
//!
//! So the factors before both passes are the same for every chunk, and those between the passes are
//! powers of one seed for each column.
//!
//! In the inverse transform, row k1 is multiplied after its first pass (INTT1) by psi^-(2 k1
//! n2 + n2). That is the product of the factors between the passes and of those before the second
//! forward pass (NTT2): again powers of one seed, psi^-(2 k1 + 1). So no inverse transform has
//! factors before it.

use ringmill_isa::vector::{MicroOp, Shape};
use ringmill_math::{MathError, Modulus, NttPlan, Ring};

/// The two-pass transform modulo one prime q of the vector machine's units, for limbs of one shape.
#[derive(Clone, Debug)]
pub struct Passes {
    q: Modulus,
    rows: usize,
    columns: usize,
    psi: u64,
}

impl Passes {
    /// Makes the two-pass transform modulo the prime `q` for limbs of one shape.
    ///
    /// # Errors
    /// An error for a modulus without the root of unity that the transform needs.
    pub fn new(q: Modulus, shape: Shape) -> Result<Self, MathError> {
        Ok(Self {
            q,
            rows: 1 << shape.log_radix,
            columns: 1 << shape.log_columns(),
            psi: NttPlan::shared(q, Ring::full(shape.log_n))?.psi(),
        })
    }

    /// Transforms one line in place: a column for NTT1 and INTT2, or a row for NTT2 and INTT1. `line` is the number of
    /// the column or row, and `x` has its residues. Other instructions leave `x` unchanged.
    ///
    /// # Errors
    /// There is none for a prime modulus.
    pub fn line(&self, op: MicroOp, line: usize, x: &mut [u64]) -> Result<(), MathError> {
        let q = self.q;
        let power = |exponent: usize| q.pow(self.psi, exponent as u64);
        let (first, second) = (power(self.columns), power(1));
        match op {
            MicroOp::Ntt1 => {
                self.scale(x, first);
                cyclic(q, power(2 * self.columns), x);
                self.scale(x, power(2 * line));
            }
            MicroOp::Ntt2 => {
                self.scale(x, second);
                cyclic(q, power(2 * self.rows), x);
            }
            MicroOp::Intt1 => {
                cyclic(q, q.inv(power(2 * self.rows))?, x);
                self.scale(x, q.inv(power(2 * line + 1))?);
                self.halve(x)?;
            }
            MicroOp::Intt2 => {
                cyclic(q, q.inv(power(2 * self.columns))?, x);
                self.scale(x, q.inv(first)?);
                self.halve(x)?;
            }
            // No other instruction has passes.
            _ => {}
        }
        Ok(())
    }

    /// Multiplies the value x[i] by w^i, for each index i.
    fn scale(&self, x: &mut [u64], w: u64) {
        let mut power = 1;
        for value in x {
            *value = self.q.mul(*value, power);
            power = self.q.mul(power, w);
        }
    }

    /// Divides the values by their number, as the halvings in all ranks of butterflies do together.
    fn halve(&self, x: &mut [u64]) -> Result<(), MathError> {
        let factor = self.q.inv(x.len() as u64)?;
        for value in x {
            *value = self.q.mul(*value, factor);
        }
        Ok(())
    }
}

/// Computes y[k] = the sum over j of x[j] w^(j k), in place and in natural order, by decimation in frequency and bit
/// reversal.
fn cyclic(q: Modulus, w: u64, x: &mut [u64]) {
    let n = x.len();
    let mut root = w;
    let mut half = n / 2;
    while half > 0 {
        for block in x.chunks_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            let mut power = 1;
            for (a, b) in low.iter_mut().zip(high) {
                let (sum, difference) = (q.add(*a, *b), q.sub(*a, *b));
                *a = sum;
                *b = q.mul(difference, power);
                power = q.mul(power, root);
            }
        }
        root = q.mul(root, root);
        half /= 2;
    }
    let bits = n.trailing_zeros();
    if bits == 0 {
        return;
    }
    for i in 0..n {
        let j = i.reverse_bits() >> (usize::BITS - bits);
        if i < j {
            x.swap(i, j);
        }
    }
}
