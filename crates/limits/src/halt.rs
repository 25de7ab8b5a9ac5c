// SPDX-License-Identifier: Apache-2.0
//! Why work stopped before it was done.

use std::error::Error;

/// Work that was stopped, or not begun. Errors that carry one have it as their source, where [`Halt::of`] finds it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Halt {
    /// More than the limit allows; nothing was allocated for it.
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
    /// The system has no more to give: its address-space limit, mostly.
    #[error(
        "{what} needs about {} of memory, which the system does not give; free some, or raise the process's own limit (`ulimit -v`)",
        human(*needed)
    )]
    NoMemory { what: String, needed: u64 },
    /// Somebody asked for it to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Halt {
    /// The halt that an error is about, if it is about one.
    pub fn of<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e Self> {
        std::iter::successors(Some(error), |&error| error.source())
            .find_map(|error| error.downcast_ref())
    }
}

/// Bytes for a reader: `191.0 KiB`, `3.9 GiB`.
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
