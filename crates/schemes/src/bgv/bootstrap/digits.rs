// SPDX-License-Identifier: Apache-2.0
//! Digits of what a bootstrap gives: data scaling while bootstrapping, and signs.

use ringmill_math::digits::{LowDigit, Plan, PlanCosts, combine_signs_plan};

use super::bootstrapper::Bootstrapper;
use super::error::BootstrapError;
use super::keys::BootstrapKeys;
use super::layout::malformed;
use super::plan;
use super::value::Value;
use crate::bgv::PrimePower;
use crate::rlwe::RlweError;

impl Bootstrapper {
    /// The same integers over p^k to the nearest, bootstrapped and scaled at once: k digits are removed above those that the noise has
    /// (the older variant of bootstrapping in the vector paper, section 8.3.2, which rounds fixed-point numbers).
    ///
    /// The plaintext modulus stays p^r, and a quotient by p^k is known modulo p^(r-k): above that the slots hold no integers. Its digits,
    /// tables of them and its multiples by p^k are what it is; an encoder of r - k digits decodes it modulo p^(r-k).
    ///
    /// # Errors
    /// As [`Bootstrapper::bootstrap`]; k from r on.
    pub fn bootstrap_scaled(
        &self,
        value: &Value,
        k: u32,
        keys: &BootstrapKeys,
    ) -> Result<Value, BootstrapError> {
        let power = self.setup().params().prime_power()?;
        if k >= power.exponent() {
            let (p, r) = (power.prime(), power.exponent());
            return Err(BootstrapError::Bgv(
                RlweError::Parameter {
                    what: "number of digits to scale by",
                    expected: format!("below {r}, the digits of integers modulo {p}^{r}"),
                    got: k.to_string(),
                }
                .into(),
            ));
        }
        let mut scaled = self.bootstrap(value, keys)?;
        for removed in 0..k {
            scaled = self.shifted(&scaled, power, removed, keys)?;
        }
        self.checked("scaling", scaled)
    }

    /// The sign of the integer in each slot, about zero: -1, 0 or 1, exact for every integer modulo p^r. It is that of the highest digit
    /// that is not 0: a table of each digit's, put together. Of a - b it compares a with b, where these differ by less than p^r / 2.
    ///
    /// Where the levels above one bootstrap are too few for all digits, there are bootstraps between them.
    ///
    /// # Errors
    /// As [`Bootstrapper::bootstrap`].
    pub fn bootstrap_sign(
        &self,
        value: &Value,
        keys: &BootstrapKeys,
    ) -> Result<Value, BootstrapError> {
        let power = self.setup().params().prime_power()?;
        let table = sign_plan(power)?;
        let mut rest = self.bootstrap(value, keys)?;
        let mut sign = self.planned(&table, vec![rest.clone()], keys)?;
        for place in 1..power.exponent() {
            rest = self.shifted(&rest, power, place - 1, keys)?;
            let own = self.planned(&table, vec![rest.clone()], keys)?;
            // Lowest first.
            sign = self.planned(&combine_signs_plan(2), vec![sign, own], keys)?;
        }
        self.checked("a sign", sign)
    }

    /// Refuses a value that may be lost.
    fn checked(&self, step: &'static str, value: Value) -> Result<Value, BootstrapError> {
        let emitter = self.emitter();
        emitter.check_room(step, value.noise, value.level(), value.factor())?;
        Ok(value)
    }

    /// The integers less their lowest digits, over p, where they are known modulo p^(r - `removed`).
    fn shifted(
        &self,
        value: &Value,
        power: PrimePower,
        removed: u32,
        keys: &BootstrapKeys,
    ) -> Result<Value, BootstrapError> {
        // Modulo a lower power the polynomial is shorter, and p divides what it gives all the same.
        let exponent = power.exponent().saturating_sub(removed).max(1);
        let plan = LowDigit::any(power.prime(), exponent)?.plan(PlanCosts::default())?;
        let rest = self.planned(&plan, vec![value.clone()], keys)?;
        self.ran(&[&rest], keys, |e, inputs| {
            let rest = inputs.first().copied().ok_or_else(malformed)?;
            e.quotient(rest, power.prime())
        })
    }

    /// A plan's value, from where it can be bootstrapped; of inputs that are bootstrapped first where they have no room for it.
    fn planned(
        &self,
        plan: &Plan,
        inputs: Vec<Value>,
        keys: &BootstrapKeys,
    ) -> Result<Value, BootstrapError> {
        let given: Vec<&Value> = inputs.iter().collect();
        match self.emitted(&given, |e, inputs| plan::run(e, plan, inputs)) {
            Ok(steps) if steps.result().level >= self.start() => return self.execute(steps, keys),
            Ok(_) | Err(BootstrapError::NoRoom { .. }) => {}
            Err(other) => return Err(other),
        }
        let fresh = inputs.iter().map(|input| self.bootstrap(input, keys));
        let fresh = fresh.collect::<Result<Vec<_>, _>>()?;
        let fresh: Vec<&Value> = fresh.iter().collect();
        self.ran(&fresh, keys, |e, inputs| plan::run(e, plan, inputs))
    }
}

/// The sign of the lowest digit, modulo p^r.
fn sign_plan(power: PrimePower) -> Result<Plan, BootstrapError> {
    let digit = LowDigit::any(power.prime(), power.exponent())?;
    let (half, q) = (digit.bound() as i64, digit.modulus());
    let signs: Vec<u64> = (-half..=half).map(|b| q.from_i64(b.signum())).collect();
    Ok(digit.function_plan(&signs, PlanCosts::default())?)
}
