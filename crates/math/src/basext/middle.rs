// SPDX-License-Identifier: Apache-2.0
//! Base extension, in constant time, of integers below Q/4 in magnitude. Q is the product of the source moduli. It
//! reports whether all inputs are in this range, up to a margin far below Q.

use super::crt::COUNTS;
use super::fraction::{Fraction, FractionSum};
use super::{BLOCK, Crt, Targets, check_sources};
use crate::kernels::check_len;
use crate::{MathError, Modulus, RnsBasis};

/// An exact base extension for A in (-Q/4, Q/4), where Q is the product of the source moduli. It reports whether all inputs
/// were in that range. It needs no redundant residue, and its time does not depend on the data.
///
/// An integer A is (S - alpha) Q, where S = sum_i y_i / q_i for the l source moduli q_i. Here y_i = \[a_i (Q /
/// q_i)^-1\]_(q_i) is the scaled residue of A's residue a_i, and alpha is the integer to find. The sum T of the l
/// fractions in fixed point is at most S and short of it by less than d = (3 l + 1) 2^-51. If floor(T + 1/4) and
/// floor(T + 3/4) are one number m, T lies in \[m - 1/4, m + 1/4). Then S - m lies in \[-1/4, 1/4 + d), and alpha is m.
/// So no coefficient must be decided by itself, unlike in [`FixedPoint`](super::FixedPoint). The two floors are one
/// number for every A in \[-Q/4 + d Q, Q/4).
#[derive(Clone, Debug)]
pub struct MiddleHalf {
    crt: Crt,
    /// The sums S + 1/4 and S + 3/4 in fixed point. S is the sum of the fractions y_i / q_i, where y_i is the residue
    /// modulo q_i times (Q / q_i)^-1, reduced modulo q_i.
    sums: [FractionSum; 2],
}

impl MiddleHalf {
    /// Makes the base extension of integers in (-Q/4, Q/4) from the moduli `from`, whose product is Q, to the moduli of
    /// `to`. Powers of two in `to` get no output limb.
    ///
    /// # Errors
    /// Fails for more than 64 source moduli.
    pub fn new<'a>(from: &RnsBasis, to: impl Into<Targets<'a>>) -> Result<Self, MathError> {
        check_sources(from)?;
        let quarter = 1 << (Fraction::BITS - 2);
        Ok(Self {
            crt: Crt::new(from, to.into(), Some(COUNTS)),
            sums: [1, 3].map(|quarters| FractionSum::new(from.moduli(), quarters * quarter)),
        })
    }

    /// Returns the moduli of the base extension's input limbs, in order.
    pub fn source(&self) -> &[Modulus] {
        self.crt.source()
    }

    /// Returns the moduli of the base extension's output limbs, in order.
    pub fn target(&self) -> &[Modulus] {
        self.crt.sums().targets()
    }

    /// Returns the exact number of words of scratch memory that [`MiddleHalf::convert`] takes.
    pub fn scratch_len(&self) -> usize {
        self.crt.scratch_len()
    }

    /// Converts whole limbs, all of one length. If it returns true, all results are right. It does so if every
    /// coefficient's integer lies in \[-Q/4 + d Q, Q/4), with d = (3 l + 1) 2^-51 for l source moduli. It returns false
    /// if some integer lies outside \[-Q/4, Q/4 + d Q); residues may then be wrong. The caller ensures that inputs are
    /// residues below their modulus.
    ///
    /// # Errors
    /// [`MathError::Length`] if the number of limbs, their length or the length of the scratch memory does not fit.
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
