// SPDX-License-Identifier: Apache-2.0
//! Tracks values of a program as polynomials of other values, so that x (x + p) - x p is known to be x^2.
//!
//! Arithmetic on balls treats operands as independent. In addition, a value is stored as a sum of products of
//! terms, in which equal products are joined. A term is an input of the program, or a value that is stored as no
//! such sum. A term may be rotated by some slots and conjugated. A polynomial in one term is bounded closely
//! ([`super::range`]), any other product by product.

use std::collections::BTreeMap;

use num_complex::Complex64;

use super::ball::Ball;
use super::range;
use super::slots::Slots;

/// A term of a polynomial: the number of a value of the program, the slots by which the value is rotated to the
/// left, and whether it is conjugated.
pub type Term = (u32, u32, bool);

/// The most products that a polynomial in several terms may have. [`POWERS`] is the limit for a polynomial in a single
/// term, and for the number of terms in a product. The model drops polynomials beyond these limits and keeps only the
/// ball around the value.
const PRODUCTS: usize = 16;
const POWERS: usize = 64;

/// A sum of known numbers times products of terms, in each slot.
#[derive(Clone, Debug)]
pub struct Polynomial {
    /// The factor of each product. The key is the sorted list of the product's terms, empty for the constant.
    products: BTreeMap<Vec<Term>, Ball>,
    /// Whether a term has met itself: equal products were joined, or two products with a term in common were
    /// multiplied. If neither happened, arithmetic on balls gives as tight a bound as the polynomial.
    met: bool,
}

impl Polynomial {
    /// Returns the polynomial that consists of the program's value with the number `value` alone.
    pub fn own(value: u32) -> Self {
        Self {
            products: BTreeMap::from([(vec![(value, 0, false)], Ball::exact(1.0))]),
            met: false,
        }
    }

    /// Returns the constant polynomial whose value in each slot is a known number.
    pub fn constant(numbers: Ball) -> Self {
        let products = match numbers.is_zero() {
            true => BTreeMap::new(),
            false => BTreeMap::from([(Vec::new(), numbers)]),
        };
        Self {
            products,
            met: false,
        }
    }

    /// Returns whether [`Polynomial::ball`] may give a tighter bound than arithmetic on balls.
    pub fn has_met(&self) -> bool {
        self.met
    }

    /// Returns whether the polynomial is known to be real in every slot. The function `real` tells which values of the
    /// program are real.
    pub fn is_real(&self, real: impl Fn(u32) -> bool) -> bool {
        let terms = self.products.keys().flatten();
        terms.map(|term| term.0).all(real) && self.products.values().all(Ball::is_on_line)
    }

    /// Returns how many floating-point numbers a computation with the polynomial reads, as a measure of its cost.
    pub(super) fn len(&self) -> u64 {
        let sizes = self
            .products
            .iter()
            .map(|(product, by)| product.len() as u64 + by.len());
        sizes.sum()
    }

    /// Returns the number of the polynomial's products, and the largest number of floating-point numbers that a
    /// product's factor has.
    fn size(&self) -> (u64, u64) {
        let longest = self.products.values().map(Ball::len).max();
        (self.products.len() as u64, longest.unwrap_or(1))
    }

    fn map(&self, term: impl Fn(Term) -> Term, by: impl Fn(&Ball) -> Ball) -> Self {
        let products = self.products.iter().map(|(product, factor)| {
            let mut product: Vec<Term> = product.iter().map(|&t| term(t)).collect();
            product.sort_unstable();
            (product, by(factor))
        });
        let mut sum = Self {
            products: BTreeMap::new(),
            met: self.met,
        };
        for (product, factor) in products {
            sum.add(product, factor);
        }
        sum
    }

    /// Adds a product with the factor `by` to the polynomial. A product whose factor becomes zero is removed later.
    fn add(&mut self, product: Vec<Term>, by: Ball) {
        let both = self.products.get(&product).map(|known| known.plus(&by));
        self.met |= both.is_some();
        self.products.insert(product, both.unwrap_or(by));
    }

    /// Returns the polynomial, or `None` if it has too many products to be kept.
    fn few(mut self) -> Option<Self> {
        self.products.retain(|_, by| !by.is_zero());
        let most = if self.only_term().is_some() {
            POWERS
        } else {
            PRODUCTS
        };
        (self.products.len() <= most).then_some(self)
    }

    /// Returns the only term that occurs in the polynomial's products, or `None` if several terms or none occur.
    fn only_term(&self) -> Option<Term> {
        let mut terms = self.products.keys().flatten();
        let &first = terms.next()?;
        terms.all(|&term| term == first).then_some(first)
    }

    pub fn negated(&self) -> Self {
        self.scaled(-1.0)
    }

    pub fn scaled(&self, factor: f64) -> Self {
        self.map(|term| term, |by| by.scaled(factor))
    }

    /// Returns the sum of two polynomials, or `None` if the result has too many products.
    pub fn plus(&self, other: &Self) -> Option<Self> {
        let mut sum = self.clone();
        sum.met |= other.met;
        for (product, by) in &other.products {
            sum.add(product.clone(), by.clone());
        }
        sum.few()
    }

    pub fn times(&self, other: &Self) -> Option<Self> {
        if self.products.len() * other.products.len() > POWERS * POWERS / 4 {
            return None;
        }
        let mut sum = Self {
            products: BTreeMap::new(),
            met: self.met || other.met,
        };
        for (left, a) in &self.products {
            for (right, b) in &other.products {
                sum.met |= right.iter().any(|term| left.contains(term));
                let mut product = [left.as_slice(), right].concat();
                if product.len() > POWERS {
                    return None;
                }
                product.sort_unstable();
                sum.add(product, a.times(b));
            }
        }
        sum.few()
    }

    /// Returns the conjugate of the polynomial. The function `real` tells which values of the program are real.
    pub fn conjugated(&self, real: impl Fn(u32) -> bool) -> Self {
        let term = |(value, turn, conjugate): Term| (value, turn, !conjugate && !real(value));
        self.map(term, Ball::conjugated)
    }

    /// Rotates the polynomial to the left by `steps` of the program's `slots` slots.
    pub fn rotated(&self, steps: i64, slots: usize) -> Self {
        let turn = |(value, turn, conjugate): Term| {
            let turn = (i64::from(turn) + steps).rem_euclid(slots.max(1) as i64);
            (value, turn as u32, conjugate)
        };
        self.map(turn, |by| by.rotated(steps))
    }

    /// Returns a ball that holds the polynomial's values in each slot. The function `of` returns the range of a
    /// value of the program. The result is `None` if a range is not known, or if a range or the result is not finite.
    pub fn ball(&self, of: impl Fn(u32) -> Option<Domain>) -> Option<Ball> {
        let term = |&(value, turn, conjugate): &Term| {
            let Domain { ball, real } = of(value)?;
            let ball = ball.rotated(i64::from(turn));
            let ball = if conjugate { ball.conjugated() } else { ball };
            // Multiples of an unbounded number may be no numbers.
            ball.is_finite().then_some((ball, real))
        };
        let whole = self.only_term().and_then(|one| {
            let (ball, real) = term(&one)?;
            range::of_polynomial(&self.coefficients()?, &ball, real)
        });
        if whole.is_some() {
            return whole;
        }
        let mut sum = Ball::ZERO;
        for (product, by) in &self.products {
            let mut part = by.clone();
            for term_of in product.chunk_by(|a, b| a == b) {
                let [first, ..] = term_of else { continue };
                let (ball, real) = term(first)?;
                part = part.times(&range::power(&ball, real, term_of.len()));
            }
            sum = sum.plus(&part);
        }
        Some(sum).filter(Ball::is_finite)
    }

    /// Returns the coefficient of each power of the term of a polynomial in one term, the constant one first. It is
    /// `None` if a coefficient differs between slots, and for the polynomial 0.
    fn coefficients(&self) -> Option<Vec<Complex64>> {
        let degree = self.products.keys().map(Vec::len).max()?;
        let mut coefficients = vec![Complex64::default(); degree + 1];
        for (product, by) in &self.products {
            *coefficients.get_mut(product.len())? = by.uniform()?.0;
        }
        Some(coefficients)
    }
}

/// The range of a value of the program, in each slot.
#[derive(Clone, Debug)]
pub struct Domain {
    pub ball: Ball,
    /// Whether the value of the program is real in every slot.
    pub real: bool,
}

/// A factor by which an error is multiplied: its range, and its polynomial in values of the program if that is known.
#[derive(Clone, Debug)]
pub struct Factor {
    ball: Ball,
    /// The polynomial that the factor is near to. It is `None` if no polynomial is known, or if the ball is as
    /// tight. Most factors have none.
    near: Option<Box<Near>>,
}

/// All numbers, in each slot, that are within the distance `apart` of a polynomial.
#[derive(Clone, Debug)]
struct Near {
    poly: Polynomial,
    apart: Slots,
}

/// The ranges of the program's values that occur in polynomials. `room` is how much more the polynomials may
/// compute, in floating-point numbers. `slots` is the number of slots of the program's vectors.
#[derive(Clone, Debug)]
pub struct Values {
    domains: BTreeMap<u32, Domain>,
    pub room: u64,
    pub slots: usize,
}

/// The most floating-point numbers that polynomials may compute for a program, which takes some hundredths of a
/// second. `OVERHEAD` is the number that each product counts in addition.
const ROOM: u64 = 1 << 24;
const OVERHEAD: u64 = 100;

impl Values {
    pub fn new(slots: usize) -> Self {
        Self {
            domains: BTreeMap::new(),
            room: ROOM,
            slots,
        }
    }

    pub fn know(&mut self, value: u32, domain: Domain) {
        self.domains.insert(value, domain);
    }

    pub fn get(&self, value: u32) -> Option<Domain> {
        self.domains.get(&value).cloned()
    }

    fn is_real(&self, value: u32) -> bool {
        self.domains.get(&value).is_some_and(|domain| domain.real)
    }

    /// Subtracts the cost of `products` products, of `numbers` floating-point numbers each, from the work that is
    /// left. Returns false if it is too little.
    fn afford(&mut self, products: u64, numbers: u64) -> bool {
        let left = self.room.checked_sub(products * (numbers + OVERHEAD));
        self.room = left.unwrap_or(0);
        left.is_some()
    }
}

impl From<Ball> for Factor {
    fn from(ball: Ball) -> Self {
        Self { ball, near: None }
    }
}

impl Factor {
    pub const ZERO: Self = Self::exact(0.0);

    pub const fn exact(value: f64) -> Self {
        Self {
            ball: Ball::exact(value),
            near: None,
        }
    }

    /// Makes a factor that lies in a ball. If `poly` is given, the factor equals this polynomial of values of the
    /// program.
    pub fn new(ball: Ball, poly: Option<Polynomial>) -> Self {
        let apart = Slots::ZERO;
        let near = poly.map(|poly| Box::new(Near { poly, apart }));
        Self { ball, near }
    }

    pub fn ball(&self) -> &Ball {
        &self.ball
    }

    pub fn magnitude(&self) -> Slots {
        self.ball.magnitude()
    }

    pub(super) fn is_exact(&self) -> bool {
        self.ball.is_exact()
    }

    pub(super) fn is_zero(&self) -> bool {
        self.ball.is_zero()
    }

    pub(super) fn len(&self) -> u64 {
        self.ball.len() + self.near.as_ref().map_or(0, |near| near.poly.len())
    }

    fn near(&self) -> Option<Near> {
        match &self.near {
            None if self.is_exact() => Some(Near {
                poly: Polynomial::constant(self.ball.clone()),
                apart: Slots::ZERO,
            }),
            near => near.as_deref().cloned(),
        }
    }

    pub fn widened(&self, by: &Slots) -> Self {
        let near = self.near().map(|near| {
            Box::new(Near {
                apart: near.apart.plus(by),
                ..near
            })
        });
        Self {
            ball: self.ball.widened(by),
            near,
        }
    }

    pub fn scaled(&self, factor: f64) -> Self {
        let near = self.near.as_ref().map(|near| {
            Box::new(Near {
                poly: near.poly.scaled(factor),
                apart: near.apart.times(&Slots::All(factor.abs())),
            })
        });
        Self {
            ball: self.ball.scaled(factor),
            near,
        }
    }

    pub fn conjugated(&self, values: &mut Values) -> Self {
        let ball = self.ball.conjugated();
        let near = self.kept(values, |near, values| Near {
            poly: near.poly.conjugated(|value| values.is_real(value)),
            apart: near.apart.clone(),
        });
        Self { ball, near }
    }

    pub fn rotated(&self, steps: i64, values: &mut Values) -> Self {
        let ball = self.ball.rotated(steps);
        let near = self.kept(values, |near, values| Near {
            poly: near.poly.rotated(steps, values.slots),
            apart: near.apart.rotated(steps),
        });
        Self { ball, near }
    }

    /// Returns the polynomial, with its distance from the factor, that the function `make` computes from the factor's.
    /// Returns `None` if the factor has no polynomial, or if the allowed work is used up.
    fn kept(
        &self,
        values: &mut Values,
        make: impl Fn(&Near, &Values) -> Near,
    ) -> Option<Box<Near>> {
        let near = self.near.as_ref()?;
        let (count, longest) = near.poly.size();
        let affordable = values.afford(count, longest);
        affordable.then(|| Box::new(make(near, values)))
    }

    pub fn plus(&self, other: &Self, values: &mut Values) -> Self {
        let ball = self.ball.plus(&other.ball);
        self.with(other, ball, values, |a, b| {
            Some(Near {
                poly: a.poly.plus(&b.poly)?,
                apart: a.apart.plus(&b.apart),
            })
        })
    }

    pub fn times(&self, other: &Self, values: &mut Values) -> Self {
        let ball = self.ball.times(&other.ball);
        self.with(other, ball, values, |a, b| {
            // (p + e) (q + f) - p q = (p + e) f + q e.
            let p = self.magnitude();
            let q = other.magnitude().plus(&b.apart);
            Some(Near {
                poly: a.poly.times(&b.poly)?,
                apart: p.times(&b.apart).plus(&q.times(&a.apart)),
            })
        })
    }

    /// Returns the factor whose polynomial the function `make` computes from the polynomials of two factors. The result
    /// lies in `ball`, or in a smaller ball if its polynomial shows that.
    fn with(
        &self,
        other: &Self,
        ball: Ball,
        values: &mut Values,
        make: impl Fn(Near, Near) -> Option<Near>,
    ) -> Self {
        if self.near.is_none() && other.near.is_none() {
            return ball.into();
        }
        let (Some(a), Some(b)) = (self.near(), other.near()) else {
            return ball.into();
        };
        let ((a_count, a_longest), (b_count, b_longest)) = (a.poly.size(), b.poly.size());
        if !values.afford(a_count * b_count, a_longest.max(b_longest)) {
            return ball.into();
        }
        let Some(near) = make(a, b) else {
            return ball.into();
        };
        let closer = (near.poly.has_met() && values.afford(8, near.poly.len()))
            .then(|| near.poly.ball(|value| values.get(value)))
            .flatten()
            .map(|closer| closer.widened(&near.apart));
        let size = |ball: &Ball| ball.magnitude().largest(usize::MAX);
        let ball = match closer {
            Some(closer) if size(&closer) < size(&ball) => closer,
            _ => ball,
        };
        // A polynomial adds nothing to a ball of known numbers.
        let near = (!ball.is_exact()).then(|| Box::new(near));
        Self { ball, near }
    }
}
