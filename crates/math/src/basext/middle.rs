// SPDX-License-Identifier: Apache-2.0
//! Base extension of integers that are known to be small beside Q, or to be refused.

use super::crt::COUNTS;
use super::fraction::{Fraction, FractionSum};
use super::{BLOCK, Crt, Targets, check_sources};
use crate::kernels::check_len;
use crate::{MathError, Modulus, RnsBasis};

/// Exact for A in (-Q/4, Q/4), and says whether all were; no redundant residue, and time that does not depend on the data.
///
/// With S = sum_i y_i / q_i, A = (S - alpha) Q for an integer alpha. The sum T of the fractions in fixed point is at most S
/// and short of it by less than d = (3 l + 1) 2^-51. Where floor(T + 1/4) and floor(T + 3/4) are one number m, T lies in
/// \[m - 1/4, m + 1/4), so that S - m lies in \[-1/4, 1/4 + d) and alpha is m: no coefficient must be decided by itself, as
/// [`FixedPoint`](super::FixedPoint) has to. They are one number for every A in \[-Q/4 + d Q, Q/4).
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

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;

    use super::*;
    use crate::{Prng, primes};

    #[test]
    fn the_middle_half_is_exact_and_the_rest_is_refused() {
        let mut prng = Prng::from_seed_for_reproducible_tests_only([9; 32]);
        for (bits, l) in [(30, 1), (60, 1), (54, 7), (61, 17), (36, 64)] {
            let moduli = primes::ntt_primes(bits, 8, l + 2).unwrap();
            let moduli: Vec<_> = moduli.iter().map(|&q| Modulus::new(q).unwrap()).collect();
            let (to, from) = moduli.split_at(2);
            let to = [to[0], to[1], Modulus::new(65537).unwrap()];
            let basis = RnsBasis::new(from.to_vec()).unwrap();
            let extension = MiddleHalf::new(&basis, &to).unwrap();
            let q = BigInt::from(basis.product().clone());
            let quarter: BigInt = &q >> 2u32;
            // What the sums are short by at most.
            let margin: BigInt = (&q * (3 * l + 1)) >> 51u32;
            let mut scratch = vec![0; extension.scratch_len()];
            let mut check = |a: &BigInt| {
                let residue = |p: &Modulus| {
                    let p = BigInt::from(p.value());
                    u64::try_from(((a % &p) + &p) % &p).unwrap()
                };
                // Not a multiple of the vectors, so that both paths run.
                let limbs: Vec<Vec<u64>> = from.iter().map(|p| vec![residue(p); 13]).collect();
                let limbs: Vec<&[u64]> = limbs.iter().map(Vec::as_slice).collect();
                let mut out = vec![vec![0; 13]; to.len()];
                let mut rows: Vec<&mut [u64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
                let fits = extension.convert(&limbs, &mut rows, &mut scratch).unwrap();
                for (p, row) in to.iter().zip(&out) {
                    assert!(!fits || row.iter().all(|&x| x == residue(p)), "{a}");
                }
                fits
            };
            for near in [BigInt::ZERO, &quarter - &margin - 1, &margin - &quarter + 1] {
                for step in -3..=3 {
                    let a: BigInt = &near + step;
                    if a.magnitude() < (&quarter - &margin).magnitude() {
                        assert!(check(&a), "{bits} bits, {l}: {a}");
                    }
                }
            }
            // From beyond a quarter to Q / 2, on both sides.
            let beyond: BigInt = &quarter + &margin + 2;
            for far in [beyond, &q >> 1u32] {
                for step in 0..3 {
                    for a in [&far - step, step - &far] as [BigInt; 2] {
                        if a.magnitude() > (&quarter + &margin).magnitude() {
                            assert!(!check(&a), "{bits} bits, {l}: {a}");
                        }
                    }
                }
            }
            for _ in 0..300 {
                let limbs: Vec<u64> = from.iter().map(|p| prng.next_u64() % p.value()).collect();
                let a = basis.compose_centred(&limbs).unwrap();
                for a in [&a >> 1u32, &a >> (u64::from(bits) / 2), a] {
                    let small = a.magnitude() < (&quarter - &margin).magnitude();
                    let large = a.magnitude() > (&quarter + &margin).magnitude();
                    let fits = check(&a);
                    assert!(
                        (!small || fits) && (!large || !fits),
                        "{bits} bits, {l}: {a}"
                    );
                }
            }
        }
    }
}
