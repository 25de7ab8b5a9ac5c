// SPDX-License-Identifier: Apache-2.0
//! Lifts the residues of a polynomial to its integer coefficients, centred exactly between -Q/2 and Q/2 and then
//! rounded to doubles.

use ringmill_math::{Modulus, declassify, kernels, sample};

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::error::CkksError;

/// The number of coefficients of a polynomial that are lifted together. Their residues stay in the first-level
/// cache.
const BLOCK: usize = 512;

/// The constants that lift residues modulo several moduli q_0, q_1, ... to integers. A polynomial uses the first
/// moduli, as many as it has limbs.
///
/// A block of coefficients is first assumed to equal its centred residues modulo q_0. If these agree with the
/// block's residues modulo all other moduli, they are the coefficients, as only one integer between -Q/2 and Q/2
/// has these residues. Otherwise each coefficient x is lifted through mixed-radix digits v_i: x = v_0 + v_1 q_0 +
/// v_2 q_0 q_1 + ... So the run time depends on the size of the message, in steps of a block. It reveals whether
/// the union of the bits of all magnitudes is below the least modulus, and the first modulus whose residues
/// disagree.
pub(super) struct Lift {
    moduli: Vec<Modulus>,
    /// The smallest of the moduli q_0, q_1, ..., whether a polynomial has residues modulo it or not.
    least: u64,
    /// The inverses q_j^-1 mod q_i of the moduli, at row i, column j < i.
    inverses: Vec<Vec<u64>>,
}

/// The buffers for the lift of one block of coefficients: its residues, which become mixed-radix digits, and one
/// limb each of signed and of unsigned integers.
#[derive(Default, Zeroize, ZeroizeOnDrop)]
pub(super) struct LiftScratch {
    digits: Vec<u64>,
    small: Vec<i64>,
    other: Vec<u64>,
}

impl Lift {
    pub fn new(moduli: &[Modulus]) -> Result<Self, CkksError> {
        let mut inverses = Vec::with_capacity(moduli.len());
        for (i, q) in moduli.iter().enumerate() {
            let row = moduli.iter().take(i).map(|p| Ok(q.inv(p.value())?));
            inverses.push(row.collect::<Result<Vec<_>, CkksError>>()?);
        }
        Ok(Self {
            moduli: moduli.to_vec(),
            least: moduli.iter().map(|q| q.value()).min().unwrap_or(0),
            inverses,
        })
    }

    /// Computes the coefficients, centred and rounded to doubles, from their residues. `limbs` has one limb after
    /// another, each as long as `values`.
    pub fn centred(
        &self,
        limbs: &[u64],
        values: &mut [f64],
        scratch: &mut LiftScratch,
    ) -> Result<(), CkksError> {
        let n = values.len();
        for (at, values) in (0..n).step_by(BLOCK).zip(values.chunks_mut(BLOCK)) {
            let range = at..at + values.len();
            let limbs = || {
                let rows = limbs.chunks_exact(n.max(1));
                rows.filter_map(|limb| limb.get(range.clone()))
            };
            if self.fits_first(limbs(), scratch)? {
                for (value, &x) in values.iter_mut().zip(&scratch.small) {
                    *value = x as f64;
                }
            } else {
                scratch.digits.clear();
                scratch.digits.reserve(limbs().count() * values.len());
                limbs().for_each(|limb| scratch.digits.extend_from_slice(limb));
                self.mixed_radix(values, scratch)?;
            }
        }
        Ok(())
    }

    /// Returns whether the coefficients of a block equal their centred residues modulo q_0, which it writes to
    /// `scratch.small`.
    fn fits_first<'a>(
        &self,
        mut limbs: impl Iterator<Item = &'a [u64]>,
        scratch: &mut LiftScratch,
    ) -> Result<bool, CkksError> {
        let (Some(first), Some(q0)) = (limbs.next(), self.moduli.first()) else {
            return Ok(false);
        };
        let (small, other) = (&mut scratch.small, &mut scratch.other);
        small.clear();
        let (q, half) = (q0.value() as i64, (q0.value() / 2) as i64);
        // The sign of half - x is negative for a residue that stands for a negative number.
        small.extend(first.iter().map(|&x| {
            let x = x as i64;
            x.wrapping_sub((half.wrapping_sub(x) >> 63) & q)
        }));
        // The union of the bits bounds every magnitude.
        let bound = small.iter().fold(0, |bits, x| bits | x.unsigned_abs());
        let bound = match declassify(bound < self.least) {
            true => self.least - 1,
            false => q0.value() / 2,
        };
        other.resize(first.len(), 0);
        for (&q, limb) in self.moduli.iter().skip(1).zip(limbs) {
            sample::to_limb_i64(q, bound, small, other)?;
            let differ = other.iter().zip(limb).fold(0, |any, (a, b)| any | (a ^ b));
            if declassify(differ != 0) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Computes the centred coefficients of a block from its residues in `scratch.digits`, which has one limb after
    /// another. The mixed-radix digits replace these residues.
    fn mixed_radix(&self, values: &mut [f64], scratch: &mut LiftScratch) -> Result<(), CkksError> {
        let len = values.len();
        let (digits, other) = (&mut scratch.digits, &mut scratch.other);
        other.resize(len, 0);
        for (i, (&q, row)) in self.moduli.iter().zip(&self.inverses).enumerate() {
            let start = (i * len).min(digits.len());
            let (known, rest) = digits.split_at_mut(start);
            let Some(digit) = rest.get_mut(..len) else {
                break;
            };
            for ((v, &p), &w) in known.chunks_exact(len).zip(&self.moduli).zip(row) {
                kernels::conv(p, q, other, v)?;
                kernels::sub_assign(q, digit, other)?;
                kernels::mul_scalar_assign(q, digit, w);
            }
        }
        let digits = || digits.chunks_exact(len).zip(&self.moduli);
        // (Q - 1) / 2 has the digits (q_i - 1) / 2, and the highest digit that differs decides. Q - x is 1 + (Q - 1 -
        // x), which has the digits q_i - 1 - v_i.
        let negative = other;
        negative.fill(0);
        for (limb, q) in digits() {
            let half = q.value() / 2;
            for (negative, &v) in negative.iter_mut().zip(limb) {
                let (above, below) = (half.wrapping_sub(v) >> 63, v.wrapping_sub(half) >> 63);
                *negative = (*negative | above) & (1 ^ below);
            }
        }
        values.fill(0.0);
        for (i, (limb, q)) in digits().enumerate().rev() {
            let (last, radix) = (q.value() - 1, q.value() as f64);
            let one = u64::from(i == 0);
            for ((value, &v), &negative) in values.iter_mut().zip(limb).zip(negative.iter()) {
                let mask = 0u64.wrapping_sub(negative);
                let digit = (v & !mask) | (last.wrapping_sub(v).wrapping_add(one) & mask);
                *value = *value * radix + digit as f64;
            }
        }
        for (value, &negative) in values.iter_mut().zip(negative.iter()) {
            *value *= 1.0 - 2.0 * negative as f64;
        }
        Ok(())
    }
}
