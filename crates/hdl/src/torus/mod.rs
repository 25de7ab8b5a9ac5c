//! The bootstrapping engine's RTL behind a safe handle: [`Engine`] loads ciphertexts, runs them with a key stream that stalls where
//! asked, and gives what it extracted, each with its code and cycles.

mod code;
mod engine;
pub mod keyswitch;
pub mod parts;

pub use code::{Code, Command, Operation};
pub use engine::{Engine, EngineError, KeyBeat, Outcome};

use ringmill_machines::torus::{Schedule, Shape};

use crate::Top;

/// `rm_torus` with the parameters of a shape.
pub fn top(shape: Shape) -> Top {
    let s = shape.sizes();
    Top::new("rm_torus")
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
}
