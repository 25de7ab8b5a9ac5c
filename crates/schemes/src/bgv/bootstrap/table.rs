// SPDX-License-Identifier: Apache-2.0
//! The tables of functional bootstrapping, which map each integer modulo p to another.

use ringmill_math::digits::{Plan, PlanCosts, table_plan};

use super::error::BootstrapError;
use super::params::Bootstrapping;
use crate::rlwe::RlweError;
use ringmill_device::ParamsId;

/// A function from the integers modulo p to themselves, for functional bootstrapping. It is kept as a polynomial of
/// degree at most p - 1 that a bootstrap evaluates.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    params_id: ParamsId,
    plan: Plan,
}

impl Table {
    /// Makes a table from the function's values at 0, 1, ..., p - 1.
    ///
    /// # Errors
    /// Fails for messages modulo p^r with r > 1, a number of values other than p, values of p or more, or a constant
    /// function.
    pub fn new(setup: &Bootstrapping, values: &[u64]) -> Result<Self, BootstrapError> {
        let params = setup.params();
        let power = params.prime_power()?;
        let refused = |what, expected: &str, got| {
            let expected = expected.to_owned();
            BootstrapError::from(RlweError::Parameter {
                what,
                expected,
                got,
            })
        };
        if power.exponent() != 1 {
            let got = format!("{}^{}", power.prime(), power.exponent());
            return Err(refused(
                "the plaintext modulus of a table",
                "a prime p",
                got,
            ));
        }
        let plan = table_plan(power.prime(), values, PlanCosts::default())?;
        if let Some(first) = values.first()
            && values.iter().all(|value| value == first)
        {
            let expected = "two different values at least: of one, encrypt it";
            return Err(refused("a table", expected, format!("{first} everywhere")));
        }
        Ok(Self {
            params_id: *params.id(),
            plan,
        })
    }

    pub(super) fn params_id(&self) -> &ParamsId {
        &self.params_id
    }

    /// Returns the plan that evaluates the table's polynomial.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}
