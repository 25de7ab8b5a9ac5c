//! The run-time configurable polynomial multiplier (polymul paper; docs/machines/polymul.md): it transforms and
//! multiplies limbs, the host does the rest.

mod description;
mod error;
mod golden;
mod jobs;
mod machine;
mod model;
mod needs;
mod resident;
mod shape;
mod tables;
mod tally;
mod timeline;
mod timing;

pub use description::Description;
pub use error::PolymulError;
pub use golden::golden;
pub use jobs::{Job, Partition, Stage, partition};
pub use machine::{Accepted, PolymulMachine};
pub use model::{
    ArrayOp, BUTTERFLY_LATENCY, COMMAND_LATENCY, DEP_LATENCY, Forms, OVERHEAD, Pass, Slot,
    TURN_GAP, cycles, floor, issues, load_cycles, schedule, table_cycles, unload_cycles,
};
pub use resident::Resident;
pub use shape::{Degree, MIN_LOG_N, SETS, SLOTS, Shape, TOP_LOG_N, WIDTH};
pub use tables::{Tables, check_modulus};
pub use tally::Tally;
pub use timeline::{Command, Timed, loaded_after, timeline};
pub use timing::RunStage;

/// The description that Ringmill ships, by its name.
pub const SHIPPED: [(&str, &str); 1] = [("polymul", Description::PAPER)];
