// SPDX-License-Identifier: Apache-2.0
//! The commands of the base-extension units.

use ringmill_machines::basext::Extension;
use ringmill_machines::basext::isa::Opcode;

pub use ringmill_machines::basext::isa::Code;

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
    /// Returns the operation's number in a command. That of no operation is the first that is free.
    pub fn number(self) -> u64 {
        match self {
            Self::Load => Opcode::Load.bits(),
            Self::Extend(Extension::Exact) => Opcode::Exact.bits(),
            Self::Extend(Extension::Fast) => Opcode::Fast.bits(),
            Self::None => Opcode::ALL.len() as u64,
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
