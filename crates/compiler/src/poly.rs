// SPDX-License-Identifier: Apache-2.0
//! Evaluates polynomials of a ciphertext at the smallest depth: degree d takes `ceil(log2(d + 1))` levels, coefficients
//! included.
//!
//! The method is baby-step giant-step after Paterson and Stockmeyer, with a budget of levels. It splits `P = Q
//! x^(2^k) + R`, where `R` may use the whole budget and `Q` one level less. A part becomes a sum of constants times
//! powers as soon as all its powers fit the budget, so coefficients take no level of their own. The number of baby
//! powers is chosen by counting the products of each choice. Zero coefficients cost nothing: an odd polynomial needs
//! odd powers only.

use std::collections::BTreeMap;

/// A coefficient of a polynomial: a number that can be compared with 0 and 1, for which no product is needed.
pub(crate) trait Coefficient: Copy + PartialEq + From<u8> {}

impl<C: Copy + PartialEq + From<u8>> Coefficient for C {}

/// The operations on ciphertexts that evaluating a polynomial emits.
pub(crate) trait Arithmetic {
    type Value: Copy;
    type Coefficient: Coefficient;
    type Error;

    fn constant(&mut self, c: Self::Coefficient) -> Result<Self::Value, Self::Error>;
    /// Emits `x` times a constant that is neither 0 nor 1.
    fn scaled(&mut self, x: Self::Value, c: Self::Coefficient) -> Result<Self::Value, Self::Error>;
    fn square(&mut self, x: Self::Value) -> Result<Self::Value, Self::Error>;
    fn product(&mut self, x: Self::Value, y: Self::Value) -> Result<Self::Value, Self::Error>;
    fn sum(&mut self, x: Self::Value, y: Self::Value) -> Result<Self::Value, Self::Error>;
}

/// Emits the value of `coefficients[0] + coefficients[1] x + coefficients[2] x^2 + ...`. Returns `None` for the zero
/// polynomial.
///
/// # Errors
/// Returns the errors of `out`.
pub(crate) fn evaluate<A: Arithmetic>(
    out: &mut A,
    x: A::Value,
    coefficients: &[A::Coefficient],
) -> Result<Option<A::Value>, A::Error> {
    let p = trimmed(coefficients);
    let budget = depth(p);
    let plan = Plan::of(p);
    let powers = BTreeMap::from([(1, x)]);
    Evaluation { out, plan, powers }.part(p, budget)
}

/// Returns the number of ciphertext products that evaluating a polynomial with these coefficients takes.
pub(crate) fn products<C: Coefficient>(coefficients: &[C]) -> usize {
    let p = trimmed(coefficients);
    Plan::of(p).cost(p, depth(p))
}

/// Returns the number of levels that a polynomial takes, given its coefficients without leading zeros.
pub(crate) fn depth<C>(trimmed: &[C]) -> u32 {
    trimmed.len().max(1).next_power_of_two().trailing_zeros()
}

/// Returns the depth of x^j as a product of smaller powers.
fn power_depth(j: usize) -> u32 {
    j.max(1).next_power_of_two().trailing_zeros()
}

/// A way to evaluate a polynomial. Baby powers are those below `2^baby_bits`; giant powers are powers of two.
#[derive(Clone, Copy)]
struct Plan {
    baby_bits: u32,
}

impl Plan {
    /// Returns the plan with the fewest products for a polynomial.
    fn of<C: Coefficient>(p: &[C]) -> Self {
        let budget = depth(p);
        (1..=budget.max(1))
            .map(|baby_bits| Self { baby_bits })
            .min_by_key(|plan| plan.cost(p, budget))
            .unwrap_or(Self { baby_bits: 1 })
    }

    /// Returns whether a constant times x^j may stand in a sum that must fit `budget` levels.
    fn allows(self, j: usize, budget: u32) -> bool {
        j == 0 || ((j >> self.baby_bits == 0 || j.is_power_of_two()) && power_depth(j) < budget)
    }

    /// Returns the exponent at which to split `p`, or `None` if `p` is evaluated as a plain sum.
    fn split<C: Coefficient>(self, p: &[C], budget: u32) -> Option<usize> {
        let fits = terms(p).all(|(j, _)| self.allows(j, budget));
        if fits {
            None
        } else {
            Some(p.len().next_power_of_two() / 2)
        }
    }

    /// Returns the number of products that evaluating `p` takes without its powers of x, and adds these powers to
    /// `powers`.
    fn products<C: Coefficient>(
        self,
        p: &[C],
        budget: u32,
        powers: &mut BTreeMap<usize, ()>,
    ) -> usize {
        let p = trimmed(p);
        match self.split(p, budget) {
            None => {
                let needed = terms(p).filter(|&(j, _)| j > 1);
                needed.for_each(|(j, _)| need_power(j, powers));
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

    fn cost<C: Coefficient>(self, p: &[C], budget: u32) -> usize {
        let mut powers = BTreeMap::new();
        self.products(p, budget, &mut powers) + powers.len()
    }
}

/// Returns the exponents of two powers whose product is x^j.
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

/// Returns the exponents and coefficients of the terms that are not zero.
fn terms<C: Coefficient>(p: &[C]) -> impl DoubleEndedIterator<Item = (usize, C)> {
    let all = p.iter().copied().enumerate();
    all.filter(|&(_, c)| c != C::from(0))
}

/// Returns the coefficients without leading zeros.
pub(crate) fn trimmed<C: Coefficient>(p: &[C]) -> &[C] {
    let len = p.iter().rposition(|&c| c != C::from(0));
    p.split_at(len.map_or(0, |last| last + 1)).0
}

struct Evaluation<'a, A: Arithmetic> {
    out: &'a mut A,
    plan: Plan,
    powers: BTreeMap<usize, A::Value>,
}

impl<A: Arithmetic> Evaluation<'_, A> {
    fn power(&mut self, j: usize) -> Result<A::Value, A::Error> {
        if let Some(&known) = self.powers.get(&j) {
            return Ok(known);
        }
        let (high, low) = factors(j);
        let (a, b) = (self.power(high)?, self.power(low)?);
        let product = if high == low {
            self.out.square(a)?
        } else {
            self.out.product(a, b)?
        };
        self.powers.insert(j, product);
        Ok(product)
    }

    /// Emits the value of `p` within `budget` levels. Returns `None` for zero. The recursion is as deep as the degree
    /// has bits.
    fn part(&mut self, p: &[A::Coefficient], budget: u32) -> Result<Option<A::Value>, A::Error> {
        let p = trimmed(p);
        let Some(at) = self.plan.split(p, budget) else {
            return self.sum(p);
        };
        let (low, high) = p.split_at(at);
        let giant = self.power(at)?;
        let product = match self.part(high, budget.saturating_sub(1))? {
            Some(high) => self.out.product(high, giant)?,
            None => return self.part(low, budget),
        };
        match self.part(low, budget)? {
            Some(low) => Ok(Some(self.out.sum(product, low)?)),
            None => Ok(Some(product)),
        }
    }

    /// Emits a sum of constants times powers of x.
    fn sum(&mut self, p: &[A::Coefficient]) -> Result<Option<A::Value>, A::Error> {
        let mut sum: Option<A::Value> = None;
        for (j, c) in terms(p).rev() {
            let term = if j == 0 {
                self.out.constant(c)?
            } else {
                let power = self.power(j)?;
                if c == A::Coefficient::from(1) {
                    power
                } else {
                    self.out.scaled(power, c)?
                }
            };
            sum = Some(match sum {
                Some(sum) => self.out.sum(sum, term)?,
                None => term,
            });
        }
        Ok(sum)
    }
}
