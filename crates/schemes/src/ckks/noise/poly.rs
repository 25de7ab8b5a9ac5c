// SPDX-License-Identifier: Apache-2.0
//! Values as polynomials of others, so that x (x + p) - x p is known to be x^2.
//!
//! Balls take what meets to be anywhere, whatever the others are. Beside them a value is kept as a sum of products of
//! inputs and of what is no such sum, each turned by some slots or conjugated or both, in which equal products meet. A
//! polynomial of one of them is bounded closely ([`super::range`]), others term by term.

use std::collections::BTreeMap;

use num_complex::Complex64;

use super::ball::Ball;
use super::range;
use super::slots::Slots;

/// A value's number, how many slots it is turned by, and whether it is conjugated.
pub type Term = (u32, u32, bool);

/// Products kept of a polynomial of several terms, and of one of one term: what has more is not kept.
const PRODUCTS: usize = 16;
const POWERS: usize = 64;

/// Known numbers times products of terms.
#[derive(Clone, Debug)]
pub struct Polynomial {
    /// By the terms of the product, sorted: none for a constant.
    products: BTreeMap<Vec<Term>, Ball>,
    /// Whether terms have met: otherwise what is computed from the factors says as much.
    met: bool,
}

impl Polynomial {
    /// A term of its own.
    pub fn own(value: u32) -> Self {
        Self {
            products: BTreeMap::from([(vec![(value, 0, false)], Ball::exact(1.0))]),
            met: false,
        }
    }

    /// Numbers that are known.
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

    /// Whether what is computed from the factors may say less than [`Polynomial::ball`].
    pub fn has_met(&self) -> bool {
        self.met
    }

    /// Whether its slots are, if `real` says which values are.
    pub fn is_real(&self, real: impl Fn(u32) -> bool) -> bool {
        let terms = self.products.keys().flatten();
        terms.map(|term| term.0).all(real) && self.products.values().all(Ball::is_on_line)
    }

    /// How much there is to compute with.
    pub(super) fn len(&self) -> u64 {
        let sizes = self
            .products
            .iter()
            .map(|(product, by)| product.len() as u64 + by.len());
        sizes.sum()
    }

    /// Products, and the longest vector of numbers.
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

    /// Adds a product; one that is gone is left out at the end.
    fn add(&mut self, product: Vec<Term>, by: Ball) {
        let both = self.products.get(&product).map(|known| known.plus(&by));
        self.met |= both.is_some();
        self.products.insert(product, both.unwrap_or(by));
    }

    /// Unless it has too many products.
    fn few(mut self) -> Option<Self> {
        self.products.retain(|_, by| !by.is_zero());
        let most = if self.only_term().is_some() {
            POWERS
        } else {
            PRODUCTS
        };
        (self.products.len() <= most).then_some(self)
    }

    /// The one term of all products.
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

    /// `None` for what has too many products, here and below.
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

    /// `real` says which values are.
    pub fn conjugated(&self, real: impl Fn(u32) -> bool) -> Self {
        let term = |(value, turn, conjugate): Term| (value, turn, !conjugate && !real(value));
        self.map(term, Ball::conjugated)
    }

    /// To the left by so many slots of the program's vectors, which have `slots`.
    pub fn rotated(&self, steps: i64, slots: usize) -> Self {
        let turn = |(value, turn, conjugate): Term| {
            let turn = (i64::from(turn) + steps).rem_euclid(slots.max(1) as i64);
            (value, turn as u32, conjugate)
        };
        self.map(turn, |by| by.rotated(steps))
    }

    /// Where it lies, if the values that it is made of lie there; `None` where one is not known.
    pub fn ball(&self, of: impl Fn(u32) -> Option<Domain>) -> Option<Ball> {
        let term = |&(value, turn, conjugate): &Term| {
            let Domain { ball, real } = of(value)?;
            let ball = ball.rotated(i64::from(turn));
            let ball = if conjugate { ball.conjugated() } else { ball };
            // Multiples of what is not bounded may be no numbers.
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

    /// Of a polynomial of one term, the coefficient of each power, where they are the same in all slots.
    fn coefficients(&self) -> Option<Vec<Complex64>> {
        let degree = self.products.keys().map(Vec::len).max()?;
        let mut coefficients = vec![Complex64::default(); degree + 1];
        for (product, by) in &self.products {
            *coefficients.get_mut(product.len())? = by.uniform()?.0;
        }
        Some(coefficients)
    }
}

/// Where a value lies.
#[derive(Clone, Debug)]
pub struct Domain {
    pub ball: Ball,
    /// Whether its slots are real.
    pub real: bool,
}

/// What something is multiplied by: where it lies, and what it is.
#[derive(Clone, Debug)]
pub struct Factor {
    ball: Ball,
    /// `None` where it is not known, or the ball says all. Most have none.
    near: Option<Box<Near>>,
}

/// What lies within a distance of a polynomial.
#[derive(Clone, Debug)]
struct Near {
    poly: Polynomial,
    apart: Slots,
}

/// Where the values lie that polynomials are made of, and how much may still be computed with these.
#[derive(Clone, Debug)]
pub struct Values {
    domains: BTreeMap<u32, Domain>,
    pub room: u64,
    pub slots: usize,
}

/// Numbers computed with: some hundredths of a second; and as how many a product counts beside them.
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

    /// Whether there is room for so many products, of so many numbers each.
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

    /// What lies in the ball and, where that is known, is a polynomial of other values.
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

    /// What is made of the polynomial, while there is room.
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

    /// What is made of two, and lies in a ball: or in less, as its polynomial may say.
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
        // A ball of known numbers says all.
        let near = (!ball.is_exact()).then(|| Box::new(near));
        Self { ball, near }
    }
}
