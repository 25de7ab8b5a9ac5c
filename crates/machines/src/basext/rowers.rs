// SPDX-License-Identifier: Apache-2.0
//! The base-extension units that need all residues of a coefficient at once (`rm_basext_rowers`): Cox-Rower and
//! iterated mixed radix.
//!
//! A transposition memory brings the residues of a coefficient together. The module has the units' expected results
//! and their cycle model.

use ringmill_math::basext::{BaseExtension, MixedRadix, Representative};
use ringmill_math::{MathError, Modulus, RnsBasis};

use super::{BasextError, Extension, Shape, mul_latency};

/// The bits after the binary point in the Cox unit, which sums up the correction of Cox-Rower.
pub const COX_BITS: u32 = 16;

/// The algorithm with which a rower unit extends a base.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Algorithm {
    /// The unit extends a base by the Cox-Rower algorithm of Kawamura, Koike, Sano and Shimbo (Kırbıyık's thesis,
    /// Algorithm 3).
    CoxRower,
    /// The unit extends a base by Garner's mixed radix (Kırbıyık's thesis, Algorithm 4), one digit after another.
    MixedRadix,
}

/// Returns the number of rowers of the unit: the larger of its numbers of sources and targets. A rower is one data path
/// with one modular multiplier and two modular adders.
pub fn rowers(shape: Shape) -> u64 {
    shape.max_l().max(shape.max_k()) as u64
}

/// Returns the cycles of one command to the rower unit, until the command is done. The command extends polynomials from
/// `l` sources to `k` targets. A polynomial's residues first enter the transposition memory. Cox-Rower then takes one
/// pass over the coefficients, which scales the residues; mixed radix takes l - 1 passes for its digits. After that the
/// sums for all targets take l cycles a coefficient. The residues of the next polynomial enter while the results leave.
/// `l` and `polynomials` must be at least 1.
pub fn cycles(
    algorithm: Algorithm,
    shape: Shape,
    l: usize,
    k: usize,
    log_n: u32,
    polynomials: u64,
) -> u64 {
    let (l, k, n, beats) = (l as u64, k as u64, 1 << log_n, shape.beats(log_n));
    let settle = mul_latency(shape) + 6;
    let passes = match algorithm {
        Algorithm::CoxRower => 1,
        Algorithm::MixedRadix => l - 1,
    };
    let scale = match passes {
        0 => 0,
        _ => passes * n + settle,
    };
    let moved = l + k + (polynomials - 1) * l.max(k);
    moved * beats + polynomials * (scale + l * n + settle) + 3
}

/// Returns Cox-Rower's correction delta in units of 2^-[`COX_BITS`], for moduli of at most w bits
/// ([`Word::modulus_bits`](super::Word::modulus_bits)). It is an upper bound on the excess of the
/// sum over all sources of xi_i / q_i over the unit's sum of the top bits of xi_i / 2^w. Here xi_i
/// is the residue modulo the source q_i, times the inverse of Q / q_i, for Q the product of the
/// sources. For each source, the power of two costs at most (2^w - q_i) / 2^w, and truncation
/// 2^-[`COX_BITS`] (equations 2.17 and 2.18 of Kırbıyık's thesis).
///
/// # Errors
/// [`MathError::CoxRowerRange`] if delta would reach 1, because the moduli are too far below 2^w.
#[doc(hidden)] // for the tests
pub fn delta(shape: Shape, sources: &RnsBasis) -> Result<u64, BasextError> {
    let bits = shape.word().modulus_bits();
    let moduli = sources.moduli();
    let short: u128 = moduli
        .iter()
        .map(|q| (1u128 << bits) - u128::from(q.value()))
        .sum();
    let delta = short.div_ceil(1 << (bits - COX_BITS)) + moduli.len() as u128;
    match u64::try_from(delta) {
        Ok(delta) if delta < 1 << COX_BITS => Ok(delta),
        _ => Err(MathError::CoxRowerRange {
            smallest: moduli.iter().map(|q| q.value()).fold(u64::MAX, u64::min),
            bits,
            terms: moduli.len(),
            precision: COX_BITS,
        }
        .into()),
    }
}

/// Computes the residues that a rower unit must return, by Cox-Rower (Algorithm 3 of Kırbıyık's thesis) with the unit's
/// delta, or by mixed-radix digits. `limbs[i][c]` is the residue of coefficient c modulo source q_i, below q_i. A fast
/// extension by Cox-Rower leaves out the correction; mixed radix ignores `extension` and is always exact.
///
/// # Errors
/// [`BasextError::Limbs`] for a wrong number of limbs; for Cox-Rower [`MathError::CoxRowerRange`] for moduli too far
/// below 2^w, for w the most bits of a modulus of the unit; errors of `ringmill_math`.
///
/// # Panics
/// Cox-Rower panics if a limb is shorter than the first.
pub fn golden(
    algorithm: Algorithm,
    shape: Shape,
    sources: &RnsBasis,
    targets: &[Modulus],
    extension: Extension,
    limbs: &[&[u64]],
) -> Result<Vec<Vec<u64>>, BasextError> {
    let (expected, got) = (sources.moduli().len(), limbs.len());
    if got != expected {
        return Err(BasextError::Limbs { expected, got });
    }
    let n = limbs.first().map_or(0, |limb| limb.len());
    let mut out = vec![vec![0; n]; targets.len()];
    match algorithm {
        Algorithm::MixedRadix => {
            let unit = MixedRadix::new(sources, targets, Representative::NonNegative)?;
            let mut rows: Vec<&mut [u64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
            let mut scratch = vec![0; unit.scratch_len()];
            unit.convert(limbs, &mut rows, &mut scratch)?;
        }
        Algorithm::CoxRower => {
            let (start, cut) = (
                delta(shape, sources)?,
                shape.word().modulus_bits() - COX_BITS,
            );
            let inverses: Vec<u64> = sources.inverse_punctured_products().collect();
            let weights: Vec<Vec<u64>> = targets
                .iter()
                .map(|&p| (0..expected).map(|i| punctured(sources, p, i)).collect())
                .collect();
            for c in 0..n {
                let scaled = sources.moduli().iter().zip(&inverses).zip(limbs);
                let xi: Vec<u64> = scaled.map(|((q, &w), limb)| q.mul(limb[c], w)).collect();
                let sum = start + xi.iter().map(|xi| xi >> cut).sum::<u64>();
                let alpha = match extension {
                    Extension::Exact => sum >> COX_BITS,
                    Extension::Fast => 0,
                };
                for ((p, weights), out) in targets.iter().zip(&weights).zip(&mut out) {
                    let terms = xi.iter().zip(weights);
                    let sum = terms.fold(0, |sum, (&xi, &w)| p.add(sum, p.mul(p.reduce(xi), w)));
                    let whole = sources
                        .moduli()
                        .iter()
                        .fold(p.reduce(1), |x, q| p.mul(x, p.reduce(q.value())));
                    out[c] = p.sub(sum, p.mul(p.reduce(alpha), whole));
                }
            }
        }
    }
    Ok(out)
}

/// Returns |Qhat_i|_p for the source i = `without`: the product of all other sources modulo p.
fn punctured(sources: &RnsBasis, p: Modulus, without: usize) -> u64 {
    let rest = sources.moduli().iter().enumerate();
    rest.filter(|&(i, _)| i != without)
        .fold(p.reduce(1), |x, (_, q)| p.mul(x, p.reduce(q.value())))
}
