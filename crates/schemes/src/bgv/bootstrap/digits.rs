// SPDX-License-Identifier: Apache-2.0
//! Bootstraps that work on digits of the integers in slots: scaling during a bootstrap, and signs.

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
    /// Bootstraps a ciphertext of integers modulo p^r and divides them by p^k, rounded to nearest. It removes k
    /// digits of the message beyond those below the message, which noise fills. It is the older variant of
    /// bootstrapping in the BASALISC paper, section 8.3.2, which rounds fixed-point numbers.
    ///
    /// The plaintext modulus stays p^r, but a quotient by p^k is known modulo p^(r-k) only, and the k highest
    /// digits in a slot are arbitrary. Operations that do not depend on these k digits are valid: a lower digit, a
    /// table of lower digits, a product with p^k. An encoder for r - k digits decodes the result modulo p^(r-k).
    ///
    /// # Errors
    /// The errors of [`Bootstrapper::bootstrap`], and a k that is not below r.
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

    /// Bootstraps a ciphertext to the sign of the centred integer in each slot: -1, 0 or 1, exact for every integer
    /// modulo p^r. It is the sign of the highest digit other than 0, from a table of each digit's sign. The sign of
    /// a - b compares a with b, if they differ by less than p^r / 2.
    ///
    /// If the levels above one bootstrap are too few for all digits, further bootstraps are inserted.
    ///
    /// # Errors
    /// The errors of [`Bootstrapper::bootstrap`].
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
            // The lowest digit comes first.
            sign = self.planned(&combine_signs_plan(2), vec![sign, own], keys)?;
        }
        self.checked("a sign", sign)
    }

    /// Refuses the result of the bootstrap step named `step` if its noise is so large that the message may be lost.
    fn checked(&self, step: &'static str, value: Value) -> Result<Value, BootstrapError> {
        let emitter = self.emitter();
        emitter.check_room(step, value.noise, value.level(), value.factor())?;
        Ok(value)
    }

    /// Returns the integers in slots, each without its lowest digit in base p and then divided by p. `removed` is the
    /// number of digits that were removed before. So the given integers, messages modulo p^r, are known modulo p^(r -
    /// `removed`), and the results modulo one power of p less.
    fn shifted(
        &self,
        value: &Value,
        power: PrimePower,
        removed: u32,
        keys: &BootstrapKeys,
    ) -> Result<Value, BootstrapError> {
        // The polynomial modulo a lower power is shorter, and p still divides its result.
        let exponent = power.exponent().saturating_sub(removed).max(1);
        let plan = LowDigit::any(power.prime(), exponent)?.plan(PlanCosts::default())?;
        let rest = self.planned(&plan, vec![value.clone()], keys)?;
        self.ran(&[&rest], keys, |e, inputs| {
            let rest = inputs.first().copied().ok_or_else(malformed)?;
            e.quotient(rest, power.prime())
        })
    }

    /// Evaluates the plan of a polynomial on ciphertexts. If the result would be below the level from which it can be
    /// bootstrapped, or if its noise would be too large, all inputs are bootstrapped first.
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

/// Returns the plan of the polynomial that computes the sign of an integer's lowest digit in base p, modulo p^r.
fn sign_plan(power: PrimePower) -> Result<Plan, BootstrapError> {
    let digit = LowDigit::any(power.prime(), power.exponent())?;
    let (half, q) = (digit.bound() as i64, digit.modulus());
    let signs: Vec<u64> = (-half..=half).map(|b| q.from_i64(b.signum())).collect();
    Ok(digit.function_plan(&signs, PlanCosts::default())?)
}
