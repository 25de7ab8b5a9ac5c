// SPDX-License-Identifier: Apache-2.0
//! Relations that express a real value by others: as a sum of multiples of other values, and as polynomials of one
//! other value each.
//!
//! Polynomials of inputs ([`super::algebra`]) end after a few products. A relation may have any value as its argument.
//! So y^2 - y is known to be at least -1/4, whatever y was computed from.

use std::collections::BTreeMap;

use ringmill_isa::macros::op::MacroMessage;
use ringmill_isa::macros::{Constant, Linear, MacroInstr, Refused, Terms, Visitor};
use ringmill_schemes::ckks::Slots;

use super::univariate::{self, DEGREE};

/// An argument of a relation: a value's number, and the number of slots by which the value is rotated to the left, modulo the slots.
pub type Argument = (u32, i64);

/// The most terms of the sum of multiples of other values that is kept for a value.
const ARGUMENTS: usize = 32;
/// The most polynomials that are kept for a value, each of which gives it from one other value.
const VIEWS: usize = 6;
/// The highest degree of a polynomial whose range is computed for each slot by itself. Above this degree one interval
/// stands for all slots.
const BY_SLOT: usize = 2;

/// A real value expressed by other values. The default relation says nothing of the value.
#[derive(Clone, Default, Debug)]
pub struct Relation {
    /// For each argument (another value, rotated), the polynomial in this argument that equals the
    /// value.
    views: BTreeMap<Argument, View>,
    /// The value as a sum of linear polynomials, one in each argument (another value, rotated). The constants of all
    /// these polynomials add up.
    sum: BTreeMap<Argument, View>,
    /// Whether the two operands of the value's instruction had an argument (another value) in common, so that the
    /// relation may say more than the operands' spans.
    met: bool,
}

/// A polynomial in one argument (another value of the program), with a bound on the rounding errors
/// of its coefficients.
#[derive(Clone, Debug)]
struct View {
    /// The polynomial's coefficients, that of the lowest degree first.
    coefficients: Vec<f64>,
    /// A bound on the absolute value of each coefficient before terms cancel: the coefficient computed with absolute
    /// values throughout. The bound on rounding errors follows from it.
    sizes: Vec<f64>,
    /// The number of roundings in sequence that the coefficients went through.
    roundings: f64,
}

impl View {
    fn own() -> Self {
        Self {
            coefficients: vec![0.0, 1.0],
            sizes: vec![0.0, 1.0],
            roundings: 0.0,
        }
    }

    fn degree(&self) -> usize {
        self.coefficients.len().saturating_sub(1)
    }

    fn scaled(&self, by: f64) -> Self {
        Self {
            coefficients: self.coefficients.iter().map(|x| x * by).collect(),
            sizes: self.sizes.iter().map(|x| x * by.abs()).collect(),
            roundings: self.roundings + 1.0,
        }
    }

    fn shifted(mut self, by: f64) -> Self {
        let first = (self.coefficients.first_mut(), self.sizes.first_mut());
        if let (Some(first), Some(size)) = first {
            *first += by;
            *size += by.abs();
        }
        self.roundings += 1.0;
        self
    }

    fn plus(&self, other: &Self, by: f64) -> Self {
        let added = |a: &[f64], b: &[f64], by: f64| {
            let at = |x: &[f64], k: usize| x.get(k).copied().unwrap_or(0.0);
            (0..a.len().max(b.len()))
                .map(|k| at(a, k) + by * at(b, k))
                .collect()
        };
        Self {
            coefficients: added(&self.coefficients, &other.coefficients, by),
            sizes: added(&self.sizes, &other.sizes, 1.0),
            roundings: self.roundings.max(other.roundings) + 1.0,
        }
    }

    fn times(&self, other: &Self) -> Option<Self> {
        let degree = self.degree() + other.degree();
        if degree > DEGREE {
            return None;
        }
        let product = |a: &[f64], b: &[f64]| {
            let mut product = vec![0.0; degree + 1];
            for (i, x) in a.iter().enumerate() {
                for (c, y) in product.iter_mut().skip(i).zip(b) {
                    *c += x * y;
                }
            }
            product
        };
        Some(Self {
            coefficients: product(&self.coefficients, &other.coefficients),
            sizes: product(&self.sizes, &other.sizes),
            roundings: self.roundings + other.roundings + (degree + 2) as f64,
        })
    }

    /// Returns an interval that holds the polynomial's values for arguments from `lowest` to `highest`. It is infinite
    /// if nothing is known.
    fn range(&self, lowest: f64, highest: f64) -> (f64, f64) {
        let Some((low, high)) = univariate::range(&self.coefficients, lowest, highest) else {
            return (f64::NEG_INFINITY, f64::INFINITY);
        };
        let most = lowest.abs().max(highest.abs());
        let size = self.sizes.iter().rev().fold(0.0, |sum, c| sum * most + c);
        let room = self.roundings * f64::EPSILON * size;
        (low - room, high + room)
    }

    fn ends(&self, (lowest, highest): &(Slots, Slots)) -> (Slots, Slots) {
        if self.degree() <= BY_SLOT {
            return lowest.zip_both(highest, |l, h| self.range(l, h));
        }
        let least = -lowest.map(|x| -x).largest(usize::MAX);
        let (low, high) = self.range(least, highest.largest(usize::MAX));
        (Slots::All(low), Slots::All(high))
    }
}

impl Relation {
    /// Returns the relation of an instruction's result number `k` to other values. `operands` are the relations of its
    /// operands, `None` for those that are not real. `slots` is the number of slots of a vector.
    ///
    /// # Errors
    /// Fails for an operation that this analysis does not know.
    pub fn of(
        instr: &MacroInstr,
        k: usize,
        operands: &[Option<&Self>],
        slots: u32,
    ) -> Result<Self, Refused> {
        let mut result = OfResult { k, operands, slots };
        match instr.op.columns().message {
            MacroMessage::Kept => result.of_one(|a| a.map(View::clone)),
            _ => result.visit(instr),
        }
    }

    /// Returns whether the value is a linear polynomial of another value, which then serves as the argument in its
    /// place.
    pub fn is_linear(&self) -> bool {
        self.views.values().any(|view| view.degree() <= 1)
    }

    /// Returns what remains of the relation when the value itself becomes an argument of later relations: only its
    /// polynomials of degree above 1 in other values.
    pub fn of_own(self) -> Self {
        Self {
            views: self
                .views
                .into_iter()
                .filter(|(_, view)| view.degree() > 1)
                .collect(),
            sum: BTreeMap::new(),
            met: false,
        }
    }

    /// Returns the relation with the value itself as an argument, if it is no linear polynomial of another value. If
    /// the relation has no sum, the value itself becomes its only term.
    pub fn with_own(mut self, value: u32) -> Self {
        let own = (value, 0);
        if !self.is_linear() {
            self.views.insert(own, View::own());
        }
        if self.sum.is_empty() {
            self.sum.insert(own, View::own());
        }
        self
    }

    /// Returns the numbers of the values whose spans [`Relation::ends`] asks for.
    pub fn arguments(&self) -> impl Iterator<Item = u32> {
        let both = self.views.keys().chain(self.sum.keys());
        both.map(|argument| argument.0)
    }

    /// Returns the ends of the interval that the value lies in, if its arguments lie between the ends that `of` gives.
    /// Returns `None` if the spans of the instruction's operands already give this interval, or if `of` knows no
    /// argument.
    pub fn ends(&self, of: &dyn Fn(Argument) -> Option<(Slots, Slots)>) -> Option<(Slots, Slots)> {
        if !self.met {
            return None;
        }
        let views = self.views.iter().filter_map(|(&argument, view)| {
            let ends = of(argument)?;
            Some(view.ends(&ends))
        });
        let mut sum: Option<(Slots, Slots)> = None;
        let mut whole = true;
        for (&argument, view) in &self.sum {
            let Some(ends) = of(argument) else {
                whole = false;
                break;
            };
            let ends = view.ends(&ends);
            sum = Some(match sum {
                None => ends,
                Some((low, high)) => (low.plus(&ends.0), high.plus(&ends.1)),
            });
        }
        let sum = sum.filter(|_| whole);
        views
            .chain(sum)
            .reduce(|(low, high), (l, h)| (low.zip(&l, f64::max), high.zip(&h, f64::min)))
    }

    fn map(&self, view: impl Fn(&View) -> View) -> Self {
        let all = |of: &BTreeMap<Argument, View>| of.iter().map(|(&a, x)| (a, view(x))).collect();
        Self {
            views: all(&self.views),
            sum: all(&self.sum),
            met: false,
        }
    }

    fn scaled(&self, by: f64) -> Self {
        self.map(|view| view.scaled(by))
    }

    fn shifted(&self, by: f64) -> Self {
        let mut sum = self.sum.clone();
        if let Some((argument, first)) = sum.pop_first() {
            sum.insert(argument, first.shifted(by));
        }
        let views = self.views.iter();
        Self {
            views: views.map(|(&a, x)| (a, x.clone().shifted(by))).collect(),
            sum,
            met: false,
        }
    }

    fn plus(&self, other: &Self, by: f64) -> Self {
        let views = self.common(other, |a, b| Some(a.plus(b, by)));
        let mut sum = self.sum.clone();
        let mut met = false;
        for (&argument, term) in &other.sum {
            let both = match sum.get(&argument) {
                Some(known) => {
                    met = true;
                    known.plus(term, by)
                }
                None => term.scaled(by),
            };
            sum.insert(argument, both);
        }
        if sum.len() > ARGUMENTS || self.sum.is_empty() || other.sum.is_empty() {
            sum.clear();
        }
        let met = met || !views.is_empty();
        Self { views, sum, met }
    }

    fn times(&self, other: &Self) -> Self {
        let views = self.common(other, View::times);
        let met = !views.is_empty();
        let sum = BTreeMap::new();
        Self { views, sum, met }
    }

    /// Combines by `make` the two operands' polynomials in each argument (another value) that both have. Keeps the
    /// polynomials of the lowest degrees.
    fn common(
        &self,
        other: &Self,
        make: impl Fn(&View, &View) -> Option<View>,
    ) -> BTreeMap<Argument, View> {
        let made = self.views.iter().filter_map(|(argument, a)| {
            let b = other.views.get(argument)?;
            Some((*argument, make(a, b)?))
        });
        let mut made: Vec<(Argument, View)> = made.collect();
        made.sort_by_key(|(_, view)| view.degree());
        made.truncate(VIEWS);
        made.into_iter().collect()
    }

    fn rotated(&self, steps: i64, slots: u32) -> Self {
        let turned = |of: &BTreeMap<Argument, View>| {
            let turn = |turn: i64| (turn + steps).rem_euclid(i64::from(slots.max(1)));
            of.iter()
                .map(|(&(value, turned), view)| ((value, turn(turned)), view.clone()))
                .collect()
        };
        Self {
            views: turned(&self.views),
            sum: turned(&self.sum),
            met: false,
        }
    }
}

struct OfResult<'a> {
    k: usize,
    operands: &'a [Option<&'a Relation>],
    slots: u32,
}

type Found = Result<Relation, Refused>;

impl<'a> OfResult<'a> {
    fn operand(&self, number: usize) -> Option<&'a Relation> {
        self.operands.get(number).copied().flatten()
    }

    fn of_one(&self, f: impl Fn(&Relation) -> Relation) -> Found {
        Ok(self.operand(0).map(f).unwrap_or_default())
    }

    fn of_two(&self, f: impl Fn(&Relation, &Relation) -> Relation) -> Found {
        let operands = self.operand(0).zip(self.operand(1));
        Ok(operands.map(|(a, b)| f(a, b)).unwrap_or_default())
    }
}

impl Visitor for OfResult<'_> {
    const PASS: &'static str = "the relation of values";
    type Out = Relation;
    type Error = Refused;

    fn input(&mut self, _: &MacroInstr, _: u32) -> Found {
        Ok(Relation::default())
    }

    fn encode(&mut self, _: &MacroInstr, _: u32) -> Found {
        Ok(Relation::default())
    }

    fn add(&mut self, _: &MacroInstr) -> Found {
        self.of_two(|a, b| a.plus(b, 1.0))
    }

    fn sub(&mut self, _: &MacroInstr) -> Found {
        self.of_two(|a, b| a.plus(b, -1.0))
    }

    fn mul(&mut self, instr: &MacroInstr) -> Found {
        if instr.src.first() == instr.src.get(1) {
            return self.square(instr);
        }
        self.of_two(Relation::times)
    }

    /// Returns the relation of a square. The operand's span bounds the square as well, so the
    /// relation adds nothing, and `met` is false.
    fn square(&mut self, _: &MacroInstr) -> Found {
        self.of_one(|a| Relation {
            met: false,
            ..a.times(a)
        })
    }

    fn addc(&mut self, _: &MacroInstr, constant: Constant) -> Found {
        match constant {
            Constant::Real { value, .. } => self.of_one(|a| a.shifted(value)),
            Constant::Integer(_) => Ok(Relation::default()),
        }
    }

    fn mulc(&mut self, _: &MacroInstr, constant: Constant) -> Found {
        match constant {
            Constant::Real { value, .. } => self.of_one(|a| a.scaled(value)),
            Constant::Integer(_) => Ok(Relation::default()),
        }
    }

    /// Returns the relation of the result of a linear operation (negation, conjugate, twice the
    /// real part). Operands are real here, so a slot is its own conjugate, and the result is a
    /// multiple of the operand.
    fn linear(&mut self, _: &MacroInstr, map: Linear) -> Found {
        let by = match map.terms() {
            Terms::Slot(by) | Terms::Conjugate(by) => by,
            Terms::Both { slot, conjugate } => slot + conjugate,
        };
        self.of_one(|a| a.scaled(by))
    }

    fn rotate(&mut self, _: &MacroInstr, steps: &[i32]) -> Found {
        let (step, slots) = (steps.get(self.k).copied(), self.slots);
        step.map_or(Ok(Relation::default()), |step| {
            self.of_one(|a| a.rotated(i64::from(step), slots))
        })
    }

    fn hrotate(&mut self, instr: &MacroInstr, steps: &[i32]) -> Found {
        self.rotate(instr, steps)
    }
}
