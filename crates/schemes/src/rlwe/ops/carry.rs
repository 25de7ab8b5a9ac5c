// SPDX-License-Identifier: Apache-2.0
//! Converts limbs to other moduli by the fast base extension.

use ringmill_isa::mid::{ModulusId, ValueId};

use super::emit::{Emit, Limb};
use crate::rlwe::error::RlweError;

/// A polynomial x by its residues modulo several moduli of product D, in coefficient form, with its residues modulo
/// other moduli as a procedure needs them.
///
/// From one modulus, the representative of x in [0, D) is reduced modulo the others, as in SEAL. From k moduli, the
/// fast base extension computes x + u D with 0 <= u < k modulo the others.
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

    /// Emits the limbs modulo the moduli of indices `to`, all by one instruction, if the polynomial is given modulo
    /// several moduli. If it is given modulo one, this method emits nothing, and [`Self::modulo`] emits each limb when
    /// it is needed.
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

    /// Returns the polynomial's limb modulo the modulus of index `modulus`, in coefficient form. If the polynomial is
    /// given modulo one modulus, each call emits a conversion. Otherwise it fails unless [`Self::extend`] has emitted
    /// the limb.
    pub fn modulo<P>(&self, e: &mut Emit<P>, modulus: usize) -> Result<ValueId, RlweError> {
        let found = self.extended.iter().find(|l| l.modulus == modulus);
        match (found, self.coefficients.as_slice()) {
            (Some(l), _) => Ok(l.value),
            (None, [only]) => Ok(e.ops().conv(*only, ModulusId(modulus as u16))?),
            (None, _) => Err(RlweError::Verify("a limb lacks an extension".into())),
        }
    }
}

/// Emits x - `half` modulo the modulus of index `modulus`, for each residue x of the limb `shifted`. x counts as an
/// integer that is not negative.
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
