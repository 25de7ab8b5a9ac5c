// SPDX-License-Identifier: Apache-2.0
//! Operations on digits of integers modulo p^r in a traced program, for parameters that bootstrap. They round, compare
//! and look up tables.

use ringmill_isa::macros::{MacroImm, TracedOp};
use ringmill_isa::source::SourceLoc;
use ringmill_math::digits::{LowDigit, Plan, PlanCosts};

use super::node::Sort;
use super::{TraceBuilder, TraceError, Traced};
use crate::line::At;

/// The prime p and the exponent r of a plaintext modulus p^r.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Power {
    pub prime: u64,
    pub exponent: u32,
}

/// Returns the values of a function at all lowest digits to base p, from the least digit on, for a plaintext modulus
/// p^r. Returns no values for a p that is too large for [`TraceBuilder::digit_table`].
fn table(power: Power, value: impl Fn(i64) -> i64) -> Vec<i64> {
    let half = (power.prime / 2) as i64;
    match half <= LowDigit::MAX_BOUND as i64 {
        true => (-half..=half).map(value).collect(),
        false => Vec::new(),
    }
}

impl TraceBuilder {
    /// Divides every slot by `by`, of which each slot must be a multiple. For the plaintext modulus t, the result is
    /// known only modulo t / `by`, and so is anything computed from it. A product with `by` is known modulo t again.
    /// [`compile`](crate::compile) takes only a `by` that divides t and is neither 1 nor t, and only in BGV.
    ///
    /// # Errors
    /// [`TraceError::PlainArithmetic`] for a value that is not encrypted, [`TraceError::TooLong`].
    pub fn quotient(
        &mut self,
        a: Traced,
        by: u64,
        loc: Option<SourceLoc>,
    ) -> Result<Traced, TraceError> {
        match self.sort(a, &loc)? {
            Sort::Cipher(v) => {
                let by = MacroImm::Integer(by.into());
                self.cipher(TracedOp::Quotient, vec![v], by, loc)
            }
            Sort::PlainInput(_) | Sort::Constant | Sort::Scalar(_) => {
                Err(TraceError::PlainArithmetic {
                    at: At(loc),
                    operation: "a quotient",
                })
            }
        }
    }

    /// Computes a function of the lowest digit to base p of every slot, for a plaintext modulus p^r. The digit is from
    /// -(p - 1) / 2 to (p - 1) / 2, and `values` are the function's values there in order. The slots may hold anything
    /// above that digit, elements of the slot ring too.
    ///
    /// # Errors
    /// [`TraceError::Digits`] for a p that is no odd prime or too large, or for a table of another length. Fails like
    /// [`TraceBuilder::quotient`] too.
    pub fn digit_table(
        &mut self,
        a: Traced,
        power: Power,
        values: &[i64],
        loc: Option<SourceLoc>,
    ) -> Result<Traced, TraceError> {
        let Power { prime, exponent } = power;
        let plan = LowDigit::any(prime, exponent).and_then(|digit| {
            let q = digit.modulus();
            let values: Vec<u64> = values.iter().map(|&v| q.from_i64(v)).collect();
            digit.function_plan(&values, PlanCosts::default())
        });
        let plan = plan.map_err(|error| TraceError::Digits {
            at: At(loc.clone()),
            error,
        })?;
        self.planned(&plan, a, &loc)
    }

    /// Returns the lowest digit to base p of every slot, for a plaintext modulus p^r:
    /// [`TraceBuilder::digit_table`] of the identity.
    ///
    /// # Errors
    /// Those of [`TraceBuilder::digit_table`].
    pub fn low_digit(
        &mut self,
        a: Traced,
        power: Power,
        loc: Option<SourceLoc>,
    ) -> Result<Traced, TraceError> {
        self.digit_table(a, power, &table(power, |digit| digit), loc)
    }

    /// Returns the sign, -1, 0 or 1, of every slot's integer, which has `digits` balanced digits to
    /// base p, for a plaintext modulus p^r. The sign is that of the highest digit that is not 0
    /// (the improved sign extraction of the BASALISC paper, section 8.3.2, exact for every number).
    /// The sign of a - b compares a with b.
    ///
    /// # Errors
    /// Those of [`TraceBuilder::digit_table`].
    pub fn sign(
        &mut self,
        a: Traced,
        power: Power,
        digits: u32,
        loc: Option<SourceLoc>,
    ) -> Result<Traced, TraceError> {
        let values = table(power, i64::signum);
        let mut rest = a;
        let mut sign = self.digit_table(rest, power, &values, loc.clone())?;
        for _ in 1..digits {
            rest = self.shifted(rest, power, &loc)?;
            // The sign of the lower digits counts if this digit is 0: s + (1 - s^2) sign, for the sign s of this digit.
            let own = self.digit_table(rest, power, &values, loc.clone())?;
            let square = self.square(own, loc.clone())?;
            let decided = self.mul(square, sign, loc.clone())?;
            let undecided = self.sub(sign, decided, loc.clone())?;
            sign = self.add(own, undecided, loc.clone())?;
        }
        Ok(sign)
    }

    /// Divides every slot's integer, which has `digits` balanced digits to base p, by p^`by` and rounds to nearest. The
    /// plaintext modulus is p^r. The result has the digits from number `by` on, where the lowest digit is number 0,
    /// again modulo p^r. This is the data scaling of the older bootstrapping in the BASALISC paper, section 8.3.2.
    ///
    /// # Errors
    /// Those of [`TraceBuilder::digit_table`].
    pub fn scaled(
        &mut self,
        a: Traced,
        power: Power,
        by: u32,
        digits: u32,
        loc: Option<SourceLoc>,
    ) -> Result<Traced, TraceError> {
        let mut rest = a;
        for _ in 0..by {
            rest = self.shifted(rest, power, &loc)?;
        }
        let (mut sum, mut weight) = (None, 1);
        for place in by..digits.max(by + 1) {
            let digit = self.low_digit(rest, power, loc.clone())?;
            let term = self.times(digit, weight, &loc)?;
            sum = Some(self.summed(sum, term, &loc)?);
            if place + 1 < digits {
                let above = self.sub(rest, digit, loc.clone())?;
                rest = self.quotient(above, power.prime, loc.clone())?;
                weight = weight.wrapping_mul(power.prime as i64);
            }
        }
        Ok(sum.unwrap_or(rest))
    }

    /// Subtracts from every slot's integer its lowest digit to base p, for a plaintext modulus p^r,
    /// and divides the difference by p.
    fn shifted(
        &mut self,
        a: Traced,
        power: Power,
        loc: &Option<SourceLoc>,
    ) -> Result<Traced, TraceError> {
        let low = self.low_digit(a, power, loc.clone())?;
        let rest = self.sub(a, low, loc.clone())?;
        self.quotient(rest, power.prime, loc.clone())
    }

    /// Emits the products and sums of a polynomial's evaluation plan, at the encrypted vector `x`.
    fn planned(
        &mut self,
        plan: &Plan,
        x: Traced,
        loc: &Option<SourceLoc>,
    ) -> Result<Traced, TraceError> {
        if !matches!(self.sort(x, loc)?, Sort::Cipher(_)) {
            return Err(TraceError::PlainArithmetic {
                at: At(loc.clone()),
                operation: "a function of digits",
            });
        }
        let mut values = vec![x; plan.inputs()];
        for step in plan.steps() {
            let value = |v: &ringmill_math::digits::Value| values.get(v.index()).copied();
            let mut sum: Option<Traced> = None;
            for [a, b] in &step.products {
                let (Some(a), Some(b)) = (value(a), value(b)) else {
                    continue;
                };
                let product = match a == b {
                    true => self.square(a, loc.clone())?,
                    false => self.mul(a, b, loc.clone())?,
                };
                sum = Some(self.summed(sum, product, loc)?);
            }
            for (c, v) in &step.linear {
                let Some(v) = value(v) else { continue };
                let term = self.times(v, *c, loc)?;
                sum = Some(self.summed(sum, term, loc)?);
            }
            let mut sum = match sum {
                Some(sum) => sum,
                None => self.times(x, 0, loc)?,
            };
            if step.constant != 0
                && let Sort::Cipher(v) = self.sort(sum, loc)?
            {
                let constant = MacroImm::Integer(step.constant.into());
                sum = self.cipher(TracedOp::Addc, vec![v], constant, loc.clone())?;
            }
            values.push(sum);
        }
        Ok(values.get(plan.output().index()).copied().unwrap_or(x))
    }

    fn summed(
        &mut self,
        sum: Option<Traced>,
        term: Traced,
        loc: &Option<SourceLoc>,
    ) -> Result<Traced, TraceError> {
        match sum {
            Some(sum) => self.add(sum, term, loc.clone()),
            None => Ok(term),
        }
    }

    fn times(&mut self, a: Traced, by: i64, loc: &Option<SourceLoc>) -> Result<Traced, TraceError> {
        match (by, self.sort(a, loc)?) {
            (1, _) => Ok(a),
            (-1, _) => self.neg(a, loc.clone()),
            (by, Sort::Cipher(v)) => {
                let by = MacroImm::Integer(by.into());
                self.cipher(TracedOp::Mulc, vec![v], by, loc.clone())
            }
            (_, Sort::PlainInput(_) | Sort::Constant | Sort::Scalar(_)) => Ok(a),
        }
    }
}
