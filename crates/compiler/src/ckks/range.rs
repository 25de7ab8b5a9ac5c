// SPDX-License-Identifier: Apache-2.0
//! Interval analysis: how large every value of a program can become for all inputs within their ranges. [`Spans`]
//! follows each slot by itself if its maker asks for that.
//!
//! The bounds are exact for sums of inputs and products with constants, and safe everywhere. Each operand of an
//! instruction is taken to be anywhere within its span, independently of the other operand. Polynomials of a few terms
//! ([`Polynomial`]) and relations ([`Relation`]) are the exceptions: their bounds account for repeated operands.

use std::collections::BTreeMap;

use ringmill_isa::macros::op::MacroMessage;
use ringmill_isa::macros::{
    Constant, Interval, Linear, MacroImm, MacroInstr, MacroProgram, MacroValue, Refused, Visitor,
};
use ringmill_schemes::ckks::{Ball, Factor, Polynomial, Slots};

use crate::ckks::algebra;
use crate::ckks::bounded;
use crate::ckks::relation::Relation;
use crate::ckks::span::Span;

/// The range in which all slots of an input lie.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum InputRange {
    /// The slots are real numbers from `lowest` to `highest`.
    Real { lowest: f64, highest: f64 },
    /// The slots are complex numbers of at most this absolute value.
    Disc { radius: f64 },
}

impl InputRange {
    /// Returns whether the range is finite and not empty.
    pub fn is_valid(&self) -> bool {
        match *self {
            Self::Real { lowest, highest } => {
                lowest.is_finite() && highest.is_finite() && lowest <= highest
            }
            Self::Disc { radius } => radius.is_finite() && radius >= 0.0,
        }
    }

    /// Returns whether a slot in this range may hold the value `re + i im`. A value that is not finite lies in no
    /// range.
    pub fn contains(&self, re: f64, im: f64) -> bool {
        match *self {
            Self::Real { lowest, highest } => (lowest..=highest).contains(&re) && im == 0.0,
            // A radius that was computed from a value must hold that value in spite of rounding.
            Self::Disc { radius } => re.hypot(im) <= radius * (1.0 + 4.0 * f64::EPSILON),
        }
    }

    /// Returns the largest absolute value of the numbers in this range.
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

/// The spans of the values of one program, computed in the order of its instructions.
pub struct Spans<'a> {
    program: &'a MacroProgram,
    inputs: &'a [InputRange],
    /// Whether each slot has a span of its own. Otherwise one span holds all slots of a value.
    by_slot: bool,
    known: Vec<Option<Span>>,
    /// Whether values are also kept as polynomials of other values.
    combines: bool,
    polys: Vec<Option<Polynomial>>,
    /// The spans of the values that are variables of polynomials, by the value's number.
    terms: BTreeMap<u32, Span>,
    /// For each input, the first value that an instruction made of it.
    entered: BTreeMap<u32, MacroValue>,
    /// The intervals that the program's author declares for values (`BOUNDED`), by the value's number.
    said: BTreeMap<u32, Interval>,
    /// Whether values are also kept as relations to other values (`Relation`).
    relates: bool,
    relations: Vec<Option<Relation>>,
    /// The ends of the intervals of real values that are arguments of relations.
    arguments: BTreeMap<u32, (Slots, Slots)>,
}

/// The limit on slots times instructions up to which values are also kept as polynomials of other
/// values. At the limit these polynomials take some 100 MB.
const COMBINES: u64 = 1 << 22;
/// The limit on the number of instructions up to which relations between values are kept. At the
/// limit these relations take some 100 MB.
const RELATES: usize = 1 << 17;

impl<'a> Spans<'a> {
    /// Starts the analysis of a program with one range for each input. `by_slot` says whether each slot has a span of
    /// its own.
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

    /// Returns the analysis without relations between values. Only polynomials and declared bounds narrow the spans
    /// then.
    pub fn unrelated(self) -> Self {
        Self {
            relates: false,
            ..self
        }
    }

    pub fn inputs(&self) -> &'a [InputRange] {
        self.inputs
    }

    /// Returns the span of a value. A value that no instruction has made yet may be anything.
    pub fn get(&self, value: MacroValue) -> Span {
        let known = self.known.get(value.0 as usize).and_then(Option::as_ref);
        known.cloned().unwrap_or_else(Span::anything)
    }

    /// Drops the span, the polynomial and the relation of a value that no instruction reads any more.
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

    /// Returns a value as the factor of a product: its polynomial, and the ball in which its slots
    /// lie, a part of its span.
    pub fn factor(&self, value: MacroValue, ball: Ball) -> Factor {
        let poly = self.polys.get(value.0 as usize);
        Factor::new(ball, poly.cloned().flatten())
    }

    /// Returns whether a value is real if it is a variable of polynomials, or `None` if it is no
    /// such variable.
    pub fn term(&self, value: MacroValue) -> Option<bool> {
        let span = self.terms.get(&value.0)?;
        Some(matches!(span, Span::Real { .. }))
    }

    /// Computes the spans of an instruction's results from those of its operands.
    ///
    /// # Errors
    /// Fails for an operation that this analysis does not know.
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

    /// Returns the relation of an instruction's result, which lies in `span`, to other values, or `None` if the result
    /// is not real or the analysis keeps no relations.
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

    /// Returns the part of `span` that the result's relation to other values allows.
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

    /// Returns the part of `span` that the program's author declares for the value `d`. If values are kept as
    /// polynomials, the value becomes a variable of them.
    fn bounded(&mut self, d: MacroValue, said: Interval, span: Span) -> Span {
        let lowest = Slots::All(said.lowest);
        // Declared bounds that contradict each other leave one number.
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

    /// Returns whether the program's author declares a bound of the value (`BOUNDED`).
    pub fn is_said(&self, value: MacroValue) -> bool {
        self.said.contains_key(&value.0)
    }

    /// Keeps the relation of a new value to others. The value may be an argument of later relations.
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

    /// Returns the part of `span` that the result's polynomial in other values allows. If one of the two is complex,
    /// the result is the one of smaller magnitude.
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

    /// Returns the span of an instruction's result number `k`.
    fn result(&self, instr: &MacroInstr, k: usize) -> Result<Span, Refused> {
        let mut result = OfResult { spans: self, k };
        match instr.op.columns().message {
            MacroMessage::Kept => Ok(result.operand(instr, 0)),
            _ => result.visit(instr),
        }
    }
}

/// Result number `k` of an instruction, computed from the spans of the operands.
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
