// SPDX-License-Identifier: Apache-2.0
//! Simulated machines: description, scheduler and cycle model.

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
