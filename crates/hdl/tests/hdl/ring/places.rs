// SPDX-License-Identifier: Apache-2.0
//! Tests of how residues are packed into the words of a model's memories.

use ringmill_hdl::internals::packed;

#[test]
fn numbers_are_packed_without_gaps() {
    assert_eq!(packed(&[0x5, 0x3, 0x1], 12), [0x0100_3005, 0]);
    assert_eq!(packed(&[u64::MAX >> 4; 8], 60), vec![u32::MAX; 15]);
}
