// SPDX-License-Identifier: Apache-2.0
//! Splits a polynomial into parts that hold all its coefficients: the linear map that general bootstrapping adds to thin
//! bootstrapping.

use crate::Modulus;
use crate::kernels::auto_coeff;
use crate::slots::{SlotEncoder, SlotError};

/// A step that splits a polynomial in x^m into two polynomials in x^(2m): twice its even part, and
/// twice its odd part divided by x^m. The first is the sum of the polynomial and its image under x
/// -> x^`galois`, an automorphism that negates x^m. The second is their difference times x^-m.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Halving {
    pub galois: u64,
    /// The exponent m: the step splits a polynomial in x^m, whose other coefficients are 0.
    pub spacing: usize,
}

/// Returns the halvings that split a polynomial into N / l polynomials in u = x^(N/l), where l is
/// the number of slots. Part i has N / l times the coefficients of x^i u^k. The map
/// [`coefficients_to_slots`](super::coefficients_to_slots) applies to each part as it does after
/// [`trace`](super::trace). The halvings take N / l - 1 automorphisms in all; traces would take
/// log2(N / l) for each part. Products with x^i, which cost nothing, join the parts again.
pub fn halvings(encoder: &SlotEncoder) -> Vec<Halving> {
    let structure = encoder.structure();
    let n = structure.ring_degree();
    let count = structure.degree().trailing_zeros();
    let halving = |level: u32| Halving {
        galois: 1 + (n >> level) as u64,
        spacing: 1usize << level,
    };
    (0..count).map(halving).collect()
}

impl Halving {
    /// Returns the two polynomials into which the step splits a polynomial of N coefficients modulo q, by their
    /// definition.
    ///
    /// # Errors
    /// Fails if the number of coefficients is no power of two, or at most half of the Galois element.
    pub fn apply(self, q: Modulus, polynomial: &[u64]) -> Result<[Vec<u64>; 2], SlotError> {
        let n = polynomial.len();
        let mut image = vec![0; n];
        auto_coeff(q, self.galois, &mut image, polynomial)?;
        let pairs = || polynomial.iter().zip(&image);
        let even = pairs().map(|(&a, &b)| q.add(a, b)).collect();
        let mut odd: Vec<u64> = pairs().map(|(&a, &b)| q.sub(a, b)).collect();
        // The division by x^m: coefficients that wrap around to the top change their sign.
        odd.rotate_left(self.spacing.min(n));
        for c in odd.iter_mut().rev().take(self.spacing) {
            *c = q.neg(*c);
        }
        Ok([even, odd])
    }
}
