// SPDX-License-Identifier: Apache-2.0
//! Computes sums of residues times constants for many target moduli at once. A base extension spends most of its time
//! on these sums.

use std::ops::Range;

use super::{BLOCK, MAX_SOURCES, Targets};
#[cfg(target_arch = "x86_64")]
use super::{ifma, short};
use crate::kernels;
use crate::{AnyModulus, MathError, Modulus, Shoup, WordModulus};

/// The most terms of one sum of an exact base extension: a residue for each source modulus, and the correction alpha. A
/// [`BaseConverter`](crate::BaseConverter) may have more terms.
const MAX_TERMS: usize = MAX_SOURCES + 1;

/// The sums z_j = sum_i w_(j, i) y_i mod p_j of terms y_i times constants w_(j, i), for every
/// target modulus p_j of a base extension.
#[derive(Clone, Debug)]
pub(crate) struct WeightedSums {
    targets: Vec<Modulus>,
    rows: Vec<Vec<Shoup>>,
    /// The constants of the targets that are powers of two, in a box of their own because most conversions have none.
    words: Box<Words>,
    #[cfg(target_arch = "x86_64")]
    packed: Option<Box<ifma::Packed>>,
    #[cfg(target_arch = "x86_64")]
    short: Option<Box<short::Short>>,
}

/// The target moduli that are powers of two, with their constants.
#[derive(Clone, Debug)]
struct Words {
    targets: Vec<WordModulus>,
    rows: Vec<Vec<u64>>,
}

/// Returns the number of bits of numbers below `bound`.
#[cfg(target_arch = "x86_64")]
fn bits_below(bound: u64) -> u32 {
    u64::BITS - bound.saturating_sub(1).leading_zeros()
}

impl WeightedSums {
    /// Makes the sums modulo the targets `to`, for terms y_i below `bound`. `constants` returns the constants of a
    /// target modulus, as residues modulo it, one for each term.
    pub(crate) fn new(
        bound: u64,
        to: Targets<'_>,
        constants: impl Fn(AnyModulus) -> Vec<u64>,
    ) -> Self {
        let _ = bound; // SIMD alone packs its constants by it
        let targets = to.moduli.to_vec();
        let row = |p: &Modulus| {
            let constants = constants(AnyModulus::from(*p));
            constants.into_iter().map(|w| p.shoup(w)).collect()
        };
        let rows: Vec<Vec<Shoup>> = targets.iter().map(row).collect();
        let word_rows = to.words.iter().map(|&q| constants(AnyModulus::from(q)));
        Self {
            words: Box::new(Words {
                rows: word_rows.collect(),
                targets: to.words.to_vec(),
            }),
            #[cfg(target_arch = "x86_64")]
            packed: rows
                .iter()
                .all(|row| row.len() <= MAX_TERMS)
                .then(|| Box::new(ifma::Packed::new(bits_below(bound), &targets, &rows))),
            #[cfg(target_arch = "x86_64")]
            short: short::Short::new(bound, &targets, &rows).map(Box::new),
            targets,
            rows,
        }
    }

    pub(crate) fn targets(&self) -> &[Modulus] {
        &self.targets
    }

    /// Returns the target moduli that are powers of two. Their output limbs follow those of all
    /// other target moduli.
    pub(crate) fn words(&self) -> &[WordModulus] {
        &self.words.targets
    }

    /// Returns the constants of target modulus number j, one for each term.
    pub(crate) fn row(&self, j: usize) -> Option<&[Shoup]> {
        self.rows.get(j).map(Vec::as_slice)
    }

    /// Writes the sums z_j of constants times terms, modulo target modulus number j, to
    /// `output[j][at]`. The terms y_i are row i of `y`, and rows are [`BLOCK`] words apart; `at`
    /// has at most [`BLOCK`] coefficients. The caller has checked the lengths.
    pub(crate) fn apply(
        &self,
        y: &[u64],
        output: &mut [&mut [u64]],
        at: Range<usize>,
    ) -> Result<(), MathError> {
        let (output, words) = output.split_at_mut(self.targets.len().min(output.len()));
        for ((p, row), out) in self.words.targets.iter().zip(&self.words.rows).zip(words) {
            let terms = y.chunks(BLOCK).take(row.len()).map(|y| &y[..at.len()]);
            kernels::words::dot_scalars(*p, &mut out[at.clone()], terms, row)?;
        }
        #[cfg(target_arch = "x86_64")]
        let short = self.short.as_deref().filter(|short| short.serves());
        #[cfg(target_arch = "x86_64")]
        let (done, writes) = (
            match (short, &self.packed) {
                (Some(short), _) => short::weighted_sums(short, y, output, &at),
                (None, Some(packed)) => ifma::weighted_sums(packed, y, output, &at),
                (None, None) => 0,
            },
            |j| short.is_none_or(|short| short.has(j)),
        );
        #[cfg(not(target_arch = "x86_64"))]
        let (done, writes) = (0, |_| true);
        for (j, ((p, row), out)) in (self.targets.iter().zip(&self.rows))
            .zip(output)
            .enumerate()
        {
            let done = if writes(j) { done } else { 0 };
            let (start, len) = (at.start + done, at.len() - done);
            if len == 0 {
                continue;
            }
            let out = &mut out[start..start + len];
            let limb = |i: usize| &y[i * BLOCK + done..][..len];
            if row.len() <= MAX_TERMS {
                let mut limbs: [&[u64]; MAX_TERMS] = [&[]; MAX_TERMS];
                for (i, slot) in limbs.iter_mut().take(row.len()).enumerate() {
                    *slot = limb(i);
                }
                kernels::dot_scalars(*p, out, &limbs[..row.len()], row)?;
            } else {
                let limbs: Vec<&[u64]> = (0..row.len()).map(limb).collect();
                kernels::dot_scalars(*p, out, &limbs, row)?;
            }
        }
        Ok(())
    }

    /// Adds `constants[j]`, a residue modulo target modulus number j, to every coefficient of
    /// `output[j][at]`, for each j.
    pub(super) fn add(&self, constants: &[u64], output: &mut [&mut [u64]], at: Range<usize>) {
        let (first, last) = constants.split_at(self.targets.len().min(constants.len()));
        let (moduli, words) = output.split_at_mut(self.targets.len().min(output.len()));
        for ((p, w), out) in self.targets.iter().zip(first).zip(moduli) {
            kernels::add_scalar_assign(*p, &mut out[at.clone()], *w);
        }
        for ((p, w), out) in self.words.targets.iter().zip(last).zip(words) {
            kernels::words::add_scalar_assign(*p, &mut out[at.clone()], *w);
        }
    }
}
