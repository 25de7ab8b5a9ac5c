// SPDX-License-Identifier: Apache-2.0
//! Computes the base extension through mixed-radix digits, after Szabo-Tanaka and Garner (Kırbıyık's thesis, Algorithm
//! 4, equation 2.19).

use super::crt::largest;
use super::weighted_sums::WeightedSums;
use super::{
    BLOCK, BaseExtension, Representative, Targets, blocks, check_shapes, check_sources, row_mut,
};
use crate::{AnyModulus, MathError, Modulus, RnsBasis, WordModulus, kernels};

/// A base extension by mixed-radix digits. It is exact on the whole range for any order of the moduli, and its time does
/// not depend on the data.
///
/// An integer A with residues a_u modulo q_u is A = b_0 + b_1 q_0 + b_2 q_0 q_1 + ... with digits
/// b_u in \[0, q_u). Algorithm 4 of Kırbıyık's thesis subtracts and divides digit by digit.
/// Unrolled, a digit is one sum, b_u = a_u / (q_0 ... q_(u-1)) - sum_(s<u) b_s / (q_s ... q_(u-1))
/// mod q_u, reduced once. For the centred representative, an offset h is added to the integer
/// before this and subtracted after it.
#[derive(Clone, Debug)]
pub struct MixedRadix {
    source: Vec<Modulus>,
    /// Weighted sums: entry u computes the mixed-radix digit b_(u+1) of an integer. Its terms are
    /// the digits b_0 ... b_u and the integer's residue a_(u+1).
    digits: Vec<WeightedSums>,
    sums: WeightedSums,
    shift: Option<Shift>,
}

/// The offset h ([`Representative::offset`](super::Representative::offset)) of a centred base
/// extension. `before` is h modulo each source modulus, added to the input; `after` is -h modulo
/// each target modulus, added to the output.
#[derive(Clone, Debug)]
struct Shift {
    before: Vec<u64>,
    after: Vec<u64>,
}

impl MixedRadix {
    /// Makes the base extension by mixed-radix digits from the moduli `from` to the targets `to`. `representative` is the
    /// range of the extended integers.
    ///
    /// # Errors
    /// Fails for more than 64 source moduli.
    pub fn new<'a>(
        from: &RnsBasis,
        to: impl Into<Targets<'a>>,
        representative: Representative,
    ) -> Result<Self, MathError> {
        check_sources(from)?;
        let to = to.into();
        let source = from.moduli().to_vec();
        let bound = largest(&source);
        let mut digits = Vec::with_capacity(source.len());
        for (u, q) in source.iter().enumerate().skip(1) {
            // From the last digit down: 1 / (q_s ... q_(u-1)).
            let mut inverse = 1;
            let mut constants = vec![0; u + 1];
            for (s, other) in source[..u].iter().enumerate().rev() {
                inverse = q.mul(inverse, q.inv(other.value())?);
                constants[s] = q.neg(inverse);
            }
            constants[u] = inverse;
            let sums = WeightedSums::new(bound, [*q][..].into(), |_| constants.clone());
            digits.push(sums);
        }
        let sums = WeightedSums::new(bound, to, |p| {
            let weights = source.iter().scan(p.reduce(1), |weight, q| {
                let next = p.mul(*weight, q.value());
                Some(std::mem::replace(weight, next))
            });
            weights.collect()
        });
        let shift = match representative {
            Representative::NonNegative => None,
            Representative::Centred => {
                let h = representative.offset(from);
                let before = source.iter().map(|&q| AnyModulus::from(q).reduce_big(&h));
                Some(Shift {
                    before: before.collect(),
                    after: to.each().map(|p| p.neg(p.reduce_big(&h))).collect(),
                })
            }
        };
        Ok(Self {
            sums,
            digits,
            source,
            shift,
        })
    }
}

impl BaseExtension for MixedRadix {
    fn source(&self) -> &[Modulus] {
        &self.source
    }

    fn target(&self) -> &[Modulus] {
        self.sums.targets()
    }

    fn words(&self) -> &[WordModulus] {
        self.sums.words()
    }

    fn scratch_len(&self) -> usize {
        (self.source.len() + 1) * BLOCK
    }

    fn convert(
        &self,
        input: &[&[u64]],
        output: &mut [&mut [u64]],
        scratch: &mut [u64],
    ) -> Result<(), MathError> {
        let n = check_shapes(self, input, output, scratch)?;
        let l = self.source.len();
        for at in blocks(n) {
            let len = at.len();
            for (u, limb) in input.iter().enumerate() {
                row_mut(scratch, u, len).copy_from_slice(&limb[at.clone()]);
            }
            if let Some(shift) = &self.shift {
                for (u, (q, h)) in self.source.iter().zip(&shift.before).enumerate() {
                    kernels::add_scalar_assign(*q, row_mut(scratch, u, len), *h);
                }
            }
            let (rows, spare) = scratch.split_at_mut(l * BLOCK);
            for (u, digit) in (1..).zip(&self.digits) {
                digit.apply(rows, &mut [&mut spare[..len]], 0..len)?;
                row_mut(rows, u, len).copy_from_slice(&spare[..len]);
            }
            self.sums.apply(scratch, output, at.clone())?;
            if let Some(shift) = &self.shift {
                self.sums.add(&shift.after, output, at);
            }
        }
        Ok(())
    }
}
