// SPDX-License-Identifier: Apache-2.0
//! The macro level: programs over ciphertexts, plaintexts and keys, with their text form and verifier.

mod linear;
pub mod linked;
#[rustfmt::skip] // generated
pub mod op;
pub mod program;
mod refused;
mod rules;
#[rustfmt::skip] // generated
pub mod stages;
pub mod stats;
pub mod text;
pub mod verify;

pub use linear::{Linear, Terms};
pub use op::MacroOp;
pub use program::{
    Constant, Interval, LevelNote, LevelScale, MacroImm, MacroInput, MacroInstr, MacroProc,
    MacroProgram, MacroType, MacroValue, Note, SchemeName, Visibility,
};
pub use refused::{OfStage, Refused};
pub use rules::SCALE_TOLERANCE;
pub use stages::{ExplicitOp, ManagedOp, TracedOp, Visitor};
pub use verify::{Stage, stage, verify, verify_with_primes};
