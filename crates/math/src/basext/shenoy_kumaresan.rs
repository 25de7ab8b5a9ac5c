// SPDX-License-Identifier: Apache-2.0
//! Computes Shenoy and Kumaresan's base extension, which needs a redundant modulus (Kırbıyık's thesis, Algorithm 2).

use super::crt::largest;
use super::weighted_sums::WeightedSums;
use super::{BaseExtension, Crt, Targets, check_shapes, check_sources, row_mut};
use crate::rns::reduce_big;
use crate::{MathError, Modulus, RnsBasis, WordModulus};

/// A base extension that is exact on \[0, Q) and on (-Q/2, Q/2\], where Q is the product of the l
/// source moduli q_i. Beside the residues of an integer A modulo the q_i, it needs one more residue
/// of A, modulo a redundant modulus m > l coprime to Q.
///
/// The result is A = sum_i y_i (Q / q_i) - alpha Q. Here y_i = \[a_i (Q / q_i)^-1\]_(q_i) is the scaled residue of A's
/// residue a_i. The number alpha is the one in \[0, m) that gives A the redundant residue. The sum is below l Q.
/// So the result is the integer in \[0, Q), with alpha < l, if the redundant residue is that of this integer. It is
/// the integer in (-Q/2, Q/2\], with alpha <= l, if the redundant residue is that integer's.
///
/// Steps 2 to 5 of the algorithm (Kırbıyık's thesis, Algorithm 2) modulo m become one sum, alpha = sum_i y_i q_i^-1 -
/// a_m Q^-1 mod m. Here a_m is the redundant residue.
#[derive(Clone, Debug)]
pub struct ShenoyKumaresan {
    /// The moduli of the input limbs: the source moduli q_0 ... q_(l-1), then the redundant modulus m.
    source: Vec<Modulus>,
    crt: Crt,
    /// The weighted sum that computes alpha, the number of times that the base extension subtracts
    /// Q, the product of the source moduli q_i. Its terms are the scaled residues y_i = \[a_i (Q /
    /// q_i)^-1\]_(q_i) of the residues a_i, and the redundant residue.
    count: WeightedSums,
}

impl ShenoyKumaresan {
    /// Makes the base extension to the targets `to`. Its input has the limbs modulo the moduli of
    /// `from`, then the limb modulo `redundant`.
    ///
    /// # Errors
    /// Fails for more than 64 source moduli, and for a redundant modulus that is not above their number or not coprime
    /// to them.
    pub fn new<'a>(
        from: &RnsBasis,
        redundant: Modulus,
        to: impl Into<Targets<'a>>,
    ) -> Result<Self, MathError> {
        check_sources(from)?;
        if redundant.value() <= from.moduli().len() as u64 {
            return Err(MathError::OutOfRange {
                what: "redundant modulus",
                expected: "more than the number of source moduli",
                got: redundant.value().to_string(),
            });
        }
        let inverse = |x: u64| {
            redundant.inv(x).map_err(|_| MathError::NotCoprime {
                a: x,
                b: redundant.value(),
            })
        };
        let mut constants = Vec::with_capacity(from.moduli().len() + 1);
        for q in from.moduli() {
            constants.push(inverse(q.value())?);
        }
        let product_inverse = inverse(reduce_big(from.product(), redundant))?;
        constants.push(redundant.neg(product_inverse));
        let source: Vec<Modulus> = from.moduli().iter().copied().chain([redundant]).collect();
        let bound = largest(&source);
        Ok(Self {
            crt: Crt::new(from, to.into(), Some(redundant.value())),
            count: WeightedSums::new(bound, [redundant][..].into(), |_| constants.clone()),
            source,
        })
    }
}

impl BaseExtension for ShenoyKumaresan {
    fn source(&self) -> &[Modulus] {
        &self.source
    }

    fn target(&self) -> &[Modulus] {
        self.crt.sums().targets()
    }

    fn words(&self) -> &[WordModulus] {
        self.crt.sums().words()
    }

    fn scratch_len(&self) -> usize {
        self.crt.scratch_len()
    }

    fn convert(
        &self,
        input: &[&[u64]],
        output: &mut [&mut [u64]],
        scratch: &mut [u64],
    ) -> Result<(), MathError> {
        let n = check_shapes(self, input, output, scratch)?;
        let l = self.crt.source().len();
        let redundant = input[l];
        self.crt.convert(n, input, output, scratch, |rows, at| {
            let len = at.len();
            row_mut(rows, l, len).copy_from_slice(&redundant[at]);
            let (terms, spare) = rows.split_at_mut((l + 1) * super::BLOCK);
            self.count.apply(terms, &mut [&mut spare[..len]], 0..len)?;
            row_mut(terms, l, len).copy_from_slice(&spare[..len]);
            Ok(())
        })
    }
}
