// SPDX-License-Identifier: Apache-2.0
//! Computes Halevi, Polyakov and Shoup's exact base extension in fixed point (Kırbıyık's thesis, 2.5.1.4 and
//! equation 2.14).

use num_bigint::BigUint;

use super::fraction::{Fraction, FractionSum};
use std::cmp::Ordering;

use super::crt::COUNTS;
use super::{BLOCK, BaseExtension, Crt, Representative, Targets, check_shapes, check_sources};
use crate::{MathError, Modulus, RnsBasis, WordModulus};

/// The number of 64-bit words, with a spare one, of the largest sum of y_i (Q / q_i) over 64 source moduli q_i of 61
/// bits with product Q. It is below 64 * 2^(64 * 61).
const WORDS: usize = 63;

/// An exact base extension by sums of fractions in fixed point (Halevi, Polyakov and Shoup). With Q
/// the product of the l source moduli q_i, it is exact on the whole range \[0, Q) or (-Q/2, Q/2].
/// It needs no redundant residue and no floating point.
///
/// A coefficient with residues a_i has the scaled residues y_i = \[a_i (Q / q_i)^-1\]_(q_i). It
/// is the sum of y_i (Q / q_i) minus alpha Q, with alpha = floor(sum_i y_i / q_i + h / Q). Here h
/// = 0 for \[0, Q) and h = Q - floor(Q/2) - 1 for (-Q/2, Q/2]. Each fraction is rounded down to a
/// multiple of 2^-51, and is short by less than 3 such units. So the computed sum S is short by
/// less than 3 l + 1 units. floor(S) is alpha unless the fractional part of S is at least 1 - (3
/// l + 1) 2^-51. That happens only within (3 l + 1) 2^-51 Q of a multiple of Q (for
/// [`Representative::Centred`]: of an odd multiple of Q / 2).
///
/// Each coefficient that is so close is decided exactly. A small integer of either sign shows in
/// its residues. For any other coefficient, the sum of y_i (Q / q_i) and h is computed in full and
/// compared with the multiple of Q. So the time depends on the data; the time of
/// [`MixedRadix`](super::MixedRadix) does not.
#[derive(Clone, Debug)]
pub struct FixedPoint {
    crt: Crt,
    /// The sum of the fractions y_i / q_i, and of the offset h / Q, where y_i is the residue modulo q_i times (Q /
    /// q_i)^-1, reduced modulo q_i. The sum is rounded down to a multiple of 2^-51.
    sum: FractionSum,
    exact: LongCount,
}

impl FixedPoint {
    /// Makes the exact base extension from the moduli `from` to the targets `to`. `representative` is the range of the
    /// extended integers.
    ///
    /// # Errors
    /// Fails for more than 64 source moduli.
    pub fn new<'a>(
        from: &RnsBasis,
        to: impl Into<Targets<'a>>,
        representative: Representative,
    ) -> Result<Self, MathError> {
        check_sources(from)?;
        let product = from.product();
        let h = representative.offset(from);
        let offset = (&h << Fraction::BITS) / product;
        Ok(Self {
            crt: Crt::new(from, to.into(), Some(COUNTS)),
            sum: FractionSum::new(from.moduli(), offset.iter_u64_digits().next().unwrap_or(0)),
            exact: LongCount {
                weights: from.punctured_products().iter().map(digits).collect(),
                product: digits(product),
                offset: digits(&h),
            },
        })
    }
}

impl FixedPoint {
    /// Returns the sign of the integer t with |t| <= q_0 / 2 that has these residues. The coefficient is close to a
    /// multiple of Q, so that its correction alpha is one of two successive numbers. The result is `None` if there is
    /// no such t, or if the conversion adds an offset h to every coefficient. For t > 0 the coefficient is t, and
    /// alpha is the larger number. For t < 0 it is Q + t, and alpha is the smaller one.
    fn small_sign(&self, mut residues: impl Iterator<Item = u64>) -> Option<Ordering> {
        if self.sum.offset != 0 {
            return None;
        }
        let (first, rest) = self.source().split_first()?;
        // Checked, because `centred` could overflow for a number that is no residue.
        let t = first.centred(residues.next().filter(|a| *a < first.value())?);
        let agree = rest.iter().zip(residues).all(|(q, a)| q.from_i64(t) == a);
        agree.then_some(t.cmp(&0))
    }
}

impl BaseExtension for FixedPoint {
    fn source(&self) -> &[Modulus] {
        self.crt.source()
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
        let l = self.source().len();
        self.crt.convert(n, input, output, scratch, |rows, at| {
            let (terms, alpha) = rows.split_at_mut(l * BLOCK);
            let alpha = &mut alpha[..at.len()];
            let close = self.sum.counts(terms, alpha);
            for (word, mut calls) in close.into_iter().enumerate() {
                while calls != 0 {
                    let c = 64 * word + calls.trailing_zeros() as usize;
                    let residues = input.iter().map(|limb| limb[at.start + c]);
                    let one_more = match self.small_sign(residues) {
                        Some(sign) => sign == Ordering::Greater,
                        None => {
                            let y = terms.chunks_exact(BLOCK).map(|row| row[c]);
                            self.exact.reaches(y, alpha[c].wrapping_add(1))
                        }
                    };
                    alpha[c] = alpha[c].wrapping_add(one_more.into());
                    calls &= calls - 1;
                }
            }
            Ok(())
        })
    }
}

/// Constants for the whole sums of y_i (Q / q_i), without rounding, for coefficients that are close
/// to a multiple of Q. The y_i = \[a_i (Q / q_i)^-1\]_(q_i) are the scaled residues of a
/// coefficient with residues a_i (Kırbıyık's thesis, equation 2.5). Words are in little-endian
/// order.
#[derive(Clone, Debug)]
struct LongCount {
    /// The words of Q / q_i for each source modulus q_i, where Q is the product of all source
    /// moduli.
    weights: Vec<Vec<u64>>,
    product: Vec<u64>,
    /// The words of the offset h ([`Representative::offset`]), which is added to a sum of y_i (Q /
    /// q_i).
    offset: Vec<u64>,
}

impl LongCount {
    /// Returns whether the sum of y_i (Q / q_i), plus the offset h, is at least `count` times Q,
    /// the product of the source moduli q_i.
    fn reaches(&self, y: impl Iterator<Item = u64>, count: u64) -> bool {
        let mut sum = [0; WORDS];
        sum[..self.offset.len()].copy_from_slice(&self.offset);
        for (weight, y) in self.weights.iter().zip(y) {
            add_product(&mut sum, weight, y);
        }
        let mut multiple = [0; WORDS];
        add_product(&mut multiple, &self.product, count);
        sum.iter().rev().ge(multiple.iter().rev())
    }
}

/// Adds the product of `x` and `factor` to `sum`. Words that do not fit are dropped; sums of residues always fit.
fn add_product(sum: &mut [u64; WORDS], x: &[u64], factor: u64) {
    let mut carry = 0;
    for (i, word) in sum.iter_mut().enumerate() {
        let digit = x.get(i).copied().unwrap_or(0);
        if i >= x.len() && carry == 0 {
            break;
        }
        let t = u128::from(digit) * u128::from(factor) + u128::from(*word) + u128::from(carry);
        *word = t as u64;
        carry = (t >> 64) as u64;
    }
}

fn digits(x: &BigUint) -> Vec<u64> {
    x.to_u64_digits()
}
