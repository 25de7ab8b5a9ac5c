// SPDX-License-Identifier: Apache-2.0
//! Functional bootstrapping: tables of what becomes of an integer modulo p.

use ringmill_math::digits::{Plan, PlanCosts, table_plan};

use super::error::BootstrapError;
use super::params::Bootstrapping;
use crate::rlwe::RlweError;
use ringmill_device::ParamsId;

/// A function from the integers modulo p to themselves: a polynomial of degree p - 1 at most.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    params_id: ParamsId,
    plan: Plan,
}

impl Table {
    /// `values` are those at 0, 1, ..., p - 1.
    ///
    /// # Errors
    /// Messages modulo p^r with r > 1; other than p values; values from p on; one value everywhere.
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

    /// The polynomial's evaluation.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}
