// SPDX-License-Identifier: Apache-2.0
//! Base extension, in constant time, of integers below Q/4 in magnitude; it reports whether all inputs are.

use super::crt::COUNTS;
use super::fraction::{Fraction, FractionSum};
use super::{BLOCK, Crt, Targets, check_sources};
use crate::kernels::check_len;
use crate::{MathError, Modulus, RnsBasis};

/// Exact base extension for A in (-Q/4, Q/4), which reports whether all inputs were in that range. It needs no
/// redundant residue, and its time does not depend on the data.
///
/// With S = sum_i y_i / q_i, A = (S - alpha) Q for an integer alpha. The sum T of the fractions in fixed point is at
/// most S and short of it by less than d = (3 l + 1) 2^-51. If floor(T + 1/4) and floor(T + 3/4) are one number m, T
/// lies in \[m - 1/4, m + 1/4). Then S - m lies in \[-1/4, 1/4 + d), and alpha is m. So no coefficient must be decided
/// by itself, unlike in [`FixedPoint`](super::FixedPoint). The two floors are one number for every A in \[-Q/4 + d Q,
/// Q/4).
#[derive(Clone, Debug)]
pub struct MiddleHalf {
    crt: Crt,
    /// S + 1/4 and S + 3/4.
    sums: [FractionSum; 2],
}

impl MiddleHalf {
    /// # Errors
    /// More than 64 source moduli.
    pub fn new<'a>(from: &RnsBasis, to: impl Into<Targets<'a>>) -> Result<Self, MathError> {
        check_sources(from)?;
        let quarter = 1 << (Fraction::BITS - 2);
        Ok(Self {
            crt: Crt::new(from, to.into(), Some(COUNTS)),
            sums: [1, 3].map(|quarters| FractionSum::new(from.moduli(), quarters * quarter)),
        })
    }

    /// The moduli of the input limbs, in order.
    pub fn source(&self) -> &[Modulus] {
        self.crt.source()
    }

    /// The moduli of the output limbs, in order.
    pub fn target(&self) -> &[Modulus] {
        self.crt.sums().targets()
    }

    /// Words of scratch that [`MiddleHalf::convert`] wants.
    pub fn scratch_len(&self) -> usize {
        self.crt.scratch_len()
    }

    /// Converts whole limbs, all of one length; false where a coefficient's A is not as small as it must be, and what comes
    /// out of it may be wrong. Inputs must be residues below their modulus.
    ///
    /// # Errors
    /// [`MathError::Length`] for a number of limbs, a length or a scratch that does not fit.
    pub fn convert(
        &self,
        input: &[&[u64]],
        output: &mut [&mut [u64]],
        scratch: &mut [u64],
    ) -> Result<bool, MathError> {
        let (l, k) = (self.source().len(), self.target().len());
        check_len("input limbs", l, input.len())?;
        check_len("output limbs", k, output.len())?;
        check_len("scratch", self.scratch_len(), scratch.len())?;
        let n = input.first().map_or(0, |limb| limb.len());
        for len in (input.iter().map(|limb| limb.len())).chain(output.iter().map(|limb| limb.len()))
        {
            check_len("limb", n, len)?;
        }
        let mut differ = 0;
        self.crt.convert(n, input, output, scratch, |rows, at| {
            let (terms, alpha) = rows.split_at_mut(l * BLOCK);
            let (alpha, other) = alpha.split_at_mut(BLOCK);
            let (alpha, other) = (&mut alpha[..at.len()], &mut other[..at.len()]);
            for (sum, counts) in self.sums.iter().zip([&mut *alpha, &mut *other]) {
                // Whether the sum may have passed an integer does not matter here.
                let _ = sum.counts(terms, counts);
            }
            differ |= (alpha.iter().zip(&*other)).fold(0, |any, (a, b)| any | (a ^ b));
            Ok(())
        })?;
        Ok(differ == 0)
    }
}
