// SPDX-License-Identifier: Apache-2.0
//! The error of a compiler pass that cannot handle an operation.

use std::fmt;

use super::op::{MacroOp, MacroStage};
use super::program::MacroInstr;
use crate::source::SourceLoc;

/// The error of a compiler pass that refuses an instruction. The pass cannot handle the instruction's operation, or
/// the instruction's operands differ from its definition.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{place}{pass} {why} {}", op.mnemonic(), place = Before(loc.as_ref()))]
pub struct Refused {
    pub pass: &'static str,
    pub op: MacroOp,
    why: Why,
    /// The line of the user's source from which the instruction came, if known.
    pub loc: Option<SourceLoc>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Why {
    Unknown,
    Shape,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "has no meaning for",
            Self::Shape => "is given other operands or another immediate than belong to",
        })
    }
}

impl Refused {
    /// Returns the error of the pass named `pass`, which cannot handle the operation of `instr`.
    pub fn unknown(pass: &'static str, instr: &MacroInstr) -> Self {
        Self::of(pass, instr.op, instr.loc.as_ref())
    }

    /// Returns the error of the pass named `pass`, which cannot handle the operation `op`.
    pub fn of(pass: &'static str, op: MacroOp, loc: Option<&SourceLoc>) -> Self {
        Self {
            pass,
            op,
            why: Why::Unknown,
            loc: loc.cloned(),
        }
    }

    /// Returns the error of the pass named `pass` for an instruction whose immediate or operands differ from its
    /// definition.
    pub fn shape(pass: &'static str, instr: &MacroInstr) -> Self {
        Self {
            why: Why::Shape,
            ..Self::unknown(pass, instr)
        }
    }

    /// Returns true if the pass cannot handle the operation at all, and false if the instruction's
    /// operands or immediate are wrong.
    pub fn is_unknown(&self) -> bool {
        self.why == Why::Unknown
    }
}

/// A line of the user's source as the prefix of an error message, or an empty text if the line is not known.
struct Before<'a>(Option<&'a SourceLoc>);

impl fmt::Display for Before<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(loc) => write!(f, "{loc}: "),
            None => Ok(()),
        }
    }
}

/// The error of an operation that stands in a program of an earlier compiler stage than the
/// operation may.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{} is an operation of {} programs; expected one of {} programs", op.mnemonic(), op.columns().stage.word(), expected.word())]
pub struct OfStage {
    pub op: MacroOp,
    pub expected: MacroStage,
}

impl OfStage {
    pub(crate) fn new(op: MacroOp, expected: MacroStage) -> Self {
        Self { op, expected }
    }
}
