// SPDX-License-Identifier: Apache-2.0
//! The polynomial multiplier whose degree and modulus are set at run time (Mert, Öztürk and Savaş, 2020;
//! docs/machines/polymul.md).
//!
//! It transforms and multiplies limbs. A host runs all other instructions.

mod description;
mod error;
mod golden;
pub mod isa;
mod jobs;
mod machine;
mod model;
mod needs;
mod resident;
mod shape;
mod tables;
mod timeline;

pub use description::Description;
pub use error::PolymulError;
pub use golden::golden;
pub use jobs::{Job, claims};
pub use machine::{PolymulMachine, as_schedule, partition, stage_commands};
pub use model::{
    ArrayOp, BUTTERFLY_LATENCY, COMMAND_LATENCY, DEP_LATENCY, Forms, OVERHEAD, Pass, Slot,
    TURN_GAP, cycles, floor, issues, load_cycles, schedule, table_cycles, unload_cycles,
};
pub use resident::{apply, loaded_after};
pub use shape::{Degree, MIN_LOG_N, SETS, SLOTS, Shape, TOP_LOG_N, WIDTH};
pub use tables::{Tables, check_modulus};
pub use timeline::{Command, Timed, timeline};

/// The field `kind` of the descriptions of polynomial multipliers.
pub const KIND: &str = "polymul";

/// The description that Ringmill ships: a pair of name and TOML text.
pub const SHIPPED: [(&str, &str); 1] = [("polymul", Description::PAPER)];
