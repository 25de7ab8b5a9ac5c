// SPDX-License-Identifier: Apache-2.0
//! Polynomials in y = x^s, for some exponent s, which serve as masks and constants on slots.

use super::error::SlotError;
use crate::Modulus;

/// A polynomial in y = x^`spacing`, the form of every mask and constant on slots. It has N / `spacing` coefficients. In
/// evaluation form it has at most as many different values, each of which repeats. Coefficients are residues modulo
/// p^e, the modulus of the encoder that made the polynomial.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CorePoly {
    coefficients: Vec<u64>,
    spacing: usize,
}

impl CorePoly {
    pub(crate) fn new(coefficients: Vec<u64>, spacing: usize) -> Self {
        Self {
            coefficients,
            spacing,
        }
    }

    /// Returns the polynomial's coefficients of y^0, y^1, ..., modulo p^e, the modulus of the
    /// encoder that made it.
    pub fn coefficients(&self) -> &[u64] {
        &self.coefficients
    }

    /// Returns the exponent s for which y = x^s, where y is the variable of the polynomial and x that of the ring.
    pub fn spacing(&self) -> usize {
        self.spacing
    }

    /// Returns all N coefficients of the polynomial in x.
    pub fn expand(&self) -> Vec<u64> {
        let mut all = vec![0; self.coefficients.len() * self.spacing];
        for (place, &c) in all.iter_mut().step_by(self.spacing).zip(&self.coefficients) {
            *place = c;
        }
        all
    }

    /// Adds the product of this polynomial and `polynomial` to `sum`, modulo x^N + 1 and q, by the definition of a
    /// product.
    pub(super) fn multiply_add(
        &self,
        q: Modulus,
        polynomial: &[u64],
        sum: &mut [u64],
    ) -> Result<(), SlotError> {
        let n = self.coefficients.len() * self.spacing;
        for got in [polynomial.len(), sum.len()] {
            if got != n {
                return Err(SlotError::Length {
                    what: "coefficients of a polynomial",
                    expected: n,
                    got,
                });
            }
        }
        let terms = |a: &[u64]| -> Vec<(usize, u64)> {
            let terms = a.iter().copied().enumerate();
            terms.filter(|&(_, c)| c != 0).collect()
        };
        let own = terms(&self.coefficients);
        for (i, a) in terms(polynomial) {
            for &(j, b) in &own {
                let power = i + j * self.spacing;
                let product = q.mul(a, b);
                let place = &mut sum[power % n];
                *place = if power < n {
                    q.add(*place, product)
                } else {
                    q.sub(*place, product)
                };
            }
        }
        Ok(())
    }
}
