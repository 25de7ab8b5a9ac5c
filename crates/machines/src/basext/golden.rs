// SPDX-License-Identifier: Apache-2.0
//! Computes the residues that a base-extension unit must return, by the definition of the extension.

use ringmill_math::basext::{BaseExtension, ShenoyKumaresan};
use ringmill_math::{BaseConverter, Modulus, RnsBasis};

use super::{BasextError, Extension};

/// Returns a limb for each target: entry `[j][c]` is the residue of coefficient c modulo target j. `limbs[i][c]` is the
/// residue of coefficient c modulo source i. An exact extension takes one more limb after those of the sources: the
/// residues modulo the redundant modulus.
///
/// # Errors
/// [`BasextError::NoRedundant`] for an exact extension without a redundant modulus; [`BasextError::Limbs`] for a
/// wrong number of limbs; errors of `ringmill_math`.
pub fn golden(
    sources: &RnsBasis,
    redundant: Option<Modulus>,
    targets: &[Modulus],
    extension: Extension,
    limbs: &[&[u64]],
) -> Result<Vec<Vec<u64>>, BasextError> {
    let l = sources.moduli().len();
    let expected = l + usize::from(extension == Extension::Exact);
    if limbs.len() != expected {
        return Err(BasextError::Limbs {
            expected,
            got: limbs.len(),
        });
    }
    let n = limbs.first().map_or(0, |limb| limb.len());
    let mut out = vec![vec![0; n]; targets.len()];
    let mut rows: Vec<&mut [u64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
    let unit: Box<dyn BaseExtension> = match extension {
        Extension::Exact => {
            let redundant = redundant.ok_or(BasextError::NoRedundant)?;
            Box::new(ShenoyKumaresan::new(sources, redundant, targets)?)
        }
        Extension::Fast => Box::new(BaseConverter::new(sources, targets)),
    };
    let mut scratch = vec![0; unit.scratch_len()];
    unit.convert(limbs, &mut rows, &mut scratch)?;
    Ok(out)
}
