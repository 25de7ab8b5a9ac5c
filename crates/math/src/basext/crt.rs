// SPDX-License-Identifier: Apache-2.0
//! The step that base extensions on the Chinese remainder theorem share: the sum of equation 2.5 of the basext paper,
//! with alpha given.

use std::ops::Range;

use super::weighted_sums::WeightedSums;
use super::{BLOCK, Targets, blocks, row_mut};
use crate::kernels;
use crate::{MathError, Modulus, RnsBasis, Shoup};

/// Words of all limbs from which on they are asked for ahead.
const FAR_IN_ALL: usize = 16 * kernels::FAR;

/// Tables of sum_i y_i (Q / q_i) - alpha Q modulo each target. Scratch rows: y_0 ... y_(l-1), alpha, one spare.
#[derive(Clone, Debug)]
pub(crate) struct Crt {
    from: Vec<Modulus>,
    scale: Vec<Shoup>,
    sums: WeightedSums,
}

impl Crt {
    /// With `corrected`, what alpha is below, the constant of alpha, -Q, follows those of the y_i.
    pub(crate) fn new(from: &RnsBasis, to: Targets<'_>, corrected: Option<u64>) -> Self {
        let sums = WeightedSums::new(
            largest(from.moduli()).max(corrected.unwrap_or(0)),
            to,
            |p| {
                let punctured = from.punctured_products().iter();
                let alpha = corrected.map(|_| p.neg(p.reduce_big(from.product())));
                punctured.map(|x| p.reduce_big(x)).chain(alpha).collect()
            },
        );
        Self {
            sums,
            scale: from
                .moduli()
                .iter()
                .zip(from.inverse_punctured_products())
                .map(|(q, w)| q.shoup(w))
                .collect(),
            from: from.moduli().to_vec(),
        }
    }

    pub(crate) fn source(&self) -> &[Modulus] {
        &self.from
    }

    /// (Q / q_i)^-1 mod q_i.
    pub(crate) fn scale(&self) -> &[Shoup] {
        &self.scale
    }

    pub(crate) fn sums(&self) -> &WeightedSums {
        &self.sums
    }

    pub(crate) fn scratch_len(&self) -> usize {
        (self.from.len() + 2) * BLOCK
    }

    /// Converts n coefficients block by block. `count` sees the scratch rows of a block with the y_i filled in and
    /// writes alpha to row l. Shapes are the caller's business.
    pub(crate) fn convert(
        &self,
        n: usize,
        input: &[&[u64]],
        output: &mut [&mut [u64]],
        scratch: &mut [u64],
        mut count: impl FnMut(&mut [u64], Range<usize>) -> Result<(), MathError>,
    ) -> Result<(), MathError> {
        let far = n * input.len() >= FAR_IN_ALL;
        for at in blocks(n) {
            for (i, ((limb, q), w)) in input.iter().zip(&self.from).zip(&self.scale).enumerate() {
                let y = row_mut(scratch, i, at.len());
                kernels::mul_constant(*q, y, &limb[at.clone()], *w)?;
                // The next block's, which comes while this one's sums are made.
                if far {
                    kernels::ahead(&limb[at.end..n.min(at.end + BLOCK)]);
                }
            }
            count(scratch, at.clone())?;
            self.sums.apply(scratch, output, at)?;
        }
        Ok(())
    }
}

/// A bound above every alpha < l, for l <= 64.
pub(super) const COUNTS: u64 = 1 << 7;

/// Returns the largest of some moduli, a bound above all residues.
pub(super) fn largest(moduli: &[Modulus]) -> u64 {
    moduli.iter().map(|q| q.value()).fold(0, u64::max)
}
