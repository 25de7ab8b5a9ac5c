// SPDX-License-Identifier: Apache-2.0
//! Emits the steps of a thin bootstrap in order. Their levels follow from noise bounds.

use ringmill_isa::macros::{MacroImm, MacroOp, MacroType};

use super::bootstrapper::{Bootstrapper, Step};
use super::emit::{Emitted, Emitter};
use super::error::BootstrapError;
use super::maps::MapNumber;
use super::plan;
use crate::bgv::{ExactParams, Factor};

impl Bootstrapper {
    /// Emits a whole thin bootstrap, of integers in slots.
    pub(super) fn thin(
        &self,
        e: &Emitter<'_>,
        operand: Emitted,
    ) -> Result<Emitted, BootstrapError> {
        let (raised, outer) = self.to_raised(e, operand)?;
        let mut value = e.map(raised, (MapNumber::Trace, &self.maps.trace), false)?;
        e.stage_done(Step::Trace, value);
        value = e.map(value, (MapNumber::ToSlots, &self.maps.to_slots), false)?;
        e.stage_done(Step::ToSlots, value);
        let value = self.without_digits(e, value, outer)?;
        e.stage_done(Step::RemoveDigits, value);
        Ok(value)
    }

    /// Emits the first half of a bootstrap, up to the raising of the modulus. After it, the noise that the operand
    /// had does not matter. Also returns the factor by which the message is multiplied in the result.
    pub(super) fn to_raised(
        &self,
        e: &Emitter<'_>,
        operand: Emitted,
    ) -> Result<(Emitted, Factor), BootstrapError> {
        let map = (MapNumber::ToCoefficients, &self.maps.to_coefficients);
        let value = e.map(e.down(operand, self.start)?, map, true)?;
        e.stage_done(Step::ToCoefficients, value);
        self.refreshed(e, value)
    }

    /// Emits the part of a bootstrap from coefficients to the raised modulus. The result is an encryption modulo
    /// p^e at the highest level of p^(e-r) m + rho in every coefficient. Here m is the message modulo p^r, and rho
    /// the quotient by the inner modulus. Also returns the factor by which the operand's message is multiplied in
    /// m.
    pub(super) fn refreshed(
        &self,
        e: &Emitter<'_>,
        value: Emitted,
    ) -> Result<(Emitted, Factor), BootstrapError> {
        let inner = self.setup.inner();
        let value = e.down(value, inner)?;
        if value.level != inner {
            let step = "slots to coefficients";
            let level = value.level;
            return Err(BootstrapError::NoRoom { step, level });
        }
        let value = self.encapsulated(e, value)?;
        self.setup.check(value.noise)?;
        e.stage_done(Step::Encapsulate, value);
        let (value, outer) = self.raised(e, value)?;
        e.stage_done(Step::Raise, value);
        Ok((value, outer))
    }

    /// Emits the removal of digits. The slots of `value` hold integers modulo p^e whose low digits are rho, the
    /// quotient by the inner modulus. The slots of the result hold the messages modulo p^r. `outer` is the factor by
    /// which the integers above rho are multiplied. The result's correction factor is `outer` times the factor that the
    /// removal leaves.
    pub(super) fn without_digits(
        &self,
        e: &Emitter<'_>,
        mut value: Emitted,
        outer: Factor,
    ) -> Result<Emitted, BootstrapError> {
        let p = e.params.prime_power()?.prime();
        for round in self.removal.rounds() {
            value = e.divide(plan::run(e, &round.plan, &[value])?, p)?;
        }
        let factor = value
            .factor
            .times(outer, e.params.plain_modulus().reducer());
        e.check("a bootstrap", e.taken_for(value, factor))
    }

    fn encapsulated(&self, e: &Emitter<'_>, a: Emitted) -> Result<Emitted, BootstrapError> {
        let noise = e.model(a.factor)?;
        let noise = noise.encapsulate(a.noise, a.level, self.setup.weight());
        let made = (a.level, a.factor, noise);
        Ok(e.step(MacroOp::Encapsulate, &[a], MacroImm::None, made))
    }

    /// Emits the raising of the modulus, whose result is an encryption modulo p^e of correction factor 1. Its message
    /// is p^(e-r) m + rho, for a message m modulo p^r and the quotient rho by the inner modulus q. Also returns f / q,
    /// the factor by which m is then multiplied, where f is the operand's correction factor.
    fn raised(&self, e: &Emitter<'_>, a: Emitted) -> Result<(Emitted, Factor), BootstrapError> {
        let params = e.params;
        let t = params.plain_modulus().reducer();
        let mut outer = a.factor;
        for &q in params.moduli().iter().take(a.level.primes()) {
            outer = outer.over(q, t)?;
        }
        let (level, factor) = (params.max_level(), Factor::one_modulo(params.last_plain()));
        let at = Emitted::at(level, factor);
        let secret = e.with(|code| code.secret(MacroType::Key { at }));
        let noise = e.model(factor)?.raised(self.setup.weight());
        let operands = vec![a.value, secret];
        let made = (level, factor, noise);
        Ok((
            e.step_of(MacroOp::Raise, operands, MacroImm::None, made),
            outer,
        ))
    }
}
