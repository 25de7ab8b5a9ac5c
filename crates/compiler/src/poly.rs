//! Polynomials of a ciphertext at the smallest depth: degree d takes `ceil(log2(d + 1))` levels, coefficients included.
//!
//! Baby-step giant-step after Paterson and Stockmeyer, with a budget of levels handed down: `P = Q x^(2^k) + R`, where `R`
//! may use the whole budget and `Q` one level less. A part becomes a sum of constants times powers as soon as all its
//! powers fit the budget, so coefficients cost no level of their own. How many baby powers are worth computing is decided
//! by counting the products of each choice; zero coefficients cost nothing (an odd polynomial needs odd powers only).

use std::collections::BTreeMap;

use ringmill_isa::source::SourceLoc;

use crate::builder::{TraceBuilder, TraceError, Traced};
use crate::error::At;

/// Depth of x^j as products of smaller powers.
fn power_depth(j: usize) -> u32 {
    j.max(1).next_power_of_two().trailing_zeros()
}

/// One way to evaluate a polynomial: baby powers are those below `2^baby_bits`; giants are powers of two.
#[derive(Clone, Copy)]
struct Plan {
    baby_bits: u32,
}

impl Plan {
    /// Whether a constant times x^j may stand in a sum that must fit `budget` levels.
    fn allows(self, j: usize, budget: u32) -> bool {
        j == 0 || ((j >> self.baby_bits == 0 || j.is_power_of_two()) && power_depth(j) < budget)
    }

    /// The exponent at which to split `p`, or `None` if it is a plain sum.
    fn split(self, p: &[f64], budget: u32) -> Option<usize> {
        let fits = p
            .iter()
            .enumerate()
            .all(|(j, &c)| c == 0.0 || self.allows(j, budget));
        if fits {
            None
        } else {
            Some(p.len().next_power_of_two() / 2)
        }
    }

    /// Products that evaluating `p` takes, its powers aside, which are added to `powers`.
    fn products(self, p: &[f64], budget: u32, powers: &mut BTreeMap<usize, ()>) -> usize {
        let p = trimmed(p);
        match self.split(p, budget) {
            None => {
                p.iter()
                    .enumerate()
                    .filter(|&(j, &c)| j > 1 && c != 0.0)
                    .for_each(|(j, _)| need_power(j, powers));
                0
            }
            Some(at) => {
                need_power(at, powers);
                let (low, high) = p.split_at(at);
                1 + self.products(high, budget.saturating_sub(1), powers)
                    + self.products(low, budget, powers)
            }
        }
    }

    fn cost(self, p: &[f64], budget: u32) -> usize {
        let mut powers = BTreeMap::new();
        self.products(p, budget, &mut powers) + powers.len()
    }
}

/// x^j is the product of these two powers.
fn factors(j: usize) -> (usize, usize) {
    let high = j.next_power_of_two() / 2;
    (high, j - high)
}

fn need_power(j: usize, powers: &mut BTreeMap<usize, ()>) {
    if j > 1 && powers.insert(j, ()).is_none() {
        let (high, low) = factors(j);
        need_power(high, powers);
        need_power(low, powers);
    }
}

/// Without leading zero coefficients.
fn trimmed(p: &[f64]) -> &[f64] {
    let len = p.iter().rposition(|&c| c != 0.0).map_or(0, |last| last + 1);
    p.split_at(len).0
}

impl TraceBuilder {
    /// `coefficients[0] + coefficients[1] x + coefficients[2] x^2 + ...` in every slot of `x`.
    ///
    /// # Errors
    /// [`TraceError::NoCoefficients`], [`TraceError::NotFinite`]; [`TraceError::PlainArithmetic`] on a plain input.
    pub fn polynomial(
        &mut self,
        x: Traced,
        coefficients: &[f64],
        loc: Option<SourceLoc>,
    ) -> Result<Traced, TraceError> {
        if coefficients.is_empty() {
            return Err(TraceError::NoCoefficients { at: At(loc) });
        }
        if let Some(index) = coefficients.iter().position(|c| !c.is_finite()) {
            return Err(TraceError::NotFinite {
                at: At(loc),
                index,
                value: coefficients[index],
            });
        }
        let p = trimmed(coefficients);
        let budget = p.len().max(1).next_power_of_two().trailing_zeros();
        let plan = (1..=budget.max(1))
            .map(|baby_bits| Plan { baby_bits })
            .min_by_key(|plan| plan.cost(p, budget))
            .unwrap_or(Plan { baby_bits: 1 });
        let mut evaluation = Evaluation {
            trace: self,
            plan,
            powers: BTreeMap::from([(1, x)]),
            loc: &loc,
        };
        match evaluation.part(p, budget)? {
            Some(result) => Ok(result),
            None => self.scalar(0.0, loc),
        }
    }
}

struct Evaluation<'a> {
    trace: &'a mut TraceBuilder,
    plan: Plan,
    powers: BTreeMap<usize, Traced>,
    loc: &'a Option<SourceLoc>,
}

impl Evaluation<'_> {
    fn power(&mut self, j: usize) -> Result<Traced, TraceError> {
        if let Some(&known) = self.powers.get(&j) {
            return Ok(known);
        }
        let (high, low) = factors(j);
        let (a, b) = (self.power(high)?, self.power(low)?);
        let product = if high == low {
            self.trace.square(a, self.loc.clone())?
        } else {
            self.trace.mul(a, b, self.loc.clone())?
        };
        self.powers.insert(j, product);
        Ok(product)
    }

    /// `p` evaluated within `budget` levels; `None` for zero. Recursion is as deep as the degree has bits.
    fn part(&mut self, p: &[f64], budget: u32) -> Result<Option<Traced>, TraceError> {
        let p = trimmed(p);
        let Some(at) = self.plan.split(p, budget) else {
            return self.sum(p);
        };
        let (low, high) = p.split_at(at);
        let giant = self.power(at)?;
        let product = match self.part(high, budget.saturating_sub(1))? {
            Some(high) => self.trace.mul(high, giant, self.loc.clone())?,
            None => return self.part(low, budget),
        };
        match self.part(low, budget)? {
            Some(low) => Ok(Some(self.trace.add(product, low, self.loc.clone())?)),
            None => Ok(Some(product)),
        }
    }

    /// A sum of constants times powers.
    fn sum(&mut self, p: &[f64]) -> Result<Option<Traced>, TraceError> {
        let mut sum: Option<Traced> = None;
        for (j, &c) in p.iter().enumerate().rev().filter(|&(_, &c)| c != 0.0) {
            let coefficient = self.trace.scalar(c, self.loc.clone())?;
            let term = if j == 0 {
                coefficient
            } else {
                let power = self.power(j)?;
                if c == 1.0 {
                    power
                } else {
                    self.trace.mul(power, coefficient, self.loc.clone())?
                }
            };
            sum = Some(match sum {
                Some(sum) => self.trace.add(sum, term, self.loc.clone())?,
                None => term,
            });
        }
        Ok(sum)
    }
}
