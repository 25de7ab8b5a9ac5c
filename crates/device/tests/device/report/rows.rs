// SPDX-License-Identifier: Apache-2.0
//! Tests the text form of counts, bytes and times.

use ringmill_device::report::{bytes, grouped, seconds};

#[test]
fn numbers_read_well() {
    assert_eq!(grouped(0), "0");
    assert_eq!(grouped(999), "999");
    assert_eq!(grouped(27_000_000_001), "27,000,000,001");
    assert_eq!(bytes(1023), "1023 B");
    assert_eq!(bytes(3 << 20), "3.0 MiB");
    assert_eq!(seconds(0.0195), "19.50 ms");
    assert_eq!(seconds(0.00000105), "1.05 us");
    assert_eq!(seconds(0.0), "0 s");
}
