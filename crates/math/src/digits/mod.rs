// SPDX-License-Identifier: Apache-2.0
//! Functions of the digits of an integer modulo p^e, as polynomials, and plans to evaluate these polynomials on
//! ciphertexts. This is plain algebra; no ciphertext occurs.
//!
//! | function | is |
//! | --- | --- |
//! | [`LowDigit::retain`], [`LowDigit::remove`] | the lowest digit of x, and x less it |
//! | [`LowDigit::function`] | any function of the lowest digit, with values modulo p^e |
//! | [`DigitRemoval`] | x rounded to a multiple of p^v, over p^v: a bootstrap's last step |
//! | [`table_plan`] | any table on the integers modulo p: functional bootstrapping |
//! | [`sign_table`], [`combine_signs_plan`] | signs, for comparisons |
//!
//! Digits are balanced: from -(p - 1) / 2 to (p - 1) / 2. A [`Plan`] is a list of steps. Each step is a sum of products
//! that is relinearised once. [`PlanCosts`] choose the plan among the layouts that the planner tries, with the same
//! choice on every computer.

mod error;
mod evaluation;
mod local;
mod plan;
mod powers;
mod removal;
mod table;

pub use error::DigitError;
pub use plan::{Plan, PlanCosts, PlanCount, Step, Value};
pub use removal::{DigitRemoval, LowDigit, Method, Round};
pub use table::{combine_signs_plan, sign_table, table_plan, table_polynomial};
