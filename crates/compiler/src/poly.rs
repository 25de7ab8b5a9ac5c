// SPDX-License-Identifier: Apache-2.0
//! Evaluates polynomials of a ciphertext at the smallest depth: degree d takes `ceil(log2(d + 1))` levels, coefficients
//! included.
//!
//! The method is baby-step giant-step after Paterson and Stockmeyer, with a budget of levels. It splits a polynomial as
//! `P = Q x^(2^k) + R`, where `R` may use the whole budget and `Q` one level less. A part becomes a sum of constants
//! times powers as soon as all its powers are baby powers or powers of two and fit the budget, so coefficients take no
//! level of their own. The number of baby powers is chosen by counting the products of each choice. Zero coefficients
//! cost nothing. Of the even powers, an odd polynomial needs only those from which others are made, and those at which
//! it is split.
//!
//! A [`Basis`] says what stands in the place of x^j: the powers themselves, or the Chebyshev polynomials T_j(x). Both
//! bases split polynomials at powers of two, and give the same depths but for a factor of the Chebyshev polynomials
//! ([`Chebyshev`]).

use std::collections::{BTreeMap, BTreeSet};

use ringmill_math::chebyshev::divided;

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

/// Arithmetic that also subtracts.
pub(crate) trait Subtraction: Arithmetic {
    fn difference(&mut self, x: Self::Value, y: Self::Value) -> Result<Self::Value, Self::Error>;
}

/// A sequence of polynomials b_0 = 1, b_1 = x, b_2, ... of which b_j has degree j, with a product rule for b_j.
pub(crate) trait Basis<A: Arithmetic> {
    /// Returns the index of the third basis element from which b_j is computed, besides the two
    /// elements whose product gives b_j. Returns `None` if the product suffices.
    fn beside(&self, j: usize) -> Option<usize>;

    /// Splits a polynomial of degree below 2 `at` into `low + high b_at`, where `at` is a power of two.
    fn split(&self, p: &[A::Coefficient], at: usize) -> (Vec<A::Coefficient>, Vec<A::Coefficient>);

    /// Emits b_j from `product`, the value of the product of its two [`factors`], and from `beside`, the value of the
    /// basis element that [`Self::beside`] names. `beside` is `None` if this element is b_0 = 1, or if [`Self::beside`]
    /// names none.
    fn element(
        &self,
        out: &mut A,
        j: usize,
        product: A::Value,
        beside: Option<A::Value>,
    ) -> Result<A::Value, A::Error>;
}

/// The basis of the powers of x: b_j is x^j.
pub(crate) struct Powers;

impl<A: Arithmetic> Basis<A> for Powers {
    fn beside(&self, _: usize) -> Option<usize> {
        None
    }

    fn split(&self, p: &[A::Coefficient], at: usize) -> (Vec<A::Coefficient>, Vec<A::Coefficient>) {
        let (low, high) = p.split_at(at.min(p.len()));
        (low.to_vec(), high.to_vec())
    }

    fn element(
        &self,
        _: &mut A,
        _: usize,
        product: A::Value,
        _: Option<A::Value>,
    ) -> Result<A::Value, A::Error> {
        Ok(product)
    }
}

/// The Chebyshev polynomials of the first kind, T_j(cos u) = cos(j u), of `scale` times x: b_j is T_j(scale x) for even
/// j, and T_j(scale x) / scale for odd j. So b_1 is x itself. For the indices a and b of [`factors`] the product rule
/// is b_(a + b) = 2 b_a b_b - b_(a - b). For b_2 the factor is 2 `scale`^2 in place of 2. Unless it is an integer or
/// only changes the scale, the product with it takes a level more.
pub(crate) struct Chebyshev {
    pub scale: f64,
}

impl Chebyshev {
    /// Returns the coefficients in this basis of a sum of c_j T_j(scale x).
    pub fn coefficients(&self, c: &[f64]) -> Vec<f64> {
        let terms = c.iter().enumerate();
        let one = |(j, &c): (usize, &f64)| if j % 2 == 1 { c * self.scale } else { c };
        terms.map(one).collect()
    }
}

impl<A: Subtraction<Coefficient = f64>> Basis<A> for Chebyshev {
    /// Returns the index a - b for j = a + b, since T_(a + b) = 2 T_a T_b - T_(a - b). Here a and b
    /// are the indices of the two [`factors`] of b_j.
    fn beside(&self, j: usize) -> Option<usize> {
        let (a, b) = factors(j);
        Some(a - b)
    }

    /// Splits a series p into `low + high b_at` by the rule T_(at + j) = 2 T_at T_j - T_(at - j),
    /// for 0 < j < `at`.
    fn split(&self, p: &[f64], at: usize) -> (Vec<f64>, Vec<f64>) {
        let (high, low) = divided(p, at);
        (low, high)
    }

    fn element(
        &self,
        out: &mut A,
        j: usize,
        product: A::Value,
        beside: Option<A::Value>,
    ) -> Result<A::Value, A::Error> {
        let twice = match j == 2 && self.scale != 1.0 {
            true => out.scaled(product, 2.0 * self.scale * self.scale)?,
            false => out.sum(product, product)?,
        };
        match beside {
            Some(beside) => out.difference(twice, beside),
            None => {
                let minus = out.constant(-1.0)?;
                out.sum(twice, minus)
            }
        }
    }
}

/// Emits the value of `coefficients[0] + coefficients[1] b_1(x) + coefficients[2] b_2(x) + ...` in a basis. Returns
/// `None` for the zero polynomial.
///
/// # Errors
/// Returns the errors of `out`.
pub(crate) fn evaluate<B: Basis<A>, A: Arithmetic>(
    out: &mut A,
    basis: &B,
    x: A::Value,
    coefficients: &[A::Coefficient],
) -> Result<Option<A::Value>, A::Error> {
    let p = trimmed(coefficients);
    let budget = depth(p);
    let plan = Plan::of(basis, p);
    let elements = BTreeMap::from([(1, x)]);
    Evaluation {
        out,
        plan,
        elements,
        basis,
    }
    .part(p, budget)
}

/// Returns the number of ciphertext products that the evaluation of a polynomial with these coefficients takes.
pub(crate) fn products<A: Arithmetic>(
    basis: &impl Basis<A>,
    coefficients: &[A::Coefficient],
) -> usize {
    let p = trimmed(coefficients);
    Plan::of(basis, p).cost(basis, p, depth(p))
}

/// Returns the number of levels that the evaluation of a polynomial takes, given its coefficients without the zeros
/// above its degree.
pub(crate) fn depth<C>(trimmed: &[C]) -> u32 {
    trimmed.len().max(1).next_power_of_two().trailing_zeros()
}

/// Returns the depth of x^j as a product of smaller powers.
fn power_depth(j: usize) -> u32 {
    j.max(1).next_power_of_two().trailing_zeros()
}

/// A way to evaluate a polynomial in the basis elements b_j. Baby elements have indices j below `2^baby_bits`. Giant
/// ones have powers of two as indices.
#[derive(Clone, Copy)]
struct Plan {
    baby_bits: u32,
}

impl Plan {
    /// Returns the plan that evaluates a polynomial with the fewest products.
    fn of<A: Arithmetic>(basis: &impl Basis<A>, p: &[A::Coefficient]) -> Self {
        let budget = depth(p);
        (1..=budget.max(1))
            .map(|baby_bits| Self { baby_bits })
            .min_by_key(|plan| plan.cost(basis, p, budget))
            .unwrap_or(Self { baby_bits: 1 })
    }

    /// Returns whether this plan computes b_j, and a constant times b_j may stand in a sum that must fit `budget`
    /// levels.
    fn allows(self, j: usize, budget: u32) -> bool {
        j == 0 || ((j >> self.baby_bits == 0 || j.is_power_of_two()) && power_depth(j) < budget)
    }

    /// Returns the index `at` for a split of the polynomial `p` into `low + high b_at`. Returns
    /// `None` if `p` is evaluated as a plain sum of constants times basis elements.
    fn split<C: Coefficient>(self, p: &[C], budget: u32) -> Option<usize> {
        let fits = terms(p).all(|(j, _)| self.allows(j, budget));
        if fits {
            None
        } else {
            Some(p.len().next_power_of_two() / 2)
        }
    }

    /// Returns the number of products that evaluating the polynomial `p` takes, besides those that
    /// make elements of the basis. Adds the indices of the elements that `p` needs to `elements`.
    fn products<A: Arithmetic>(
        self,
        basis: &impl Basis<A>,
        p: &[A::Coefficient],
        budget: u32,
        elements: &mut BTreeSet<usize>,
    ) -> usize {
        let p = trimmed(p);
        match self.split(p, budget) {
            None => {
                let needed = terms(p).filter(|&(j, _)| j > 1);
                needed.for_each(|(j, _)| need(basis, j, elements));
                0
            }
            Some(at) => {
                need(basis, at, elements);
                let (low, high) = basis.split(p, at);
                1 + self.products(basis, &high, budget.saturating_sub(1), elements)
                    + self.products(basis, &low, budget, elements)
            }
        }
    }

    fn cost<A: Arithmetic>(
        self,
        basis: &impl Basis<A>,
        p: &[A::Coefficient],
        budget: u32,
    ) -> usize {
        let mut elements = BTreeSet::new();
        self.products(basis, p, budget, &mut elements) + elements.len()
    }
}

/// Returns the indices of the two elements whose product gives b_j: the largest power of two below j, and the rest.
fn factors(j: usize) -> (usize, usize) {
    let high = j.next_power_of_two() / 2;
    (high, j - high)
}

fn need<A: Arithmetic>(basis: &impl Basis<A>, j: usize, elements: &mut BTreeSet<usize>) {
    if j > 1 && elements.insert(j) {
        let (high, low) = factors(j);
        for part in [Some(high), Some(low), basis.beside(j)]
            .into_iter()
            .flatten()
        {
            need(basis, part, elements);
        }
    }
}

/// Returns the indices j and the coefficients of those terms of a polynomial whose coefficients are
/// not zero.
fn terms<C: Coefficient>(p: &[C]) -> impl DoubleEndedIterator<Item = (usize, C)> {
    let all = p.iter().copied().enumerate();
    all.filter(|&(_, c)| c != C::from(0))
}

/// Returns the coefficients of a polynomial without the zeros above its degree.
pub(crate) fn trimmed<C: Coefficient>(p: &[C]) -> &[C] {
    let len = p.iter().rposition(|&c| c != C::from(0));
    p.split_at(len.map_or(0, |last| last + 1)).0
}

struct Evaluation<'a, B, A: Arithmetic> {
    out: &'a mut A,
    plan: Plan,
    elements: BTreeMap<usize, A::Value>,
    basis: &'a B,
}

impl<B: Basis<A>, A: Arithmetic> Evaluation<'_, B, A> {
    fn element(&mut self, j: usize) -> Result<A::Value, A::Error> {
        if let Some(&known) = self.elements.get(&j) {
            return Ok(known);
        }
        let (high, low) = factors(j);
        let (a, b) = (self.element(high)?, self.element(low)?);
        let beside = match self.basis.beside(j) {
            None | Some(0) => None,
            Some(index) => Some(self.element(index)?),
        };
        let product = if high == low {
            self.out.square(a)?
        } else {
            self.out.product(a, b)?
        };
        let element = self.basis.element(self.out, j, product, beside)?;
        self.elements.insert(j, element);
        Ok(element)
    }

    /// Emits the value of the polynomial `p` within `budget` levels. Returns `None` for the zero polynomial. The
    /// recursion is as deep as the degree has bits.
    fn part(&mut self, p: &[A::Coefficient], budget: u32) -> Result<Option<A::Value>, A::Error> {
        let p = trimmed(p);
        let Some(at) = self.plan.split(p, budget) else {
            return self.sum(p);
        };
        let (low, high) = self.basis.split(p, at);
        let giant = self.element(at)?;
        let product = match self.part(&high, budget.saturating_sub(1))? {
            Some(high) => self.out.product(high, giant)?,
            None => return self.part(&low, budget),
        };
        match self.part(&low, budget)? {
            Some(low) => Ok(Some(self.out.sum(product, low)?)),
            None => Ok(Some(product)),
        }
    }

    /// Emits a sum of constants times elements of the basis.
    fn sum(&mut self, p: &[A::Coefficient]) -> Result<Option<A::Value>, A::Error> {
        let mut sum: Option<A::Value> = None;
        for (j, c) in terms(p).rev() {
            let term = if j == 0 {
                self.out.constant(c)?
            } else {
                let element = self.element(j)?;
                if c == A::Coefficient::from(1) {
                    element
                } else {
                    self.out.scaled(element, c)?
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
