// SPDX-License-Identifier: Apache-2.0
//! The commands, result codes and limb places of the polynomial multiplier (`rm_polymul_pkg`).

use std::fmt;

use ringmill_machines::polymul::ArrayOp;

/// The result code of a command or of a stream: `code_e` of `rm_polymul_pkg`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    Ok,
    Busy,
    NoTables,
    Unsupported,
    TooShort,
    TooLong,
    BadModulus,
    NotReduced,
    NoData,
    Mixed,
    Aborted,
    Idle,
    BadOp,
}

impl Code {
    /// All result codes in the order of their numbers.
    pub const ALL: [Self; 13] = [
        Self::Ok,
        Self::Busy,
        Self::NoTables,
        Self::Unsupported,
        Self::TooShort,
        Self::TooLong,
        Self::BadModulus,
        Self::NotReduced,
        Self::NoData,
        Self::Mixed,
        Self::Aborted,
        Self::Idle,
        Self::BadOp,
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
            Self::Busy => "the unit, or the memory it needs, is in use",
            Self::NoTables => "the slot holds no tables",
            Self::Unsupported => "the degree is not one of this configuration",
            Self::TooShort => "the stream ended early",
            Self::TooLong => "the stream did not end where it should",
            Self::BadModulus => "the modulus is not 1 modulo 2n or has too many bits",
            Self::NotReduced => "a residue was not below the modulus",
            Self::NoData => "the polynomial was not loaded, or its load failed",
            Self::Mixed => "the two polynomials were loaded under different tables",
            Self::Aborted => "the stream was aborted",
            Self::Idle => "there is no stream to abort",
            Self::BadOp => "there is no such command",
        })
    }
}

/// A unit of the multiplier that works independently of the others. It has a busy and a done bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// The array of butterflies, which computes transforms, products and sums.
    Array,
    /// The unit that moves limbs and tables into the multiplier.
    Load,
    /// The unit that moves limbs out of the multiplier.
    Unload,
}

impl Unit {
    /// All units of the multiplier, in the order of their busy and done bits at its pins.
    pub const ALL: [Self; 3] = [Self::Array, Self::Load, Self::Unload];

    pub(super) fn index(self) -> usize {
        match self {
            Self::Array => 0,
            Self::Load => 1,
            Self::Unload => 2,
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Array => "array",
            Self::Load => "load unit",
            Self::Unload => "unload unit",
        })
    }
}

/// A place for one limb in the multiplier, and the limb's form. The multiplier stores two sets of
/// two polynomials; the place is polynomial `buf` (0 or 1) of set `set` (0 or 1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    pub set: usize,
    pub buf: usize,
    /// Whether the limb is in evaluation form.
    pub eval: bool,
}

/// The operation of a command: `op_e` of `rm_polymul_pkg`.
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

    /// Returns the operation's number in `op_e` of `rm_polymul_pkg`.
    pub fn number(self) -> u64 {
        match self {
            Self::Array(ArrayOp::Ntt) => 0,
            Self::Array(ArrayOp::Intt) => 1,
            Self::Array(ArrayOp::Mul) => 2,
            Self::Array(ArrayOp::Hpm) => 3,
            Self::Array(ArrayOp::Fpm) => 4,
            Self::Load => 5,
            Self::Unload => 6,
            Self::Tables => 7,
            Self::Array(ArrayOp::Add) => 8,
            Self::Array(ArrayOp::Sub) => 9,
            Self::Abort => 10,
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
    /// The place of the limb that the command works on. A product uses only the place's set, whose two limbs it
    /// multiplies. `Tables` and `Abort` ignore the place.
    pub at: Place,
    /// For a load of tables, the table slot into which they go. For a load of a limb, the table
    /// slot that has the limb's modulus. A table slot is a memory for the tables of one modulus.
    pub slot: usize,
    /// For a load of tables, log2 of the ring degree for which they are.
    pub log_n: u32,
}
