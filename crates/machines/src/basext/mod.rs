//! Units for base extension with a redundant residue (basext paper, chapters 2 and 3): what a unit is made for, the
//! constants that a program loads, what it computes and how many cycles it takes.

mod constants;
mod error;
mod golden;
mod model;
mod shape;

pub use constants::Constants;
pub use error::BasextError;
pub use golden::golden;
pub use model::{cycles, load_cycles, mul_latency, sum_delay};
pub use shape::{Extension, MAX_BASE, MIN_LOG_N, Shape, TOP_LOG_N, Word};
