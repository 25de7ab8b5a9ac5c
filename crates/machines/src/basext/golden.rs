// SPDX-License-Identifier: Apache-2.0
//! Computes the results of a base-extension unit by its definition.

use ringmill_math::basext::{BaseExtension, ShenoyKumaresan};
use ringmill_math::{BaseConverter, Modulus, RnsBasis};

use super::{BasextError, Extension};

/// Returns the residues modulo each target of integers that are given by residues: `limbs[i][c]` is modulo source i,
/// for coefficient c. An exact extension takes those modulo the redundant modulus behind the sources'.
///
/// # Errors
/// [`BasextError::NoRedundant`]; [`BasextError::Limbs`]; those of `ringmill_math`.
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
