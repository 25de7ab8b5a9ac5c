// SPDX-License-Identifier: Apache-2.0
//! Tests how time is divided among steps that run at once.

use std::time::{Duration, Instant};

use ringmill_cpu::internals::Clock;

/// Of three steps two overlap. The shares add up to the time in which some step ran.
#[test]
fn steps_at_once_share_the_time() {
    let begin = Instant::now();
    let mut clock = Clock::new(begin);
    let at = |milliseconds| begin + Duration::from_millis(milliseconds);
    let entries = [0, 1, 2].map(|proc| clock.call(None, proc));
    let first = clock.begin();
    clock.look_at(at(2));
    let second = clock.begin();
    clock.end_at(entries[0], first, at(4));
    clock.end_at(entries[1], second, at(6));
    clock.look_at(at(8)); // no step runs
    let third = clock.begin();
    clock.end_at(entries[2], third, at(8));
    let lines = clock.lines(&[], 8_000_000);
    let spent: Vec<u64> = lines.iter().map(|line| line.spent).collect();
    // The first call has 2 ms alone and half of 2 ms, and so has the second. The third has nothing.
    // In 2 ms no step ran.
    assert_eq!(spent, [3_000_000, 3_000_000, 0, 2_000_000]);
}
