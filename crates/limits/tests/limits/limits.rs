// SPDX-License-Identifier: Apache-2.0
//! Tests which texts are memory limits, and the default limit.

use ringmill_limits::Limits;
use ringmill_limits::internals;

#[test]
fn sizes() {
    let bytes = |text| Limits::parse(text).map(|l| l.memory).ok();
    assert_eq!(bytes("1"), Some(1));
    assert_eq!(bytes(" 2 k "), Some(2048));
    assert_eq!(bytes("1.5 GB"), Some(3 << 29));
    assert_eq!(bytes("3TiB"), Some(3 << 40));
    for text in [
        "",
        "0",
        "-1",
        "4X",
        "G",
        "1e9",
        "nan",
        "inf",
        "99999999999999T",
        "1.2.3",
        "4 G B",
    ] {
        assert_eq!(bytes(text), None, "{text:?}");
    }
}

#[test]
fn the_default_is_below_what_there_is() {
    let memory = Limits::default().memory;
    assert!(memory >= 16 << 20, "{memory}");
    // Other processes take and free memory between the two measurements.
    assert!(internals::memory().is_none_or(|left| memory / 2 < left));
}
