// SPDX-License-Identifier: Apache-2.0
//! Operations of one value, slot by slot: negation, conjugation, twice the real part, and the test for zero. Each is a
//! row of one table.

use ringmill_isa::macros::{MacroImm, TracedOp};
use ringmill_isa::source::SourceLoc;

use super::emit::check_finite;
use super::{At, Node, Slot, Sort, TraceBuilder, TraceError, Traced};

/// An operation of one value that takes no further number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unary {
    /// The negative `-a`.
    Neg,
    /// The complex conjugate of `a`.
    Conj,
    /// Twice the real part of `a`.
    TwoReal,
    /// 1 in slots where `a` is zero, and 0 elsewhere. Only schemes of whole numbers take this operation on ciphertexts.
    IsZero,
}

/// The properties of an operation of one value: its name for front ends, its noun in errors, its
/// instruction, and the function that computes one slot of a constant.
struct Row {
    name: &'static str,
    noun: &'static str,
    op: TracedOp,
    slot: fn(Slot) -> Slot,
}

impl Unary {
    pub const ALL: [Self; 4] = [Self::Neg, Self::Conj, Self::TwoReal, Self::IsZero];

    #[rustfmt::skip] // a table is read by its columns
    const fn row(self) -> Row {
        match self {
            Self::Neg     => row("neg",      "negation",        TracedOp::Neg,     |(re, im)| (-re, -im)),
            Self::Conj    => row("conj",     "conjugation",     TracedOp::Conj,    |(re, im)| (re, -im)),
            Self::TwoReal => row("two_real", "a real part",     TracedOp::Tworeal, |(re, _)| (2.0 * re, 0.0)),
            Self::IsZero  => row("is_zero",  "a test for zero", TracedOp::Iszero,  zero),
        }
    }

    /// Returns the operation that front ends call by this name, or `None` for another name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|unary| unary.row().name == name)
    }
}

const fn row(name: &'static str, noun: &'static str, op: TracedOp, slot: fn(Slot) -> Slot) -> Row {
    Row {
        name,
        noun,
        op,
        slot,
    }
}

fn zero(x: Slot) -> Slot {
    match x {
        (0.0, 0.0) => (1.0, 0.0),
        _ => (0.0, 0.0),
    }
}

impl TraceBuilder {
    /// Computes an operation of one value, slot by slot. For a constant the builder computes the result itself.
    ///
    /// # Errors
    /// [`TraceError::PlainArithmetic`] for a plain input, [`TraceError::Overflow`] if the result of a constant is not
    /// finite, [`TraceError::TooLong`].
    pub fn unary(
        &mut self,
        unary: Unary,
        a: Traced,
        loc: Option<SourceLoc>,
    ) -> Result<Traced, TraceError> {
        let Row { noun, op, slot, .. } = unary.row();
        match self.sort(a, &loc)? {
            Sort::Cipher(v) => self.cipher(op, vec![v], MacroImm::None, loc),
            Sort::Scalar(x) => {
                let value = slot((x, 0.0));
                check_finite(noun, &[value], &loc)?;
                match value {
                    (re, 0.0) => Ok(self.node(Node::Scalar(re))),
                    complex => {
                        let slots = self.program.slots as usize;
                        self.vector(vec![complex; slots], loc)
                    }
                }
            }
            Sort::Constant => {
                let values: Vec<Slot> = self.values(a).into_iter().map(slot).collect();
                check_finite(noun, &values, &loc)?;
                Ok(self.vector_node(values))
            }
            Sort::PlainInput(_) => Err(TraceError::PlainArithmetic {
                at: At(loc),
                operation: noun,
            }),
        }
    }

    /// Computes `-a` slot by slot.
    ///
    /// # Errors
    /// Fails like [`TraceBuilder::unary`].
    pub fn neg(&mut self, a: Traced, loc: Option<SourceLoc>) -> Result<Traced, TraceError> {
        self.unary(Unary::Neg, a, loc)
    }

    /// Computes the complex conjugate slot by slot.
    ///
    /// # Errors
    /// Fails like [`TraceBuilder::unary`].
    pub fn conj(&mut self, a: Traced, loc: Option<SourceLoc>) -> Result<Traced, TraceError> {
        self.unary(Unary::Conj, a, loc)
    }

    /// Computes 1 in slots where `a` is zero and 0 elsewhere.
    ///
    /// # Errors
    /// Fails like [`TraceBuilder::unary`].
    pub fn is_zero(&mut self, a: Traced, loc: Option<SourceLoc>) -> Result<Traced, TraceError> {
        self.unary(Unary::IsZero, a, loc)
    }
}
