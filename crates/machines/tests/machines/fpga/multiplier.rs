// SPDX-License-Identifier: Apache-2.0
//! Tests the DSP blocks and the latencies of modular multipliers.

use ringmill_machines::fpga::{Reduction, lazy_mul_latency};

#[test]
fn multipliers_of_cores_are_as_deep_as_their_columns() {
    for (q, latency) in [
        ((1u64 << 59) + (1 << 25) + (1 << 22) - (1 << 20) + 1, 12),
        ((1 << 54) - (1 << 24) + 1, 12),
        ((1 << 51) - (1 << 18) + 1, 11),
        ((1 << 30) - (1 << 10) + 1, 11),
    ] {
        assert_eq!(lazy_mul_latency(q), Some(latency), "{q}");
    }
    for q in [
        0,
        1,
        127,
        u64::MAX,
        (1 << 61) - 1,
        (1 << 53) + (1 << 30) + 1,
    ] {
        assert_eq!(lazy_mul_latency(q), None, "{q}");
    }
}

#[test]
fn tiles_by_hand() {
    for (width, blocks) in [
        (1, 0),
        (6, 0),
        (7, 1),
        // One tile takes 17 of the 18 bits of an operand, and adders take the other bit.
        (18, 1),
        (24, 2),
        // The operands are cut into 24 + 6 bits and 17 + 13 bits. The six bits take adders.
        (30, 2),
        (31, 4),
        (54, 6),
        (60, 12),
        (64, 12),
    ] {
        assert_eq!(Reduction::Sparse.dsp(width), blocks, "{width}");
    }
    for (width, blocks) in [(30, 7), (52, 9), (53, 9), (54, 9), (55, 13), (60, 13)] {
        assert_eq!(Reduction::Lazy.dsp(width), blocks, "{width}");
    }
    assert_eq!(Reduction::Solinas52.dsp(52), 6);
    assert_eq!(Reduction::NttFriendly.dsp(32), 7);
    assert_eq!(Reduction::MontgomeryFriendly.dsp(32), 6);
    assert_eq!(Reduction::WideWords.dsp(24), 4);
    assert_eq!(Reduction::WideWords.dsp(25), 5);
    assert_eq!(Reduction::WideWords.dsp(32), 5);
    assert_eq!(Reduction::WideWords.dsp(33), 7);
    assert_eq!(Reduction::WideWords.dsp(61), 20);
}
