// SPDX-License-Identifier: Apache-2.0
//! Tests how a processor's signature word is read.

use ringmill_math::internals::signature;

/// The signatures of Emerald Rapids, stepping 2, and Zen 4 (EPYC 9004), stepping 1, give their
/// family, model and stepping.
#[test]
fn signatures_are_read_as_the_system_reads_them() {
    assert_eq!(signature(0x000c_06f2), [6, 207, 2]);
    assert_eq!(signature(0x00a1_0f11), [25, 17, 1]);
}
