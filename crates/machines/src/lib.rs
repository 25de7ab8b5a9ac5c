// SPDX-License-Identifier: Apache-2.0
//! Simulated FHE machines: each has a description, a scheduler and a cycle model.

pub mod basext;
pub mod coprocessor;
mod error;
mod fields;
pub mod fpga;
mod machine;
mod options;
pub mod polymul;
pub mod registry;
pub mod ring;
pub mod torus;
pub mod variant;
pub mod vector;

pub use error::MachineError;
pub use fields::HostLink;
pub use machine::{Machine, Session};
pub use options::SimOptions;
pub use registry::{Kind, Opened, Parse, Registry};

/// Functions and types that only this crate's own tests use. Other crates must not use them.
#[doc(hidden)]
pub mod internals {
    pub use crate::basext::replay::replay as replay_folded;
    pub use crate::basext::shared_replay::replay as replay_shared;
    pub use crate::torus::keyswitch::time::replay as replay_switch;
    pub use crate::vector::decode::Decoded;
    pub use crate::vector::states::{COUNTINGS, States};
}
