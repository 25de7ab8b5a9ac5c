// SPDX-License-Identifier: Apache-2.0
//! Parts that the front ends share: progress bars, traced runs and repeated runs, for programs of every scheme.
//!
//! The front ends are the `ringmill` command and the Python package.

mod bar;
mod parts;
mod repeated;
mod traced;

pub use bar::{Bar, is_long};
pub use parts::Parts;
pub use repeated::{Repeated, repeated};
pub use traced::{Asked, Simulated, TracedError, run_on, simulate_on};
