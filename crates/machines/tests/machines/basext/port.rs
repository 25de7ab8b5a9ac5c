// SPDX-License-Identifier: Apache-2.0
//! The port to memory.

use ringmill_machines::basext::{Port, Rate};

/// Checks that over many cycles as many beats pass as the rate allows.
#[test]
fn the_rate_is_kept() {
    for (gain, beat) in [(9, 8), (1, 3), (7, 4), (2, 1), (5, 1)] {
        let rate = Rate::new(gain, beat);
        let mut port = Port::new(rate);
        let (mut reads, mut writes) = (0u64, 0u64);
        for _ in 0..1200 {
            let granted = port.cycle(true, true);
            reads += u64::from(granted.read);
            writes += u64::from(granted.write);
        }
        let most = (1200 * gain / beat).min(2400);
        assert!(reads + writes <= most && reads + writes + 2 >= most);
        assert!(writes >= reads, "{rate:?}");
        assert_eq!(rate.never_stalls(), reads + writes == 2400);
    }
}

#[test]
fn what_is_left_over_is_a_beat_at_most() {
    let mut port = Port::new(Rate::new(1, 2));
    for _ in 0..100 {
        port.cycle(false, false);
    }
    let passed = (0..4).map(|_| port.cycle(true, true));
    let passed: Vec<_> = passed.map(|g| (g.read, g.write)).collect();
    assert_eq!(
        passed,
        [(false, true), (false, true), (false, false), (false, true)]
    );
}
