// SPDX-License-Identifier: Apache-2.0
//! The commands and answers of the TFHE bootstrapping engine (`rm_torus_pkg`).

use std::fmt;

/// The operation of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// Loads a table and exponents into a place.
    Load,
    /// Rotates the accumulators of the first places, and extracts.
    Run,
    /// Returns the extracted ciphertext of a place.
    Unload,
    /// Switches the extracted ciphertexts of the first places to the small key.
    Switch,
    /// Returns the switched ciphertext of a place.
    Give,
    /// A number that belongs to no command.
    None,
}

impl Operation {
    /// Returns the number of the operation in `op_e`.
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

/// A command at the pins. The place of a run or a switch is the last place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Command {
    pub operation: Operation,
    pub place: u8,
}

/// The end of a command: `code_e`.
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
    /// All codes in the order of their numbers.
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

    /// Returns the code of a number, or `None` if it has none.
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
