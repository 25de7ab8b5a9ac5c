// SPDX-License-Identifier: Apache-2.0
//! The step that base extensions by the Chinese remainder theorem share: the sum of equation 2.5 of
//! Kırbıyık's thesis, sum_i y_i (Q / q_i) - alpha Q modulo the target moduli. Each base extension
//! finds alpha in its own way.

use std::ops::Range;

use super::weighted_sums::WeightedSums;
use super::{BLOCK, Targets, blocks, row_mut};
use crate::kernels;
use crate::{MathError, Modulus, RnsBasis, Shoup};

/// The least number of words, of all input limbs of a base extension together, for which it
/// prefetches them.
const FAR_IN_ALL: usize = 16 * kernels::FAR;

/// Tables for the sum of y_i (Q / q_i) over i, minus alpha Q, modulo each target modulus. The q_i
/// are the l source moduli and Q is their product. The y_i = \[a_i (Q / q_i)^-1\]_(q_i) are the
/// scaled residues of an integer with residues a_i, and alpha is the correction that makes the sum
/// exact. The rows of scratch memory are y_0 ... y_(l-1), alpha, and a spare one.
#[derive(Clone, Debug)]
pub(crate) struct Crt {
    from: Vec<Modulus>,
    scale: Vec<Shoup>,
    sums: WeightedSums,
}

impl Crt {
    /// Makes the tables for base extensions from the moduli `from`, whose product is Q, to the
    /// targets `to`. `corrected` is a bound on the correction alpha, or `None` for an extension
    /// without one. With a correction, the tables have one more constant after those of the
    /// residues: -Q, by which alpha is multiplied.
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

    /// Returns the constants (Q / q_i)^-1 mod q_i, one for each source modulus q_i, whose product is Q. A residue times
    /// its constant is the scaled residue y_i.
    pub(crate) fn scale(&self) -> &[Shoup] {
        &self.scale
    }

    pub(crate) fn sums(&self) -> &WeightedSums {
        &self.sums
    }

    pub(crate) fn scratch_len(&self) -> usize {
        (self.from.len() + 2) * BLOCK
    }

    /// Converts n coefficients to the target moduli, block by block. For l source moduli, the function `count` reads
    /// the scaled residues y_i in the first l scratch rows of a block and writes the correction alpha, if the tables
    /// have one, to row l. The caller has checked the lengths.
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
                // Prefetches the next block, which arrives while the sums of this one are computed.
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

/// A bound above the correction alpha, the number of multiples of Q that a base extension subtracts. Q is the product
/// of the source moduli. The correction is at most the number of source moduli, and so at most 64.
/// [`ShenoyKumaresan`](super::ShenoyKumaresan) needs another bound, because its alpha may be any residue modulo the
/// redundant modulus.
pub(super) const COUNTS: u64 = 1 << 7;

/// Returns the largest of several moduli, which is a bound above all their residues.
pub(super) fn largest(moduli: &[Modulus]) -> u64 {
    moduli.iter().map(|q| q.value()).fold(0, u64::max)
}
