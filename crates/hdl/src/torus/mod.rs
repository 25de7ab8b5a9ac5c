// SPDX-License-Identifier: Apache-2.0
//! Drives the RTL of the TFHE bootstrapping engine in simulation.
//!
//! [`Engine`] loads ciphertexts, runs their blind rotations, and switches the extracted ciphertexts to the small key.
//! The engine's streams stall on request. Each command returns its cycles, or an error with the result code. The
//! extracted ciphertexts can be read before and after the key switch.

mod code;
mod engine;
pub mod keyswitch;
pub mod parts;
mod streams;

pub use code::{Code, Command, Operation};
pub use engine::{Engine, EngineError, Outcome};
pub use streams::{KeyBeat, Streams, Words, switching_key};

use ringmill_machines::torus::{Schedule, Shape};

use crate::Top;

/// Returns the RTL module `rm_torus` with the parameters of a shape. Its generators of masks are
/// equal, so synthesis maps one and uses the result for all.
pub fn top(shape: Shape) -> Top {
    let s = shape.sizes();
    let (digits, generators) = (s.switch.digits, s.switch.generators);
    Top::new("rm_torus")
        .once("rm_chacha20")
        .int("LogN", u64::from(s.log_n))
        .int("Levels", s.levels as u64)
        .int("LogBase", u64::from(s.log_base))
        .int("Dim", s.dim as u64)
        .int("Unroll", s.unroll as u64)
        .int("Units", s.units as u64)
        .int("LogLanes", u64::from(s.log_lanes))
        .int("LogPos", u64::from(s.log_pos))
        .int("Places", s.places as u64)
        .int("Group", s.group as u64)
        .int("KeyBeats", s.key_beats as u64)
        .int("Pairs", u64::from(shape.schedule() == Schedule::Pairs))
        .int(
            "Coefficients",
            u64::from(shape.schedule() == Schedule::Coefficients),
        )
        .int("SwitchBase", u64::from(digits.log_base))
        .int("SwitchLevels", digits.levels as u64)
        .int("Cores", generators.cores as u64)
        .int("Rounds", u64::from(generators.rounds))
        .int("Steps", u64::from(generators.steps))
}
