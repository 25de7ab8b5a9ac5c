// SPDX-License-Identifier: Apache-2.0
//! Plans the evaluation of any function of an integer modulo p (for functional bootstrapping), and
//! of signs (for comparisons).

use super::error::DigitError;
use super::evaluation::plan_polynomial;
use super::local::Local;
use super::plan::{Builder, Plan, PlanCosts, Step};
use super::removal::{check_length, power_of_odd_prime};

/// Returns the plan that is the cheapest by `costs` to evaluate the polynomial of degree below p that takes each x
/// modulo p to `table[x]`.
///
/// # Errors
/// Fails unless p is an odd prime up to 65537, the table has p entries, and its values are below p.
pub fn table_plan(p: u64, table: &[u64], costs: PlanCosts) -> Result<Plan, DigitError> {
    Ok(plan_polynomial(&table_polynomial(p, table)?, costs))
}

/// Returns the coefficients, nearest to 0, of the polynomial of degree below p that takes each x modulo p to `table[x]`.
///
/// # Errors
/// The errors of [`table_plan`].
pub fn table_polynomial(p: u64, table: &[u64]) -> Result<Vec<i64>, DigitError> {
    let q = power_of_odd_prime(p, 1)?;
    check_length(p)?;
    if table.len() as u64 != p {
        return Err(DigitError::Table {
            p,
            expected: p,
            got: table.len(),
        });
    }
    if let Some(&got) = table.iter().find(|&&v| v >= p) {
        return Err(DigitError::Residue { got, modulus: p });
    }
    let local = Local::new(q, p, 1, 0, table.len());
    let polynomial = local.interpolate(table)?;
    Ok(polynomial.iter().map(|&c| q.centred(c)).collect())
}

/// Returns the table of the sign of a digit modulo p: -1, 0 or 1. Digits above p / 2 are negative.
pub fn sign_table(p: u64) -> Vec<u64> {
    let sign = |x: u64| match x {
        0 => 0,
        x if x <= p / 2 => 1,
        _ => p - 1,
    };
    (0..p).map(sign).collect()
}

/// Returns a plan for the sign of a number from the signs of its `digits` digits, lowest first (-1,
/// 0 and 1). The sign is that of the highest digit that is not 0, so it is exact for every number.
/// The highest digit alone is 0 for small numbers.
pub fn combine_signs_plan(digits: u32) -> Plan {
    let mut builder = Builder::new(digits.max(1));
    let mut sign = builder.input(0);
    for i in 1..digits {
        // s + (1 - s^2) rest
        let s = builder.input(i);
        let square = builder.product(s, s);
        let undecided = builder.push(Step {
            linear: vec![(-1, square)],
            constant: 1,
            ..Step::default()
        });
        sign = builder.push(Step {
            products: vec![[undecided, sign]],
            linear: vec![(1, s)],
            constant: 0,
        });
    }
    builder.finish(sign)
}
