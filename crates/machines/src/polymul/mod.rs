//! The run-time configurable polynomial multiplier (polymul paper; docs/machines/polymul.md).

mod error;
mod model;
mod shape;
mod tables;

pub use error::PolymulError;
pub use model::{
    ArrayOp, Pass, Slot, cycles, floor, issues, load_cycles, schedule, table_cycles, unload_cycles,
};
pub use shape::{Degree, MIN_LOG_N, SETS, Shape, TOP_LOG_N, WIDTH};
pub use tables::{Tables, check_modulus};
