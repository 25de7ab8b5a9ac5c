// SPDX-License-Identifier: Apache-2.0
//! Exact and approximate base extension of whole limbs. It computes the residues of an integer modulo some moduli from its
//! residues modulo others (Kırbıyık's thesis, chapter 2).
//!
//! A coefficient A in \[0, Q) is given by its residues a_i modulo q_0 ... q_(l-1), whose product is Q. Wanted are its residues
//! modulo p_0 ... p_(k-1). The methods that start from the Chinese remainder theorem share equation 2.5,
//!
//! A = sum_i y_i (Q / q_i) - alpha Q with y_i = \[a_i (Q / q_i)^-1\]_(q_i) and 0 <= alpha < l,
//!
//! and differ in how they find alpha:
//!
//! | type | alpha | exact for | price beside the k l products |
//! | --- | --- | --- | --- |
//! | [`BaseConverter`](crate::BaseConverter) (Algorithm 1) | left out | A + alpha Q comes out | none |
//! | [`ShenoyKumaresan`] (Algorithm 2) | from a redundant residue | all A < Q | l + 1 products, one more input limb |
//! | [`Kawamura`] (Algorithm 3, Cox-Rower) | from the top bits of the y_i | A < (1 - delta) Q | l additions |
//! | [`FixedPoint`] (2.5.1.4, Halevi-Polyakov-Shoup) | from 51-bit fractions, close calls in full | all A < Q | l short products |
//! | [`MiddleHalf`] | from 51-bit fractions | A in (-Q/4, Q/4), reports others | 2 l short products |
//! | [`MixedRadix`] (Algorithm 4) | not needed | all A < Q | l^2 / 2 products |
//!
//! A method with alpha also takes k products of alpha and -Q. [`best_exact`] chooses for the CPU. No method uses
//! floating point.

mod crt;
mod fixed_point;
mod fraction;
#[cfg(target_arch = "x86_64")]
mod fraction_avx512;
#[cfg(target_arch = "x86_64")]
mod ifma;
mod kawamura;
mod middle;
mod mixed_radix;
mod shenoy_kumaresan;
#[cfg(target_arch = "x86_64")]
mod short;
mod weighted_sums;

pub use fixed_point::FixedPoint;
pub use kawamura::Kawamura;
pub use middle::MiddleHalf;
pub use mixed_radix::MixedRadix;
pub use shenoy_kumaresan::ShenoyKumaresan;

pub(crate) use crt::Crt;

use std::ops::Range;

use num_bigint::BigUint;

use crate::kernels::check_len;
use crate::{AnyModulus, MathError, Modulus, RnsBasis, WordModulus};

/// The most source moduli of an exact base extension. The AVX-512 loops add up this many products of 61-bit numbers,
/// and one more, and reduce the sum once.
pub const MAX_SOURCES: usize = 64;

/// The number of coefficients that a base extension converts at a time. A block's residues, scaled for the sums, take
/// 34 KiB for 17 source moduli, about the size of the first-level cache. For 64 moduli they take 128 KiB and fit the
/// second-level cache.
pub(crate) const BLOCK: usize = 256;

/// The choice of one integer among those that have the given residues, which are congruent modulo
/// Q, the product of the source moduli.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Representative {
    /// The representative is the integer in \[0, Q).
    NonNegative,
    /// The representative is the integer in (-Q/2, Q/2]; for an even Q the tie, Q/2, is positive.
    Centred,
}

impl Representative {
    /// Returns the offset h: for every integer x of the representative's range, x + h lies in \[0,
    /// Q), where Q is the product of `from`. It is 0 for the range \[0, Q), and the largest integer
    /// below Q/2 for (-Q/2, Q/2].
    pub fn offset(self, from: &RnsBasis) -> BigUint {
        match self {
            Self::NonNegative => BigUint::ZERO,
            Self::Centred => (from.product() - 1u32) >> 1u32,
        }
    }
}

/// The target moduli of a base extension. The extension has one output limb for each of `moduli`, then one for each
/// power of two in `words`. The moduli may be any, whatever the source moduli are.
#[derive(Clone, Copy, Debug)]
pub struct Targets<'a> {
    pub moduli: &'a [Modulus],
    pub words: &'a [WordModulus],
}

impl<'a, T: AsRef<[Modulus]> + ?Sized> From<&'a T> for Targets<'a> {
    fn from(moduli: &'a T) -> Self {
        let moduli = moduli.as_ref();
        Self { moduli, words: &[] }
    }
}

impl Targets<'_> {
    fn each(self) -> impl Iterator<Item = AnyModulus> {
        let words = self.words.iter().copied().map(AnyModulus::from);
        (self.moduli.iter().copied().map(AnyModulus::from)).chain(words)
    }
}

/// A conversion of limbs from source moduli to target moduli, coefficient by coefficient. No coefficient depends on another, so
/// threads may share a conversion by ranges of coefficients.
pub trait BaseExtension: Send + Sync {
    /// Returns the moduli of the input limbs, in order.
    fn source(&self) -> &[Modulus];

    /// Returns the moduli of the output limbs, in order. The moduli of [`BaseExtension::words`] follow.
    fn target(&self) -> &[Modulus];

    /// Returns the moduli of the last output limbs that are powers of two, in order.
    fn words(&self) -> &[WordModulus];

    /// Returns the number of words of scratch memory that [`BaseExtension::convert`] needs. It does not depend on the length of
    /// the limbs.
    fn scratch_len(&self) -> usize;

    /// Converts whole limbs, all of one length. The caller ensures that inputs are residues below their modulus; a
    /// larger one gives wrong residues, never a fault. The call ignores what `scratch` contains. It allocates nothing,
    /// except for a [`BaseConverter`](crate::BaseConverter) of more than 65 source moduli.
    ///
    /// # Errors
    /// [`MathError::Length`] if the number of limbs or the length of one does not fit, or if `scratch` has fewer words
    /// than [`BaseExtension::scratch_len`].
    fn convert(
        &self,
        input: &[&[u64]],
        output: &mut [&mut [u64]],
        scratch: &mut [u64],
    ) -> Result<(), MathError>;
}

/// Returns the fastest exact base extension on the CPU from the moduli `from` to the targets `to`: [`FixedPoint`] on
/// \[0, Q).
///
/// Beside the products that every method needs, it takes one multiply-add for each input residue.
/// [`ShenoyKumaresan`] costs as much as one more target modulus and needs a redundant input limb.
/// [`MixedRadix`] takes l^2 / 2 more products for each coefficient, for l source moduli.
/// [`Kawamura`] is exact on a part of the range only.
///
/// The time of [`FixedPoint`] depends on the data: a coefficient within about l 2^-49 Q of a multiple of Q takes an
/// exact comparison of its own. Here Q is the product of the l source moduli; random coefficients need the comparison
/// less than once in 2^40. If time must not depend on data, as for limbs of a secret, choose [`MixedRadix`]. For small
/// signed coefficients choose [`Representative::Centred`].
///
/// # Errors
/// The errors of [`FixedPoint::new`].
pub fn best_exact<'a>(
    from: &RnsBasis,
    to: impl Into<Targets<'a>>,
) -> Result<FixedPoint, MathError> {
    FixedPoint::new(from, to, Representative::NonNegative)
}

/// Checks the numbers and lengths of the limbs of a conversion and the length of its scratch memory, which may be
/// longer than needed. Returns the length of the limbs.
pub(crate) fn check_shapes(
    extension: &impl BaseExtension,
    input: &[&[u64]],
    output: &[&mut [u64]],
    scratch: &[u64],
) -> Result<usize, MathError> {
    check_len("input limbs", extension.source().len(), input.len())?;
    let targets = extension.target().len() + extension.words().len();
    check_len("output limbs", targets, output.len())?;
    if scratch.len() < extension.scratch_len() {
        check_len("scratch", extension.scratch_len(), scratch.len())?;
    }
    let n = input.first().map_or(0, |limb| limb.len());
    for limb in input {
        check_len("input limb", n, limb.len())?;
    }
    for limb in output {
        check_len("output limb", n, limb.len())?;
    }
    Ok(n)
}

/// Refuses source moduli of a base extension that are more than [`MAX_SOURCES`].
fn check_sources(from: &RnsBasis) -> Result<(), MathError> {
    if from.moduli().len() > MAX_SOURCES {
        return Err(MathError::OutOfRange {
            what: "number of source moduli of a base extension",
            expected: "at most 64",
            got: from.moduli().len().to_string(),
        });
    }
    Ok(())
}

/// Returns the ranges of the blocks into which a base extension divides `n` coefficients, at most
/// [`BLOCK`] in each.
fn blocks(n: usize) -> impl Iterator<Item = Range<usize>> {
    (0..n)
        .step_by(BLOCK)
        .map(move |start| start..n.min(start + BLOCK))
}

/// Returns row `i` of the scratch memory of a base extension, which has [`BLOCK`] words a row, for writing. It is cut
/// to `len` coefficients.
fn row_mut(rows: &mut [u64], i: usize, len: usize) -> &mut [u64] {
    &mut rows[i * BLOCK..][..len]
}
