// SPDX-License-Identifier: Apache-2.0
//! Commands and answers of `rm_torus_pkg`.

use std::fmt;

/// What a command does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// Takes a table and exponents into a place.
    Load,
    /// Turns the accumulators of the first places, and extracts.
    Run,
    /// Gives the extracted ciphertext of a place.
    Unload,
    /// Switches the extracted ciphertexts of the first places to the small key.
    Switch,
    /// Gives the switched ciphertext of a place.
    Give,
    /// A number that is no command's.
    None,
}

impl Operation {
    /// `op_e`.
    pub fn number(self) -> u64 {
        match self {
            Self::Load => 0,
            Self::Run => 1,
            Self::Unload => 2,
            Self::Switch => 3,
            Self::Give => 4,
            Self::None => 5,
        }
    }
}

/// A command at the pins; the place of a run and of a switch is the last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Command {
    pub operation: Operation,
    pub place: u8,
}

/// How a command ended: `code_e`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    Ok,
    BadCommand,
    BadExponent,
    NotLoaded,
    CutShort,
    TooLong,
    KeyShort,
    KeyLong,
}

impl Code {
    /// In the order of their numbers.
    pub const ALL: [Self; 8] = [
        Self::Ok,
        Self::BadCommand,
        Self::BadExponent,
        Self::NotLoaded,
        Self::CutShort,
        Self::TooLong,
        Self::KeyShort,
        Self::KeyLong,
    ];

    /// `None` for a number that is no code's.
    pub fn from_bits(bits: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(bits).ok()?).copied()
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ok => "done",
            Self::BadCommand => "there is no such command, or no such place",
            Self::BadExponent => "an exponent is not below 2 N",
            Self::NotLoaded => "a place holds no ciphertext to run, or none to give",
            Self::CutShort => "the load's stream ended early",
            Self::TooLong => "the load's stream did not end where it should",
            Self::KeyShort => "the key ended early",
            Self::KeyLong => "the key did not end where it should",
        })
    }
}
