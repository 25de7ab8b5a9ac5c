// SPDX-License-Identifier: Apache-2.0
//! That a pass has no meaning for an operation, by the operation's name.

use std::fmt;

use super::op::{MacroOp, MacroStage};
use super::program::MacroInstr;
use crate::source::SourceLoc;

/// An instruction that a pass refuses: one that it does not know, or one that carries what its definition does not say.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{place}{pass} {why} {}", op.mnemonic(), place = Before(loc.as_ref()))]
pub struct Refused {
    pub pass: &'static str,
    pub op: MacroOp,
    why: Why,
    /// The user's source line, where known.
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
    /// The pass has no meaning for the operation.
    pub fn unknown(pass: &'static str, instr: &MacroInstr) -> Self {
        Self::of(pass, instr.op, instr.loc.as_ref())
    }

    /// The same of an operation without its instruction.
    pub fn of(pass: &'static str, op: MacroOp, loc: Option<&SourceLoc>) -> Self {
        Self {
            pass,
            op,
            why: Why::Unknown,
            loc: loc.cloned(),
        }
    }

    /// The instruction carries an immediate of another kind than its definition says, or other operands.
    pub fn shape(pass: &'static str, instr: &MacroInstr) -> Self {
        Self {
            why: Why::Shape,
            ..Self::unknown(pass, instr)
        }
    }

    /// Whether the pass has no meaning for the operation, whatever it is given.
    pub fn is_unknown(&self) -> bool {
        self.why == Why::Unknown
    }
}

/// A source line before a message.
struct Before<'a>(Option<&'a SourceLoc>);

impl fmt::Display for Before<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(loc) => write!(f, "{loc}: "),
            None => Ok(()),
        }
    }
}

/// An operation of a later stage than is expected.
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
