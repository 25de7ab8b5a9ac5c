// SPDX-License-Identifier: Apache-2.0
//! Computes Kawamura, Koike, Sano and Shimbo's base extension, Cox-Rower (Kırbıyık's thesis, Algorithm 3 and
//! equations 2.14 to 2.18).

use num_bigint::BigUint;
use num_traits::{One, ToPrimitive};

use super::crt::COUNTS;
use super::{BaseExtension, Crt, Targets, check_shapes, check_sources};
use crate::{MathError, Modulus, RnsBasis, WordModulus};

/// The base extension of Kawamura and others (Cox-Rower). With Q the product of the l source moduli
/// q_i, it is exact for integers A < (1 - delta) Q. It reads only the top bits of the scaled
/// residues y_i = \[a_i (Q / q_i)^-1\]_(q_i) of A's residues a_i.
///
/// A is the sum of y_i (Q / q_i) minus alpha Q. Let r be the bits of the largest source modulus.
/// The fraction y_i / q_i is approximated by the top `precision` of the r bits of y_i, over 2^r.
/// The approximation is short by at most epsilon + lambda (equations 2.17 and 2.18 of Kırbıyık's
/// thesis). delta is chosen so that l (epsilon + lambda) <= delta. Then the floor of delta plus the
/// sum of fractions is alpha for every A < (1 - delta) Q, and alpha or alpha + 1 for larger A.
#[derive(Clone, Debug)]
pub struct Kawamura {
    crt: Crt,
    /// The number of low bits that are cut from the scaled residues y_i = \[a_i (Q / q_i)^-1\]_(q_i): r -
    /// precision, where r is the bits of the largest source modulus.
    cut: u32,
    precision: u32,
    /// The number delta, in units of 2^-precision. Every integer below (1 - delta) Q is extended exactly, where Q is
    /// the product of the source moduli.
    delta: u64,
    bound: BigUint,
}

impl Kawamura {
    /// Makes the conversion to the targets `to` that is exact for integers below (1 - delta) Q, where Q is the product
    /// of the moduli of `from`. It takes the smallest delta, a multiple of 2^-`precision`, that these moduli allow.
    /// `precision` is at most r, the bits of the largest modulus; with r itself no bit is cut.
    ///
    /// # Errors
    /// Fails for more than 64 source moduli, and for a precision of 0 or above r. [`MathError::CoxRowerRange`] if delta
    /// would reach 1: some modulus lies too far below 2^r, or the precision is too small.
    pub fn new<'a>(
        from: &RnsBasis,
        to: impl Into<Targets<'a>>,
        precision: u32,
    ) -> Result<Self, MathError> {
        check_sources(from)?;
        let l = from.moduli().len();
        let r = from.moduli().iter().map(|q| q.bits()).fold(0, u32::max);
        if !(1..=r).contains(&precision) {
            return Err(MathError::OutOfRange {
                what: "precision of the correction count in bits",
                expected: "from 1 to the bits of the largest source modulus",
                got: precision.to_string(),
            });
        }
        let cut = r - precision;
        // l (epsilon + lambda), at its largest for the smallest modulus q, over the denominator 2^r q.
        let smallest = from
            .moduli()
            .iter()
            .map(|q| q.value())
            .fold(u64::MAX, u64::min);
        let (q, whole) = (BigUint::from(smallest), BigUint::one() << r);
        let truncated = (BigUint::one() << cut) - 1u32;
        let error = ((&whole - &q) * &q + truncated * &whole) * l;
        let denominator = &whole * &q;
        let delta = ((error << precision) + (&denominator - 1u32)) / denominator;
        let scale = BigUint::one() << precision;
        if delta >= scale {
            return Err(MathError::CoxRowerRange {
                smallest,
                bits: r,
                terms: l,
                precision,
            });
        }
        // A < (1 - delta) Q, as an integer bound.
        let bound = (from.product() * (&scale - &delta) + (&scale - 1u32)) >> precision;
        Ok(Self {
            crt: Crt::new(from, to.into(), Some(COUNTS)),
            cut,
            precision,
            delta: delta.to_u64().unwrap_or(0), // below 2^precision <= 2^61
            bound,
        })
    }

    /// Returns the bound (1 - delta) Q, rounded up, where Q is the product of the source moduli. Every integer A below
    /// it is extended exactly. For another A below Q, the result may be that of A - Q.
    pub fn input_bound(&self) -> &BigUint {
        &self.bound
    }
}

impl BaseExtension for Kawamura {
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
            let (terms, alpha) = rows.split_at_mut(l * super::BLOCK);
            let alpha = &mut alpha[..at.len()];
            // Equation 2.16 of Kırbıyık's thesis. After each term the whole part of sigma moves to alpha, so nothing
            // can overflow.
            alpha.fill(0);
            let mut sigma = [self.delta; super::BLOCK];
            let mask = (1 << self.precision) - 1;
            for y in terms.chunks_exact(super::BLOCK) {
                for ((alpha, sigma), y) in alpha.iter_mut().zip(&mut sigma).zip(y) {
                    let next = sigma.wrapping_add(y >> self.cut);
                    *alpha += next >> self.precision;
                    *sigma = next & mask;
                }
            }
            Ok(())
        })
    }
}
