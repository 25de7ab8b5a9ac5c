// SPDX-License-Identifier: Apache-2.0
//! Lowers instructions of the torus extension to steps.

use ringmill_isa::mid::{Form, ValueId, ValueType};
use ringmill_math::torus::Gadget;

use super::{Builder, Job};
use crate::DeviceError;

impl Builder<'_> {
    /// Returns the computation of (X^e - 1) a, for a public exponent e and limb `a`, in the form of
    /// the limb: coefficient or evaluation form.
    pub(super) fn rotate_difference(&self, a: u32) -> Result<Job, DeviceError> {
        Ok(match self.limb(a)?.form {
            Form::Coeff => Job::RotateDifference(self.any_modulus(a)?.into()),
            Form::Eval => Job::RotateDifferenceEval(self.modulus(a)?, self.ring(a)?),
        })
    }

    /// Returns the gadget that cuts the residues of value number `v` into `levels` digits of
    /// `log_base` bits.
    pub(super) fn gadget(
        &self,
        v: u32,
        log_base: u8,
        levels: usize,
    ) -> Result<Gadget, DeviceError> {
        let gadget = self.proc.gadget(ValueId(v), log_base, levels);
        gadget.ok_or_else(|| self.malformed("digits that its modulus does not have"))
    }

    /// Returns the number of digits into which an LWE key switch cuts each mask coefficient: the
    /// number of rows of the switching key `k`, divided by the number of mask coefficients of the
    /// vector `x`.
    pub(super) fn levels(&self, x: u32, k: u32) -> Result<usize, DeviceError> {
        match (self.ty(x)?, self.ty(k)?) {
            (ValueType::Lwe(x), ValueType::LweTable(k)) => {
                Ok(k.rows.checked_div(x.dimension.0).unwrap_or(0) as usize)
            }
            _ => Err(self.malformed("a key switch of what is no vector")),
        }
    }
}
