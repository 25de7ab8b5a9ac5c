// SPDX-License-Identifier: Apache-2.0
//! The commands and answers of the base-extension units (`rm_basext_pkg`).

use std::fmt;

use ringmill_machines::basext::Extension;

/// The operation of a command to a base-extension unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// Loads the moduli and constants of an extension into the unit.
    Load,
    /// Extends limbs to every target modulus of the loaded constants.
    Extend(Extension),
    /// An operation number of the command port that stands for no operation. The unit refuses it.
    None,
}

impl Operation {
    /// Returns the operation's number in `op_e` of `rm_basext_pkg`.
    pub fn number(self) -> u64 {
        match self {
            Self::Load => 0,
            Self::Extend(Extension::Exact) => 1,
            Self::Extend(Extension::Fast) => 2,
            Self::None => 3,
        }
    }
}

/// A command at the pins of a base-extension unit. A load has the numbers of source moduli `l` and
/// of target moduli `k`. An extension has `log_n`, log2 of the ring degree; its `k` is one below
/// the number of polynomials that it extends. So `k` is 0 on a unit that takes one polynomial in a
/// command (`Unit::polynomials`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Command {
    pub operation: Operation,
    pub l: u8,
    pub k: u8,
    pub log_n: u8,
}

/// The result code of a command to a base-extension unit: `code_e` of `rm_basext_pkg`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    Ok,
    BadCommand,
    TooLarge,
    NoConstants,
    BadConstant,
    NoRedundant,
    CutShort,
    TooLong,
}

impl Code {
    /// All result codes in the order of their numbers.
    pub const ALL: [Self; 8] = [
        Self::Ok,
        Self::BadCommand,
        Self::TooLarge,
        Self::NoConstants,
        Self::BadConstant,
        Self::NoRedundant,
        Self::CutShort,
        Self::TooLong,
    ];

    /// Returns the result code with the number `bits`, or `None` if no code has that number.
    pub fn from_bits(bits: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(bits).ok()?).copied()
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ok => "done",
            Self::BadCommand => "there is no such command",
            Self::TooLarge => "l, k or N is zero, or beyond what the unit was made for",
            Self::NoConstants => "no constants were taken since reset, or the last load failed",
            Self::BadConstant => {
                "a modulus is not 1 modulo twice the least N, or a constant is not below its modulus"
            }
            Self::NoRedundant => "an exact extension needs a redundant modulus",
            Self::CutShort => "the stream ended early",
            Self::TooLong => "the stream did not end where it should",
        })
    }
}
