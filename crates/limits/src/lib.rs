// SPDX-License-Identifier: Apache-2.0
//! What work may take: memory, and the moment it is to stop (docs/limits.md).
//!
//! [`Limits`] are what a user sets. A [`Watch`] is one piece of work under them: it is handed down to whatever takes long
//! or takes memory, which asks [`Watch::admit`] before it allocates what an input asks for, and [`Watch::check`] as it
//! goes. Either gives a [`Halt`], never an abort.

mod available;
mod halt;
mod lately;
mod limits;
mod system;
mod watch;

pub use halt::{Halt, human};
pub use limits::{Limits, LimitsError};
pub use watch::{Watch, room, zeroed};

/// Items that the crate's own tests reach; no part of the interface.
#[doc(hidden)]
pub mod internals {
    pub use crate::available::{memory, of_computer, of_groups};
    pub use crate::system::usage;
}
