// SPDX-License-Identifier: Apache-2.0
//! Computes floor(sum_i y_i / q_i) in fixed point, and finds the coefficients for which the precision does not suffice.

use super::BLOCK;
#[cfg(target_arch = "x86_64")]
use super::fraction_avx512;
use crate::Modulus;

/// A bit for each coefficient of a block. It is set if fixed point is too coarse to decide the
/// floor of the coefficient's sum of fractions.
pub(super) type CloseCalls = [u64; BLOCK / 64];

/// The fraction y / q for residues y below q, in units of 2^-51, rounded down. All backends compute the same bits.
///
/// With b = bits of q, y is brought to 52 bits: x = y 2^(52-b), cut to an integer. Then x is multiplied by t =
/// floor(2^(51+b) / q), which is at most 2^52 - 1. floor(x t / 2^52) is at most 2^51 y / q and short of it by less than
/// [`Fraction::ERROR`]: one from the cut, one from t, one from the floor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fraction {
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) ratio: u64,
}

impl Fraction {
    /// The number of bits after the binary point of a fraction y / q in fixed point.
    pub(super) const BITS: u32 = 51;
    /// The bound on how far one fraction is short of its true value, in units of 2^-51.
    const ERROR: u64 = 3;

    fn new(q: Modulus) -> Self {
        // 2^52 exactly only when q is a power of two; the largest 52-bit number then stands for it.
        let ratio = ((1u128 << (51 + q.bits())) / u128::from(q.value())) as u64;
        Self {
            left: 52u32.saturating_sub(q.bits()),
            right: q.bits().saturating_sub(52),
            ratio: ratio.min((1 << 52) - 1),
        }
    }

    fn of(self, y: u64) -> u64 {
        let x = y << self.left >> self.right;
        ((u128::from(x) * u128::from(self.ratio)) >> 52) as u64
    }
}

/// A sum of fractions y_i / q_i plus an offset. It is short of the true value by less than 3 l + 1 units of 2^-51 for l
/// fractions; one unit is for the offset, which is rounded down.
#[derive(Clone, Debug)]
pub(super) struct FractionSum {
    pub(super) fractions: Vec<Fraction>,
    pub(super) offset: u64,
    /// The least fractional part of a computed sum, in units of 2^-51, for which the true sum may
    /// reach the next integer.
    pub(super) close: u64,
}

impl FractionSum {
    /// Makes the sum of fractions whose denominators are these moduli. `offset` is a number below 1, in units of 2^-51.
    pub(super) fn new(moduli: &[Modulus], offset: u64) -> Self {
        let error = Fraction::ERROR * moduli.len() as u64 + 1;
        Self {
            fractions: moduli.iter().map(|q| Fraction::new(*q)).collect(),
            offset,
            close: (1 << Fraction::BITS) - error,
        }
    }

    /// Writes the floors of the sums of fractions, for at most one block of coefficients, to
    /// `alpha`. Returns the coefficients for which the true floor may be one more than the written
    /// one. Row i of `y` has the numerators y_i, which are below the moduli q_i that are the
    /// denominators, and rows are [`BLOCK`] words apart.
    pub(super) fn counts(&self, y: &[u64], alpha: &mut [u64]) -> CloseCalls {
        let mut close = CloseCalls::default();
        #[cfg(target_arch = "x86_64")]
        let done = fraction_avx512::counts(self, y, alpha, &mut close);
        #[cfg(not(target_arch = "x86_64"))]
        let done = 0;
        let rest = &mut alpha[done..];
        rest.fill(self.offset);
        for (fraction, y) in self.fractions.iter().zip(y.chunks_exact(BLOCK)) {
            for (sum, y) in rest.iter_mut().zip(&y[done..]) {
                *sum = sum.wrapping_add(fraction.of(*y));
            }
        }
        for (c, sum) in (done..).zip(rest) {
            let fraction = *sum & ((1 << Fraction::BITS) - 1);
            close[c / 64] |= u64::from(fraction >= self.close) << (c % 64);
            *sum >>= Fraction::BITS;
        }
        close
    }
}
