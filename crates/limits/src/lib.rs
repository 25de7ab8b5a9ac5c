// SPDX-License-Identifier: Apache-2.0
//! Limits on the memory that work may take, and a way to stop it (docs/limits.md).
//!
//! A user sets [`Limits`]. A [`Watch`] stands for one piece of work under them, and is passed to all code that takes long
//! or takes memory. This code calls [`Watch::admit`] before it allocates what an input asks for, and [`Watch::check`]
//! regularly. Both return a [`Halt`] if the work must stop; neither aborts the process.

mod available;
mod halt;
mod lately;
mod limits;
mod system;
mod watch;

pub use halt::{Halt, human};
pub use limits::{Limits, LimitsError};
pub use watch::{Watch, room, zeroed};

/// Items for the crate's own tests, which are no part of the interface.
#[doc(hidden)]
pub mod internals {
    pub use crate::available::{memory, of_computer, of_groups};
    pub use crate::system::usage;
}
