// SPDX-License-Identifier: Apache-2.0
//! Machines for base extension with a redundant residue (Kırbıyık's thesis, chapters 2 and 3; docs/machines/basext.md).
//!
//! The module contains the shapes of units, the constants that a unit loads, the expected results and the cycle models.
//! A machine is one unit beside high-bandwidth memory.

mod constants;
mod description;
mod error;
mod golden;
pub mod isa;
mod jobs;
mod machine;
mod machine_unit;
mod model;
mod needs;
pub mod pipelined;
mod port;
mod radix;
pub(crate) mod replay;
pub mod rowers;
mod shape;
mod shared;
pub(crate) mod shared_replay;
mod timeline;
mod unit;

pub use constants::Constants;
pub use description::{Architecture, Description, Hbm};
pub use error::BasextError;
pub use golden::golden;
pub use jobs::{Job, claims};
pub use machine::{BasextMachine, as_schedule, needs_constants, stage_commands};
pub use machine_unit::MachineUnit;
pub use model::{cycles, folded_delay, load_cycles, mul_latency, sum_delay};
pub use port::{Granted, Port, Rate};
pub use radix::{MAX_L as RADIX_MAX_L, Radix};
pub use replay::{extend_cycles, load_cycles_through};
pub use shape::{Extension, MAX_BASE, MIN_LOG_N, Shape, TOP_LOG_N, Word};
pub use shared::{Shared, latency};
pub use timeline::{Command, Timed, serves, timeline};
pub use unit::{Arithmetic, Unit};

/// The field `kind` of the descriptions of base-extension machines.
pub const KIND: &str = "basext";

/// The base-extension descriptions that Ringmill ships: pairs of name and TOML text.
pub const SHIPPED: [(&str, &str); 2] = [
    ("basext", Description::PAPER),
    ("basext-shared", Description::SHARED),
];
