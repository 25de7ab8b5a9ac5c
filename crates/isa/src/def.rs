// SPDX-License-Identifier: Apache-2.0
//! The row of one instruction in the generated tables: mnemonic, numbers of operands and results, typing rule,
//! immediate and expansion.

use std::fmt;

use crate::error::Fault;
use crate::limits;

/// The number of operands that an instruction may take, or of results that it may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arity {
    /// The instruction has exactly this many operands or results.
    Exactly(usize),
    /// The instruction has a positive multiple of this number of operands or results.
    Groups(usize),
    /// The instruction has one or more operands or results of equal role, then this many others.
    ListAnd(usize),
}

impl Arity {
    /// Returns whether this arity allows `count` operands or results.
    pub const fn allows(self, count: usize) -> bool {
        match self {
            Arity::Exactly(n) => count == n,
            Arity::Groups(of) => of > 0 && count > 0 && count.is_multiple_of(of),
            Arity::ListAnd(others) => count > others,
        }
    }
}

impl fmt::Display for Arity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Arity::Exactly(n) => write!(f, "exactly {n}"),
            Arity::Groups(1) => write!(f, "at least 1"),
            Arity::Groups(of) => write!(f, "a positive multiple of {of}"),
            Arity::ListAnd(others) => write!(f, "at least {}", others.saturating_add(1)),
        }
    }
}

/// The row of one instruction in the generated table of a level. `O` is the type of the level's
/// opcodes, `R` of its typing rules, `I` of its kinds of immediate.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo<O: 'static, R, I> {
    pub mnemonic: &'static str,
    pub operands: Arity,
    pub operand_names: &'static [&'static str],
    pub results: Arity,
    pub result_names: &'static [&'static str],
    pub immediate: I,
    pub rule: R,
    pub semantics: &'static str,
    /// The simpler instructions into which a composite instruction expands, and which define it.
    /// The list is empty for any other instruction.
    pub expansion: &'static [O],
}

impl<O, R, I> OpInfo<O, R, I> {
    /// Checks that an instruction has as many operands (`src`) and results (`dst`) as its definition says, and at most
    /// [`MAX_OPERANDS`](limits::MAX_OPERANDS) of each.
    pub(crate) fn check_counts(&self, src: usize, dst: usize) -> Result<(), Fault> {
        for (what, expected, found) in [
            ("operands", self.operands, src),
            ("results", self.results, dst),
        ] {
            if !expected.allows(found) {
                return Err(Fault::Count {
                    what,
                    expected,
                    found,
                });
            }
            if found > limits::MAX_OPERANDS {
                return Err(Fault::TooMany {
                    what,
                    limit: limits::MAX_OPERANDS,
                    found,
                });
            }
        }
        Ok(())
    }
}
