// SPDX-License-Identifier: Apache-2.0
//! The commands of the TFHE bootstrapping engine.

use ringmill_machines::torus::isa::Opcode;

pub use ringmill_machines::torus::isa::Code;

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
    /// Returns the operation's number in a command. That of no operation is the first that is free.
    pub fn number(self) -> u64 {
        match self {
            Self::Load => Opcode::Load.bits(),
            Self::Run => Opcode::Run.bits(),
            Self::Unload => Opcode::Unload.bits(),
            Self::Switch => Opcode::Switch.bits(),
            Self::Give => Opcode::Give.bits(),
            Self::None => Opcode::ALL.len() as u64,
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
