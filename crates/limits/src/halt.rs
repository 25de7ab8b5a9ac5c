// SPDX-License-Identifier: Apache-2.0
//! The reasons for which work stops before it is done: too little memory, or an interrupt.

use std::error::Error;

/// The reason for which work stopped, or did not begin. Errors that wrap a halt have it as their source, and
/// [`Halt::of`] finds it there.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Halt {
    /// The next step of the work needs more memory than the limit allows, or the work has taken more already. A step
    /// that is refused has allocated nothing. `what` names the step.
    #[error(
        "{what} needs about {} of memory and the limit is {}; make it smaller, or raise the limit (--max-memory, RINGMILL_MAX_MEMORY or ringmill.limits)",
        human(*needed),
        human(*limit)
    )]
    OverLimit {
        what: String,
        needed: u64,
        limit: u64,
    },
    /// The operating system cannot provide the memory that the work needs, mostly because of the address-space
    /// limit.
    #[error(
        "{what} needs about {} of memory, which the system does not give; free some, or raise the process's own limit (`ulimit -v`)",
        human(*needed)
    )]
    NoMemory { what: String, needed: u64 },
    /// Somebody asked the work to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Halt {
    /// Returns the halt in the chain of an error's sources, if there is one.
    pub fn of<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e Self> {
        std::iter::successors(Some(error), |&error| error.source())
            .find_map(|error| error.downcast_ref())
    }
}

/// Formats a number of bytes for a reader, such as `191.0 KiB` or `3.9 GiB`.
pub fn human(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes == 1 {
        return "1 byte".to_owned();
    }
    if bytes < 1024 {
        return format!("{bytes} bytes");
    }
    let (mut value, mut unit) = (bytes as f64 / 1024.0, 0);
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}
