// SPDX-License-Identifier: Apache-2.0
//! Tests the texts of halts, and the search for a halt among the sources of an error.

use ringmill_limits::{Halt, human};

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
