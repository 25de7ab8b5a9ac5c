// SPDX-License-Identifier: Apache-2.0
//! Polynomials in y, a power of x, the form of masks and constants on slots.

use super::error::SlotError;
use crate::Modulus;

/// A polynomial in y = x^`spacing`, the form of every mask and constant: few coefficients, and few values that repeat in
/// evaluation form. Coefficients are residues modulo the p^e it was made for.
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

    /// Coefficients of y^0, y^1, ...
    pub fn coefficients(&self) -> &[u64] {
        &self.coefficients
    }

    /// y is x to this power.
    pub fn spacing(&self) -> usize {
        self.spacing
    }

    /// All N coefficients of the polynomial in x.
    pub fn expand(&self) -> Vec<u64> {
        let mut all = vec![0; self.coefficients.len() * self.spacing];
        for (place, &c) in all.iter_mut().step_by(self.spacing).zip(&self.coefficients) {
            *place = c;
        }
        all
    }

    /// sum += this * polynomial modulo x^N + 1 and q, by definition.
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
