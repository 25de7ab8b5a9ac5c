// SPDX-License-Identifier: Apache-2.0
//! The error of a compiler pass that has no meaning for an operation.

use std::fmt;

use super::op::{MacroOp, MacroStage};
use super::program::MacroInstr;
use crate::source::SourceLoc;

/// An instruction that a pass refuses, because the pass does not know it or its operands do not match its definition.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{place}{pass} {why} {}", op.mnemonic(), place = Before(loc.as_ref()))]
pub struct Refused {
    pub pass: &'static str,
    pub op: MacroOp,
    why: Why,
    /// The user's source line, if known.
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
    /// Returns the error of a pass that has no meaning for the instruction's operation.
    pub fn unknown(pass: &'static str, instr: &MacroInstr) -> Self {
        Self::of(pass, instr.op, instr.loc.as_ref())
    }

    /// Returns the error of a pass that has no meaning for an operation.
    pub fn of(pass: &'static str, op: MacroOp, loc: Option<&SourceLoc>) -> Self {
        Self {
            pass,
            op,
            why: Why::Unknown,
            loc: loc.cloned(),
        }
    }

    /// Returns the error of an instruction whose immediate or operands differ from its definition.
    pub fn shape(pass: &'static str, instr: &MacroInstr) -> Self {
        Self {
            why: Why::Shape,
            ..Self::unknown(pass, instr)
        }
    }

    /// Returns whether the pass has no meaning for the operation with any operands.
    pub fn is_unknown(&self) -> bool {
        self.why == Why::Unknown
    }
}

/// Writes a source line before a message.
struct Before<'a>(Option<&'a SourceLoc>);

impl fmt::Display for Before<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(loc) => write!(f, "{loc}: "),
            None => Ok(()),
        }
    }
}

/// The error of an operation of a later stage than expected.
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
