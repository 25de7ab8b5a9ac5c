// SPDX-License-Identifier: Apache-2.0
//! Interval analysis: how large every value of a program can become, slot by slot, for all inputs within their ranges.
//!
//! The bounds are exact for sums of inputs and products with constants, and safe everywhere: but for polynomials of a few
//! terms ([`Polynomial`]) a value is taken to be anywhere within its span, whatever the values that it is computed with.

use std::collections::BTreeMap;

use ringmill_isa::macros::op::MacroMessage;
use ringmill_isa::macros::{
    Constant, Interval, Linear, MacroImm, MacroInstr, MacroProgram, MacroValue, Refused, Terms,
    Visitor,
};
use ringmill_schemes::ckks::{Ball, Domain, Factor, Polynomial, Slots};

use crate::ckks::algebra;
use crate::ckks::bounded;
use crate::ckks::relation::Relation;

/// Where the slots of an input lie.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum InputRange {
    /// Real numbers from `lowest` to `highest`.
    Real { lowest: f64, highest: f64 },
    /// Complex numbers of at most this absolute value.
    Disc { radius: f64 },
}

impl InputRange {
    /// Whether the range is one: finite, and not empty.
    pub fn is_valid(&self) -> bool {
        match *self {
            Self::Real { lowest, highest } => {
                lowest.is_finite() && highest.is_finite() && lowest <= highest
            }
            Self::Disc { radius } => radius.is_finite() && radius >= 0.0,
        }
    }

    /// Whether a slot may hold this value. Values that are not finite never may.
    pub fn contains(&self, re: f64, im: f64) -> bool {
        match *self {
            Self::Real { lowest, highest } => (lowest..=highest).contains(&re) && im == 0.0,
            // A bound drawn from the very data must not lose it to a rounding.
            Self::Disc { radius } => re.hypot(im) <= radius * (1.0 + 4.0 * f64::EPSILON),
        }
    }

    /// Largest absolute value.
    pub fn magnitude(&self) -> f64 {
        match *self {
            Self::Real { lowest, highest } => lowest.abs().max(highest.abs()),
            Self::Disc { radius } => radius,
        }
    }

    fn span(&self) -> Span {
        match *self {
            Self::Real { lowest, highest } => Span::Real {
                lowest: Slots::All(lowest),
                highest: Slots::All(highest),
            },
            Self::Disc { radius } => Span::Complex(Ball::disc(Slots::All(radius))),
        }
    }
}

impl std::fmt::Display for InputRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Real { lowest, highest } => write!(f, "from {lowest:?} to {highest:?}"),
            Self::Disc { radius } => write!(f, "at most {radius:?} in absolute value"),
        }
    }
}

/// Where the slots of a value lie.
#[derive(Clone, PartialEq, Debug)]
pub enum Span {
    Real { lowest: Slots, highest: Slots },
    Complex(Ball),
}

impl Span {
    /// What lies in both spans, or in one of them.
    fn met(self, other: Self) -> Self {
        match (self, other) {
            (
                Self::Real { lowest, highest },
                Self::Real {
                    lowest: low,
                    highest: high,
                },
            ) => {
                let lowest = lowest.zip(&low, f64::max);
                // Roundings must not leave less than nothing.
                let highest = highest.zip(&high, f64::min).zip(&lowest, f64::max);
                Self::Real { lowest, highest }
            }
            (a, b) => {
                let largest = |x: &Self| x.magnitude().largest(usize::MAX);
                if largest(&a) <= largest(&b) { a } else { b }
            }
        }
    }

    fn anything() -> Self {
        Self::Complex(Ball::disc(Slots::All(f64::INFINITY)))
    }

    /// Largest absolute value by slot.
    pub fn magnitude(&self) -> Slots {
        match self {
            Self::Real { lowest, highest } => lowest.zip(highest, |l, h| l.abs().max(h.abs())),
            Self::Complex(ball) => ball.magnitude(),
        }
    }

    fn ball(&self) -> Ball {
        match self {
            Self::Real { lowest, highest } => Ball::real(lowest, highest),
            Self::Complex(ball) => ball.clone(),
        }
    }

    fn domain(&self) -> Domain {
        Domain {
            ball: self.ball(),
            real: matches!(self, Self::Real { .. }),
        }
    }

    /// The part of the span that is at most so large.
    pub fn within(&self, size: f64) -> Ball {
        let magnitude = self.magnitude();
        if magnitude.largest(usize::MAX) <= size {
            return self.ball();
        }
        match self {
            // A span that keeps nothing is beside the point, and must not be turned round.
            Self::Real { lowest, highest } => Ball::real(
                &lowest.map(|l| l.clamp(-size, size)),
                &highest.map(|h| h.clamp(-size, size)),
            ),
            Self::Complex(_) => Ball::disc(magnitude.map(|x| x.min(size))),
        }
    }

    /// The same span with every slot as wide as the widest.
    fn flattened(self) -> Self {
        match self {
            Self::Real { lowest, highest } => Self::Real {
                lowest: lowest.map(|x| -x).flattened().map(|x| -x),
                highest: highest.flattened(),
            },
            Self::Complex(ball) => Self::Complex(Ball::disc(ball.magnitude().flattened())),
        }
    }

    pub fn constant(values: &[(f64, f64)]) -> Self {
        if values.iter().all(|&(_, im)| im == 0.0) {
            let exact = Slots::each(values.iter().map(|&(re, _)| re).collect());
            Self::Real {
                lowest: exact.clone(),
                highest: exact,
            }
        } else {
            Self::Complex(Ball::constants(values))
        }
    }

    pub fn plus(&self, other: &Self) -> Self {
        match (self, other) {
            (
                Self::Real { lowest, highest },
                Self::Real {
                    lowest: low,
                    highest: high,
                },
            ) => Self::Real {
                lowest: lowest.plus(low),
                highest: highest.plus(high),
            },
            _ => Self::Complex(self.ball().plus(&other.ball())),
        }
    }

    pub fn negated(&self) -> Self {
        match self {
            Self::Real { lowest, highest } => Self::Real {
                lowest: highest.map(|x| -x),
                highest: lowest.map(|x| -x),
            },
            Self::Complex(ball) => Self::Complex(ball.scaled(-1.0)),
        }
    }

    /// A multiple of the sum of a slot and its conjugate is real.
    fn mapped(&self, map: Linear) -> Self {
        match map.terms() {
            Terms::Slot(by) => self.scaled(by),
            Terms::Conjugate(by) => self.conjugated().scaled(by),
            Terms::Both { slot, conjugate } => {
                let turned = self.conjugated().scaled(conjugate);
                match self.scaled(slot).plus(&turned) {
                    Self::Complex(ball) if slot == conjugate => {
                        let (lowest, highest) = ball.real_ends();
                        Self::Real { lowest, highest }
                    }
                    span => span,
                }
            }
        }
    }

    pub fn conjugated(&self) -> Self {
        match self {
            Self::Real { .. } => self.clone(),
            Self::Complex(ball) => Self::Complex(ball.conjugated()),
        }
    }

    pub fn times(&self, other: &Self) -> Self {
        let (
            Self::Real { lowest, highest },
            Self::Real {
                lowest: low,
                highest: high,
            },
        ) = (self, other)
        else {
            return Self::Complex(self.ball().times(&other.ball()));
        };
        let corners = [
            (lowest, low),
            (lowest, high),
            (highest, low),
            (highest, high),
        ]
        .map(|(a, b)| a.times(b));
        let [a, b, c, d] = &corners;
        Self::Real {
            lowest: a.zip(b, f64::min).zip(&c.zip(d, f64::min), f64::min),
            highest: a.zip(b, f64::max).zip(&c.zip(d, f64::max), f64::max),
        }
    }

    pub fn squared(&self) -> Self {
        match self {
            Self::Complex(ball) => Self::Complex(ball.times(ball)),
            Self::Real { lowest, highest } => Self::Real {
                lowest: lowest.zip(highest, |l, h| {
                    if l <= 0.0 && h >= 0.0 {
                        0.0
                    } else {
                        (l * l).min(h * h)
                    }
                }),
                highest: lowest.zip(highest, |l, h| (l * l).max(h * h)),
            },
        }
    }

    pub fn scaled(&self, factor: f64) -> Self {
        match self {
            Self::Complex(ball) => Self::Complex(ball.scaled(factor)),
            Self::Real { lowest, highest } => {
                let (lowest, highest) = (lowest.map(|x| x * factor), highest.map(|x| x * factor));
                if factor < 0.0 {
                    Self::Real {
                        lowest: highest,
                        highest: lowest,
                    }
                } else {
                    Self::Real { lowest, highest }
                }
            }
        }
    }

    fn shifted(&self, term: f64) -> Self {
        match self {
            Self::Complex(ball) => Self::Complex(ball.plus(&Ball::exact(term))),
            Self::Real { lowest, highest } => Self::Real {
                lowest: lowest.map(|x| x + term),
                highest: highest.map(|x| x + term),
            },
        }
    }

    pub fn rotated(&self, steps: i64) -> Self {
        match self {
            Self::Complex(ball) => Self::Complex(ball.rotated(steps)),
            Self::Real { lowest, highest } => Self::Real {
                lowest: lowest.rotated(steps),
                highest: highest.rotated(steps),
            },
        }
    }
}

/// Spans of the values of one program, made as its instructions are walked in order.
pub struct Spans<'a> {
    program: &'a MacroProgram,
    inputs: &'a [InputRange],
    /// Whether slots are kept apart.
    by_slot: bool,
    known: Vec<Option<Span>>,
    /// Whether values are kept as polynomials of others.
    combines: bool,
    polys: Vec<Option<Polynomial>>,
    /// Spans of the values that polynomials are made of.
    terms: BTreeMap<u32, Span>,
    /// The first value that each input became.
    entered: BTreeMap<u32, MacroValue>,
    /// Values that the program's author says something of.
    said: BTreeMap<u32, Interval>,
    /// Whether values are related to other values than inputs.
    relates: bool,
    relations: Vec<Option<Relation>>,
    /// Ends of the real values that are arguments of relations.
    arguments: BTreeMap<u32, (Slots, Slots)>,
}

/// Slots times instructions up to which polynomials are kept: some 100 MB.
const COMBINES: u64 = 1 << 22;
/// Instructions up to which values are related: some 100 MB.
const RELATES: usize = 1 << 17;

impl<'a> Spans<'a> {
    /// `inputs`: one range an input.
    pub fn new(program: &'a MacroProgram, inputs: &'a [InputRange], by_slot: bool) -> Self {
        Self {
            program,
            inputs,
            by_slot,
            known: vec![None; program.types.len()],
            combines: by_slot
                && (program.instrs.len() as u64).saturating_mul(u64::from(program.slots))
                    <= COMBINES,
            polys: vec![None; program.types.len()],
            terms: BTreeMap::new(),
            entered: BTreeMap::new(),
            said: bounded::values(program),
            relates: program.instrs.len() <= RELATES,
            relations: vec![None; program.types.len()],
            arguments: BTreeMap::new(),
        }
    }

    /// The same without relations: polynomials of inputs and of what has too many products are all that is known.
    pub fn unrelated(self) -> Self {
        Self {
            relates: false,
            ..self
        }
    }

    pub fn inputs(&self) -> &'a [InputRange] {
        self.inputs
    }

    /// The span of a value that an instruction walked past has made; a value that none has is anything.
    pub fn get(&self, value: MacroValue) -> Span {
        let known = self.known.get(value.0 as usize).and_then(Option::as_ref);
        known.cloned().unwrap_or_else(Span::anything)
    }

    /// Gives up what is held of a value that no instruction reads any more.
    pub fn forget(&mut self, value: MacroValue) {
        if let Some(slot) = self.known.get_mut(value.0 as usize) {
            *slot = None;
        }
        if let Some(slot) = self.polys.get_mut(value.0 as usize) {
            *slot = None;
        }
        if let Some(slot) = self.relations.get_mut(value.0 as usize) {
            *slot = None;
        }
    }

    /// What a value is as a factor, if it lies in a ball within its span.
    pub fn factor(&self, value: MacroValue, ball: Ball) -> Factor {
        let poly = self.polys.get(value.0 as usize);
        Factor::new(ball, poly.cloned().flatten())
    }

    /// Whether polynomials are made of a value, and if so whether it is real.
    pub fn term(&self, value: MacroValue) -> Option<bool> {
        let span = self.terms.get(&value.0)?;
        Some(matches!(span, Span::Real { .. }))
    }

    /// Makes the spans of an instruction's results.
    ///
    /// # Errors
    /// An operation of which nothing is known here.
    pub fn step(&mut self, instr: &MacroInstr) -> Result<(), Refused> {
        for (k, &d) in instr.dst.iter().enumerate() {
            let span = self.result(instr, k)?;
            let said = self.said.get(&d.0).copied();
            let relation = self.relation(instr, k, &span)?;
            let span = match &relation {
                Some(relation) => self.related(relation, span),
                None => span,
            };
            let span = match (self.combines, self.by_slot) {
                (true, _) => self.combined(instr, k, d, span)?,
                (false, true) => span,
                (false, false) => span.flattened(),
            };
            let (span, relation) = match said {
                Some(said) => (self.bounded(d, said, span), relation.map(Relation::of_own)),
                None => (span, relation),
            };
            self.relate(instr, d, relation, &span);
            if let Some(slot) = self.known.get_mut(d.0 as usize) {
                *slot = Some(span);
            }
        }
        Ok(())
    }

    /// How an instruction's result, which lies in `span`, is related to others. `None` for what is not real.
    fn relation(
        &self,
        instr: &MacroInstr,
        k: usize,
        span: &Span,
    ) -> Result<Option<Relation>, Refused> {
        if !self.relates || !matches!(span, Span::Real { .. }) {
            return Ok(None);
        }
        let operand = |v: &MacroValue| self.relations.get(v.0 as usize)?.as_ref();
        let operands: Vec<Option<&Relation>> = instr.src.iter().map(operand).collect();
        Relation::of(instr, k, &operands, self.program.slots).map(Some)
    }

    /// What lies in `span` and is so related to others.
    fn related(&self, relation: &Relation, span: Span) -> Span {
        let of = |(value, turn): (u32, i64)| {
            let (lowest, highest) = self.arguments.get(&value)?;
            Some((lowest.rotated(turn), highest.rotated(turn)))
        };
        match relation.ends(&of) {
            Some((lowest, highest)) => Span::Real { lowest, highest }.met(span),
            None => span,
        }
    }

    /// What lies in `span`, and where the program's author says. Others are polynomials of it from now on.
    fn bounded(&mut self, d: MacroValue, said: Interval, span: Span) -> Span {
        let lowest = Slots::All(said.lowest);
        // Words that contradict each other leave one number.
        let highest = Slots::All(said.highest.max(said.lowest));
        let said = Span::Real { lowest, highest };
        let span = match span {
            Span::Real { .. } => said.met(span),
            Span::Complex(_) => said,
        };
        if self.combines {
            self.terms.insert(d.0, span.clone());
            if let Some(slot) = self.polys.get_mut(d.0 as usize) {
                *slot = Some(Polynomial::own(d.0));
            }
        }
        span
    }

    /// Whether the program's author says something of a value.
    pub fn is_said(&self, value: MacroValue) -> bool {
        self.said.contains_key(&value.0)
    }

    /// Keeps the relation of a new value, which may be an argument of others from now on.
    fn relate(
        &mut self,
        instr: &MacroInstr,
        d: MacroValue,
        relation: Option<Relation>,
        span: &Span,
    ) {
        let (Some(relation), Span::Real { lowest, highest }) = (relation, span) else {
            return;
        };
        let own = match instr.imm {
            MacroImm::Input(i) => *self.entered.entry(i).or_insert(d),
            _ => d,
        };
        let relation = relation.with_own(own.0);
        if relation.arguments().any(|argument| argument == own.0) {
            let ends = match self.combines {
                true => (lowest.clone(), highest.clone()),
                false => {
                    let least = lowest.map(|x| -x).flattened().map(|x| -x);
                    (least, highest.flattened())
                }
            };
            self.arguments.insert(own.0, ends);
        }
        if let Some(slot) = self.relations.get_mut(d.0 as usize) {
            *slot = Some(relation);
        }
    }

    /// The span of an instruction's result as a polynomial of others, if that is less than `span`.
    fn combined(
        &mut self,
        instr: &MacroInstr,
        k: usize,
        d: MacroValue,
        span: Span,
    ) -> Result<Span, Refused> {
        let operand = |v: &MacroValue| self.polys.get(v.0 as usize)?.as_ref();
        let operands: Vec<Option<&Polynomial>> = instr.src.iter().map(operand).collect();
        let real = |v: u32| matches!(self.terms.get(&v), Some(Span::Real { .. }));
        let poly = algebra::result(self.program, instr, k, &operands, &real)?;
        let met = poly.as_ref().filter(|poly| poly.has_met());
        let combined = met.and_then(|poly| {
            let domain = |v: u32| self.terms.get(&v).map(Span::domain);
            let ball = poly.ball(domain)?;
            Some(if poly.is_real(real) {
                let (lowest, highest) = ball.real_ends();
                Span::Real { lowest, highest }
            } else {
                Span::Complex(ball)
            })
        });
        let span = match combined {
            Some(combined) => combined.met(span),
            None => span,
        };
        let poly = poly.unwrap_or_else(|| {
            let own = match instr.imm {
                MacroImm::Input(i) => *self.entered.entry(i).or_insert(d),
                _ => d,
            };
            self.terms.insert(own.0, span.clone());
            Polynomial::own(own.0)
        });
        if let Some(slot) = self.polys.get_mut(d.0 as usize) {
            *slot = Some(poly);
        }
        Ok(span)
    }

    /// The span of an instruction's result number `k`.
    fn result(&self, instr: &MacroInstr, k: usize) -> Result<Span, Refused> {
        let mut result = OfResult { spans: self, k };
        match instr.op.columns().message {
            MacroMessage::Kept => Ok(result.operand(instr, 0)),
            _ => result.visit(instr),
        }
    }
}

/// The span of an instruction's result number `k`, by those of its operands.
struct OfResult<'a, 'b> {
    spans: &'a Spans<'b>,
    k: usize,
}

impl OfResult<'_, '_> {
    fn operand(&self, instr: &MacroInstr, number: usize) -> Span {
        let value = instr.src.get(number);
        value.map_or_else(Span::anything, |&v| self.spans.get(v))
    }
}

impl Visitor for OfResult<'_, '_> {
    const PASS: &'static str = "the analysis of ranges";
    type Out = Span;
    type Error = Refused;

    fn input(&mut self, _: &MacroInstr, input: u32) -> Result<Span, Refused> {
        let range = self.spans.inputs.get(input as usize);
        Ok(range.map_or_else(Span::anything, InputRange::span))
    }

    fn encode(&mut self, _: &MacroInstr, data: u32) -> Result<Span, Refused> {
        let values = self.spans.program.data.get(data as usize);
        Ok(values.map_or_else(Span::anything, |values| Span::constant(values)))
    }

    fn add(&mut self, instr: &MacroInstr) -> Result<Span, Refused> {
        Ok(self.operand(instr, 0).plus(&self.operand(instr, 1)))
    }

    fn sub(&mut self, instr: &MacroInstr) -> Result<Span, Refused> {
        let minus = self.operand(instr, 1).negated();
        Ok(self.operand(instr, 0).plus(&minus))
    }

    fn mul(&mut self, instr: &MacroInstr) -> Result<Span, Refused> {
        if instr.src.first() == instr.src.get(1) {
            return self.square(instr);
        }
        Ok(self.operand(instr, 0).times(&self.operand(instr, 1)))
    }

    fn square(&mut self, instr: &MacroInstr) -> Result<Span, Refused> {
        Ok(self.operand(instr, 0).squared())
    }

    fn linear(&mut self, instr: &MacroInstr, map: Linear) -> Result<Span, Refused> {
        Ok(self.operand(instr, 0).mapped(map))
    }

    fn addc(&mut self, instr: &MacroInstr, constant: Constant) -> Result<Span, Refused> {
        Ok(match constant {
            Constant::Real { value, .. } => self.operand(instr, 0).shifted(value),
            Constant::Integer(_) => Span::anything(),
        })
    }

    fn mulc(&mut self, instr: &MacroInstr, constant: Constant) -> Result<Span, Refused> {
        Ok(match constant {
            Constant::Real { value, .. } => self.operand(instr, 0).scaled(value),
            Constant::Integer(_) => Span::anything(),
        })
    }

    fn rotate(&mut self, instr: &MacroInstr, steps: &[i32]) -> Result<Span, Refused> {
        let turned = |&step: &i32| self.operand(instr, 0).rotated(i64::from(step));
        Ok(steps.get(self.k).map_or_else(Span::anything, turned))
    }

    fn hrotate(&mut self, instr: &MacroInstr, steps: &[i32]) -> Result<Span, Refused> {
        self.rotate(instr, steps)
    }
}
