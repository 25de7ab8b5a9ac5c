// SPDX-License-Identifier: Apache-2.0
//! The commands and result codes of the TFHE bootstrapping engine (`rm_torus_pkg`).

use std::fmt;

/// The operation of a command to the bootstrapping engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// Loads a ciphertext into a place, the engine's memory for one ciphertext: its look-up table
    /// and exponents.
    Load,
    /// Runs the blind rotation of the ciphertexts in place 0 and further places, and extracts an
    /// LWE ciphertext from each. A place is the engine's memory for one ciphertext.
    Run,
    /// Returns the LWE ciphertext that was extracted in a place, the engine's memory for one
    /// ciphertext, before the key switch.
    Unload,
    /// Switches the extracted LWE ciphertexts of place 0 and further places to the small secret
    /// key. A place is the engine's memory for one ciphertext.
    Switch,
    /// Returns the LWE ciphertext of a place, the engine's memory for one ciphertext, after the key
    /// switch.
    Give,
    /// An operation number of the command port that stands for no operation. The engine refuses it.
    None,
}

impl Operation {
    /// Returns the operation's number in `op_e` of `rm_torus_pkg`.
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

/// A command at the pins of the engine. `place` is the number of a place, the engine's memory for
/// one ciphertext. `Run` and `Switch` work on all places from 0 to `place`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Command {
    pub operation: Operation,
    pub place: u8,
}

/// The result code of a command to the engine: `code_e` of `rm_torus_pkg`.
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
    /// All result codes in the order of their numbers.
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

    /// Returns the result code with the number `bits`, or `None` if no code has that number.
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
