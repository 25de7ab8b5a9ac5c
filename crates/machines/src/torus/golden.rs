// SPDX-License-Identifier: Apache-2.0
//! Computes the results of a bootstrapping engine with the software's kernels.

use ringmill_math::torus::{
    Coefficients, Gadget, Lift, TorusRing, extract_mask, rotate, rotate_sub,
};
use ringmill_math::{Modulus, Ring};

use super::{KeyStream, Shape, TorusError};

/// The prime 2^52 - 2^12 + 1 modulo which the engine transforms.
const P: u64 = TorusRing::MAX_PRIME;

/// The reference for the engine: computes the steps of a bootstrap up to its key switch, with the kernels of the
/// software's evaluator.
pub struct Golden {
    shape: Shape,
    q: Coefficients,
    p: Modulus,
    ring: TorusRing,
    gadget: Gadget,
}

impl Golden {
    /// Makes the reference for an engine of this shape.
    ///
    /// # Errors
    /// There is none for a shape that was checked.
    pub fn new(shape: Shape) -> Result<Self, TorusError> {
        let sizes = shape.sizes();
        let (q, p) = (Coefficients::word(32)?, Modulus::new(P)?);
        Ok(Self {
            shape,
            q,
            p,
            ring: TorusRing::new(q, Ring::full(sizes.log_n as u8).log_n, Lift::One(p))?,
            gadget: Gadget::new(q, sizes.log_base, sizes.levels)?,
        })
    }

    /// Returns the transform modulo 2^52 - 2^12 + 1 of a polynomial of the key with coefficients modulo 2^32. Position
    /// i has the value at psi^(2 br(i) + 1), for br the reversal of bits and psi a primitive 2N-th root of unity.
    ///
    /// # Errors
    /// An error for a polynomial whose length is not the ring degree.
    pub fn evaluations(&self, coefficients: &[u64]) -> Result<Vec<u64>, TorusError> {
        let mut out = vec![0; coefficients.len()];
        self.ring.residues(0, &mut out, coefficients)?;
        self.ring.forward(0, &mut out)?;
        Ok(out)
    }

    /// Returns the coefficients modulo 2^32 of a polynomial of the key that is transformed modulo 2^52 - 2^12 + 1.
    ///
    /// # Errors
    /// An error for a polynomial whose length is not the ring degree.
    pub fn coefficients(&self, evaluations: &[u64]) -> Result<Vec<u32>, TorusError> {
        let mut transformed = evaluations.to_vec();
        let mut out = vec![0; evaluations.len()];
        self.ring.inverse_add(&mut transformed, &mut [], &mut out)?;
        Ok(out.into_iter().map(|x| x as u32).collect())
    }

    /// Computes a bootstrap without key switch, and returns an LWE ciphertext of N mask words and a body, for the ring
    /// degree N. It is extracted from the table's polynomial times X^`minus_body` and, under encryption, times X to
    /// each exponent of `mask` whose secret bit is 1.
    ///
    /// # Errors
    /// An error for a table or a mask whose length is not the engine's.
    pub fn bootstrap(
        &self,
        key: &KeyStream<'_>,
        table: &[u64],
        minus_body: usize,
        mask: &[usize],
    ) -> Result<Vec<u64>, TorusError> {
        let (shape, n) = (self.shape, self.shape.degree());
        if mask.len() != shape.sizes().dim {
            return Err(TorusError::Count {
                what: "exponents",
                expected: shape.sizes().dim,
                got: mask.len(),
            });
        }
        let mut acc = vec![0; 2 * n];
        rotate(self.q, &mut acc[n..], table, minus_body)?;
        for step in 0..shape.steps() {
            let first = step * shape.sizes().unroll;
            let exponents = &mask[first..first + shape.bits(step)];
            self.step(key, step, exponents, &mut acc)?;
        }
        let mut out = vec![0; n + 1];
        extract_mask(self.q, &mut out[..n], &acc[..n])?;
        out[n] = acc[n];
        Ok(out)
    }

    /// Computes one step of the blind rotation on the accumulator, whose mask stands before its body.
    fn step(
        &self,
        key: &KeyStream<'_>,
        step: usize,
        exponents: &[usize],
        acc: &mut [u64],
    ) -> Result<(), TorusError> {
        let (shape, n, p) = (self.shape, self.shape.degree(), self.p);
        let single = shape.sizes().unroll == 1;
        let mut digits = vec![0; shape.rows() * n];
        let mut turned = vec![0; n];
        for (digits, x) in digits
            .chunks_mut(shape.sizes().levels * n)
            .zip(acc.chunks(n))
        {
            match single {
                true => rotate_sub(self.q, &mut turned, x, exponents[0])?,
                false => turned.copy_from_slice(x),
            }
            self.ring.decompose(0, &self.gadget, digits, &turned)?;
            self.ring.forward(0, digits)?;
        }
        let mut update = vec![0; 2 * n];
        let mut weight = vec![0; n];
        for pattern in 1..=shape.patterns(step) {
            let gadget = step * shape.patterns(0) + pattern - 1;
            let chosen = exponents.iter().enumerate();
            let a = chosen.map(|(t, &a)| (pattern >> t & 1) * a).sum();
            self.ring.monomial(0, a, &mut weight)?;
            for (column, update) in update.chunks_mut(n).enumerate() {
                for (i, update) in update.iter_mut().enumerate() {
                    let rows = digits.chunks(n).enumerate();
                    let sum = rows.fold(0, |sum, (row, digits)| {
                        let term = p.mul(digits[i], key.polynomial(gadget, row, column)[i]);
                        p.add(sum, term)
                    });
                    let sum = if single { sum } else { p.mul(sum, weight[i]) };
                    *update = p.add(*update, sum);
                }
            }
        }
        for (acc, update) in acc.chunks_mut(n).zip(update.chunks_mut(n)) {
            self.ring.inverse_add(update, &mut [], acc)?;
        }
        Ok(())
    }
}
