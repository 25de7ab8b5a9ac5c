// SPDX-License-Identifier: Apache-2.0
//! Converts limbs to other moduli by the fast base extension.

use ringmill_isa::mid::{ModulusId, ValueId};

use super::emit::{Emit, Limb};
use crate::rlwe::error::RlweError;

/// A polynomial's residues modulo several moduli of product D, in coefficient form, and its residues modulo other
/// moduli as these are needed.
///
/// From one modulus, the representative in [0, D) is converted, as in SEAL. From k moduli, the fast base extension
/// converts it, whose value is x + u D with 0 <= u < k.
pub(super) struct Carried {
    coefficients: Vec<ValueId>,
    extended: Vec<Limb>,
}

impl Carried {
    pub fn new(coefficients: Vec<ValueId>) -> Self {
        Self {
            coefficients,
            extended: Vec::new(),
        }
    }

    /// Emits the limbs modulo the moduli `to` at once if there are several source moduli. From a single one, each limb
    /// is emitted when it is needed.
    pub fn extend<P>(
        &mut self,
        e: &mut Emit<P>,
        to: impl IntoIterator<Item = usize>,
    ) -> Result<(), RlweError> {
        if self.coefficients.len() < 2 {
            return Ok(());
        }
        let to: Vec<ModulusId> = to.into_iter().map(|i| ModulusId(i as u16)).collect();
        let values = e.ops().bext(&self.coefficients, &to)?;
        let limbs = values.into_iter().zip(to).map(|(value, modulus)| Limb {
            value,
            modulus: modulus.0.into(),
        });
        self.extended = limbs.collect();
        Ok(())
    }

    /// Returns the limb modulo one of the target moduli, in coefficient form.
    pub fn modulo<P>(&self, e: &mut Emit<P>, modulus: usize) -> Result<ValueId, RlweError> {
        let found = self.extended.iter().find(|l| l.modulus == modulus);
        match (found, self.coefficients.as_slice()) {
            (Some(l), _) => Ok(l.value),
            (None, [only]) => Ok(e.ops().conv(*only, ModulusId(modulus as u16))?),
            (None, _) => Err(RlweError::Verify("a limb lacks an extension".into())),
        }
    }
}

/// Converts a limb to another modulus: each residue x, an integer from 0 on, becomes x - `half`.
pub(crate) fn centred<P>(
    e: &mut Emit<P>,
    shifted: ValueId,
    half: u64,
    modulus: usize,
) -> Result<ValueId, RlweError> {
    let q = e.reducer(modulus)?;
    let x = e.ops().conv(shifted, ModulusId(modulus as u16))?;
    Ok(e.ops().addi(x, q.neg(q.reduce(half)))?)
}
