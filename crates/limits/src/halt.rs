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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_read_well() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1023, "1023 bytes"),
            (1024, "1.0 KiB"),
            (191 << 10, "191.0 KiB"),
            ((1 << 20) - 1, "1.0 MiB"),
            (4 << 30, "4.0 GiB"),
            (u64::MAX, "16777216.0 TiB"),
        ] {
            assert_eq!(human(bytes), text);
        }
    }

    #[test]
    fn a_halt_is_found_below_other_errors() {
        #[derive(Debug, thiserror::Error)]
        enum Inner {
            #[error("{0}")]
            Halt(#[from] Halt),
        }
        #[derive(Debug, thiserror::Error)]
        enum Outer {
            #[error(transparent)]
            Inner(#[from] Inner),
            #[error("`{name}`: {source}")]
            Named { name: String, source: Inner },
            #[error("other")]
            Other,
        }
        let inner = || Inner::from(Halt::Interrupted);
        let name = "x".to_owned();
        for error in [
            Outer::from(inner()),
            Outer::Named {
                name,
                source: inner(),
            },
        ] {
            assert_eq!(Halt::of(&error), Some(&Halt::Interrupted));
        }
        assert_eq!(Halt::of(&Outer::Other), None);
        assert_eq!(Halt::of(&Halt::Interrupted), Some(&Halt::Interrupted));
    }
}
