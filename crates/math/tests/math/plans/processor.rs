// SPDX-License-Identifier: Apache-2.0
//! How the processor's signature is read.

use ringmill_math::internals::signature;

/// Sapphire Rapids, stepping 8, and Zen 4 (EPYC 9004), stepping 1.
#[test]
fn signatures_are_read_as_the_system_reads_them() {
    assert_eq!(signature(0x000c_06f2), [6, 207, 2]);
    assert_eq!(signature(0x00a1_0f11), [25, 17, 1]);
}
