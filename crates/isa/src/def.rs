// SPDX-License-Identifier: Apache-2.0
//! The row of one instruction in the generated tables: mnemonic, arities, rule, immediate and expansion.

use std::fmt;

use crate::error::Fault;
use crate::limits;

/// The number of values that an instruction takes or gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arity {
    /// Exactly this many.
    Exactly(usize),
    /// One or more groups of this many values each.
    Groups(usize),
    /// One or more values, then this many others.
    ListAnd(usize),
}

impl Arity {
    /// Returns whether `count` values are allowed.
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

/// One instruction's row in a generated table; `R` and `I` are the level's rules and immediate kinds, `O` its opcodes.
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
    /// The instructions of the defining expansion; empty unless the instruction is a composite.
    pub expansion: &'static [O],
}

impl<O, R, I> OpInfo<O, R, I> {
    /// Checks the operand and result counts against the definition.
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
