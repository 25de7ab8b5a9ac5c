// SPDX-License-Identifier: Apache-2.0
//! The commands, result codes and limb places of the polynomial multiplier.

pub use ringmill_machines::polymul::isa::{Code, Unit};

use ringmill_machines::polymul::ArrayOp;
use ringmill_machines::polymul::isa::Opcode;

/// A place for one limb in the multiplier, and the limb's form. The multiplier stores two sets of
/// two polynomials; the place is polynomial `buf` (0 or 1) of set `set` (0 or 1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    pub set: usize,
    pub buf: usize,
    /// Whether the limb is in evaluation form.
    pub eval: bool,
}

/// The operation of a command, by the unit that executes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    Array(ArrayOp),
    Load,
    Unload,
    Tables,
    Abort,
}

impl Op {
    /// Returns every operation, in no particular order.
    pub fn all() -> impl Iterator<Item = Self> {
        let others = [Self::Load, Self::Unload, Self::Tables, Self::Abort];
        ArrayOp::ALL.into_iter().map(Self::Array).chain(others)
    }

    /// Returns the operation's code in a command.
    pub fn opcode(self) -> Opcode {
        match self {
            Self::Array(op) => op.opcode(),
            Self::Load => Opcode::Load,
            Self::Unload => Opcode::Unload,
            Self::Tables => Opcode::Tables,
            Self::Abort => Opcode::Abort,
        }
    }

    /// Returns the unit that executes the operation, or `None` for an abort, which ends a load
    /// instead.
    pub fn unit(self) -> Option<Unit> {
        match self {
            Self::Array(_) => Some(Unit::Array),
            Self::Load | Self::Tables => Some(Unit::Load),
            Self::Unload => Some(Unit::Unload),
            Self::Abort => None,
        }
    }
}

/// A command at the pins of the multiplier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    pub op: Op,
    /// The place of the limb that the command works on. A product, sum or difference uses only the place's set, whose
    /// two limbs are its operands. `Tables` and `Abort` ignore the place.
    pub at: Place,
    /// For a load of tables, the table slot into which they go. For a load of a limb, the table
    /// slot that has the limb's modulus. A table slot is a memory for the tables of one modulus.
    pub slot: usize,
    /// For a load of tables, log2 of the ring degree for which they are.
    pub log_n: u32,
}
