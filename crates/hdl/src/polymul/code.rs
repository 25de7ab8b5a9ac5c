//! Commands, answers and places of `rm_polymul_pkg`.

use std::fmt;

use ringmill_machines::polymul::ArrayOp;

/// What the machine answers to a command, and how a stream ended: `code_e`.
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
}

impl Code {
    /// Of the three bits of a port; those above are not looked at.
    pub(super) fn from_bits(bits: u64) -> Self {
        match bits & 7 {
            0 => Self::Ok,
            1 => Self::Busy,
            2 => Self::NoTables,
            3 => Self::Unsupported,
            4 => Self::TooShort,
            5 => Self::TooLong,
            6 => Self::BadModulus,
            _ => Self::NotReduced,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ok => "done",
            Self::Busy => "the unit, or the memory it needs, is in use",
            Self::NoTables => "no tables are loaded",
            Self::Unsupported => "the degree is not one of this configuration",
            Self::TooShort => "the stream ended early",
            Self::TooLong => "the stream did not end where it should",
            Self::BadModulus => "the modulus is not 1 modulo 2n or has too many bits",
            Self::NotReduced => "a residue was not below the modulus",
        })
    }
}

/// What works by itself, with a busy and a done bit of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Butterflies and products.
    Array,
    /// Limbs and tables into the machine.
    Load,
    /// Limbs out of it.
    Unload,
}

impl Unit {
    /// In the order of the busy and done bits.
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

/// Where a limb is, and in which form: polynomial `buf` (0 or 1) of `set` (0 or 1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    pub set: usize,
    pub buf: usize,
    /// In evaluation form.
    pub eval: bool,
}

/// A command's number, `op_e`.
pub(super) fn number(op: ArrayOp) -> u64 {
    match op {
        ArrayOp::Ntt => 0,
        ArrayOp::Intt => 1,
        ArrayOp::Mul => 2,
        ArrayOp::Hpm => 3,
        ArrayOp::Fpm => 4,
    }
}

pub(super) const LOAD: u64 = 5;
pub(super) const UNLOAD: u64 = 6;
pub(super) const TABLES: u64 = 7;
