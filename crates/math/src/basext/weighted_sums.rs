// SPDX-License-Identifier: Apache-2.0
//! Computes sums of residues times constants for many target moduli at once. A base extension spends most of its time
//! here.

use std::ops::Range;

use super::{BLOCK, MAX_SOURCES, Targets};
#[cfg(target_arch = "x86_64")]
use super::{ifma, short};
use crate::kernels;
use crate::{AnyModulus, MathError, Modulus, Shoup, WordModulus};

/// Most terms of one pass over a block: the sources and a correction.
const MAX_TERMS: usize = MAX_SOURCES + 1;

/// z_j = sum_i w_(j, i) y_i mod p_j for every target modulus p_j.
#[derive(Clone, Debug)]
pub(crate) struct WeightedSums {
    targets: Vec<Modulus>,
    rows: Vec<Vec<Shoup>>,
    /// Apart: most have none.
    words: Box<Words>,
    #[cfg(target_arch = "x86_64")]
    packed: Option<Box<ifma::Packed>>,
    #[cfg(target_arch = "x86_64")]
    short: Option<Box<short::Short>>,
}

/// The targets that are powers of two.
#[derive(Clone, Debug)]
struct Words {
    targets: Vec<WordModulus>,
    rows: Vec<Vec<u64>>,
}

/// Bits of the numbers below a bound.
#[cfg(target_arch = "x86_64")]
fn bits_below(bound: u64) -> u32 {
    u64::BITS - bound.saturating_sub(1).leading_zeros()
}

impl WeightedSums {
    /// `constants` gives those of a target (residues of it), one for each y_i; the y_i are below `bound`.
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

    /// The powers of two that follow them.
    pub(crate) fn words(&self) -> &[WordModulus] {
        &self.words.targets
    }

    /// The constants of target j.
    pub(crate) fn row(&self, j: usize) -> Option<&[Shoup]> {
        self.rows.get(j).map(Vec::as_slice)
    }

    /// Writes z_j to `output[j][at]`. y_i is row i of `y`, rows being [`BLOCK`] words apart; `at` has at most [`BLOCK`]
    /// coefficients. Shapes are the caller's business.
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

    /// Adds a constant of each target to `output[j][at]`.
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
