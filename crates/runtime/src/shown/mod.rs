// SPDX-License-Identifier: Apache-2.0
//! What the front ends show of a run and ask of it, whatever the program's scheme: the `ringmill` command and the Python
//! package are two of them.

mod bar;
mod parts;
mod repeated;
mod traced;
mod waiting;

pub use bar::{Bar, is_long};
pub use parts::Parts;
pub use repeated::{Repeated, repeated};
pub use traced::{Asked, Simulated, TracedError, run_on, simulate_on};
pub use waiting::Waiting;
