//! What values are as linear combinations of others, so that x + y - x is known to lie where y does.
//!
//! Interval analysis takes a sum's operands to be anywhere within their spans, whatever the others are. Beside it, a value
//! is kept as a constant and multiples of inputs and of products, each turned by some slots or conjugated or both, in
//! which equal ones meet.

use std::collections::BTreeMap;

use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroProgram, MacroValue};

use crate::range::Span;

/// An input or a product, how many slots it is turned by, and whether it is conjugated.
type Term = (u32, u32, bool);

/// Terms kept; a combination of more is a term of its own.
const TERMS: usize = 8;

/// A constant and multiples of terms.
#[derive(Clone, Debug)]
pub(crate) struct Linear {
    constant: Span,
    factors: BTreeMap<Term, Span>,
    /// Whether terms have met: otherwise intervals know as much.
    met: bool,
}

impl Linear {
    /// A term of its own.
    pub fn own(value: MacroValue) -> Self {
        Self {
            constant: Span::exact(0.0),
            factors: BTreeMap::from([((value.0, 0, false), Span::exact(1.0))]),
            met: false,
        }
    }

    fn constant(constant: Span) -> Self {
        Self {
            constant,
            factors: BTreeMap::new(),
            met: false,
        }
    }

    /// The span of the combination, where that may be less than what intervals say; `span` is that of a term.
    pub fn span(&self, span: impl Fn(MacroValue) -> Option<Span>) -> Option<Span> {
        if !self.met {
            return None;
        }
        let mut sum = self.constant.clone();
        for (&(value, turn, conjugate), factor) in &self.factors {
            // Multiples of what is not bounded may be no numbers.
            let span = span(MacroValue(value)).filter(Span::is_finite)?;
            let span = span.rotated(i64::from(turn));
            let span = if conjugate { span.conjugated() } else { span };
            sum = sum.plus(&span.times(factor));
        }
        Some(sum).filter(Span::is_finite)
    }

    fn map(&self, f: impl Fn(&Span) -> Span) -> Self {
        Self {
            constant: f(&self.constant),
            factors: self.factors.iter().map(|(&t, x)| (t, f(x))).collect(),
            met: self.met,
        }
    }

    fn plus(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        sum.constant = sum.constant.plus(&other.constant);
        sum.met |= other.met;
        for (&term, factor) in &other.factors {
            let both = sum.factors.get(&term).map(|x| x.plus(factor));
            sum.met |= both.is_some();
            sum.factors
                .insert(term, both.unwrap_or_else(|| factor.clone()));
        }
        sum.factors.retain(|_, factor| !factor.is_zero());
        sum
    }

    /// `real` says which terms are.
    fn conjugated(&self, real: impl Fn(MacroValue) -> bool) -> Self {
        let conjugate = |(&(value, turn, conjugate), factor): (&Term, &Span)| {
            let conjugate = !conjugate && !real(MacroValue(value));
            ((value, turn, conjugate), factor.conjugated())
        };
        Self {
            constant: self.constant.conjugated(),
            factors: self.factors.iter().map(conjugate).collect(),
            met: self.met,
        }
    }

    fn rotated(&self, steps: i64, slots: u32) -> Self {
        let turn = |(&(value, turn, conjugate), factor): (&Term, &Span)| {
            let turn = (i64::from(turn) + steps).rem_euclid(i64::from(slots.max(1)));
            ((value, turn as u32, conjugate), factor.rotated(steps))
        };
        Self {
            constant: self.constant.rotated(steps),
            factors: self.factors.iter().map(turn).collect(),
            met: self.met,
        }
    }

    /// An instruction's result number `k`, the value `d`; `operands` are what is known of its operands and `real` says
    /// which terms are. `None` for what is no linear combination, or one of too many terms.
    pub fn result(
        program: &MacroProgram,
        instr: &MacroInstr,
        k: usize,
        operands: &[Option<&Self>],
        real: impl Fn(MacroValue) -> bool,
    ) -> Option<Self> {
        let operand = |i: usize| operands.get(i).copied().flatten();
        let result = match (instr.op, &instr.imm) {
            (MacroOp::Encode, &MacroImm::Data(d)) => {
                Self::constant(Span::constant(program.data.get(d as usize)?))
            }
            (MacroOp::Add, _) => operand(0)?.plus(operand(1)?),
            (MacroOp::Sub, _) => operand(0)?.plus(&operand(1)?.map(Span::negated)),
            (MacroOp::Neg, _) => operand(0)?.map(Span::negated),
            (MacroOp::Mul, _) => {
                let (a, b) = (operand(0)?, operand(1)?);
                let (a, b) = if a.factors.is_empty() { (b, a) } else { (a, b) };
                let by = b.factors.is_empty().then_some(&b.constant)?;
                a.map(|x| x.times(by))
            }
            (MacroOp::Addc, &MacroImm::Constant { value, .. }) => {
                operand(0)?.plus(&Self::constant(Span::exact(value)))
            }
            (MacroOp::Mulc, &MacroImm::Constant { value, .. }) => {
                operand(0)?.map(|x| x.scaled(value))
            }
            (MacroOp::Conj, _) => operand(0)?.conjugated(real),
            (MacroOp::Relin | MacroOp::Rescale | MacroOp::Modswitch, _) => operand(0)?.clone(),
            (MacroOp::Rotate | MacroOp::Hrotate, MacroImm::Steps(steps)) => {
                operand(0)?.rotated(i64::from(*steps.get(k)?), program.slots)
            }
            (
                MacroOp::Input
                | MacroOp::Encode
                | MacroOp::Square
                | MacroOp::Addc
                | MacroOp::Mulc
                | MacroOp::Rotate
                | MacroOp::Hrotate
                | MacroOp::Call
                | MacroOp::Repeat
                | MacroOp::Output,
                _,
            ) => return None,
        };
        (result.factors.len() <= TERMS).then_some(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> [Linear; 2] {
        [0, 1].map(|v| Linear::own(MacroValue(v)))
    }

    fn terms(of: &Linear) -> Vec<Term> {
        of.factors.keys().copied().collect()
    }

    #[test]
    fn what_meets_itself_with_the_opposite_sign_is_gone() {
        let [x, y] = values();
        let sum = x.plus(&y);
        assert!(
            sum.span(|_| Some(Span::exact(1.0))).is_none(),
            "nothing met"
        );
        let y_alone = sum.plus(&x.map(Span::negated));
        assert_eq!(terms(&y_alone), [(1, 0, false)]);
        let span = y_alone.span(|v| (v.0 == 1).then(|| Span::exact(3.0)));
        assert_eq!(span.unwrap().magnitude().at(0), 3.0);
        assert!(y_alone.span(|_| None).is_none());
    }

    #[test]
    fn turns_are_modulo_the_slots_and_conjugates_of_real_values_are_themselves() {
        let [x, _] = values();
        let nothing = x.rotated(3, 4).plus(&x.rotated(-1, 4).map(Span::negated));
        assert!(terms(&nothing).is_empty());
        assert_eq!(terms(&x.conjugated(|_| true)), terms(&x));
        let conjugate = x.conjugated(|_| false);
        assert_eq!(terms(&conjugate), [(0, 0, true)]);
        assert_eq!(terms(&conjugate.conjugated(|_| false)), terms(&x));
    }
}
