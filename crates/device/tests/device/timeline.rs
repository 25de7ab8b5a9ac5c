// SPDX-License-Identifier: Apache-2.0
//! Tests timelines of short and of long runs.

use ringmill_device::timeline::Timeline;
use ringmill_device::trace::{Context, TraceSink};

/// The most events, moments of a memory, and lanes or memories that a timeline keeps.
const MOST_EVENTS: usize = 3000;
const MOST_MOMENTS: usize = 1500;
const MOST_NAMES: usize = 256;

#[test]
fn short_runs_are_kept_as_they_are() {
    let mut timeline = Timeline::new(200.0);
    for at in 0..100 {
        TraceSink::event(
            &mut timeline,
            "main",
            "NTT",
            10 * at,
            5,
            &Context::default(),
        );
    }
    assert_eq!((timeline.events, timeline.kept()), (100, 100));
    assert_eq!(timeline.joined_seconds, 0.0);
    assert_eq!(timeline.lanes[0].events[99].start, 990.0 / 200e6);
}

#[test]
fn long_runs_stay_small_and_lose_no_busy_time() {
    let mut timeline = Timeline::new(1.0);
    let count = 200_000u64;
    for at in 0..count {
        let (lane, took) = if at % 3 == 0 { ("a", 2) } else { ("b", 1) };
        TraceSink::event(
            &mut timeline,
            lane,
            "NTT",
            4 * at,
            took,
            &Context::default(),
        );
        TraceSink::memory(&mut timeline, "slots", 4 * at, at % 77);
    }
    assert_eq!(timeline.events, count);
    assert!(timeline.kept() <= MOST_EVENTS, "{}", timeline.kept());
    assert!(timeline.kept() > MOST_EVENTS / 8, "{}", timeline.kept());
    let all = || timeline.lanes.iter().flat_map(|lane| &lane.events);
    assert_eq!(all().map(|event| event.count).sum::<u64>(), count);
    let busy: f64 = all().map(|event| event.busy).sum();
    let expected = 1e-6 * (count + count.div_ceil(3)) as f64;
    assert!((busy / expected - 1.0).abs() < 1e-9, "{busy} {expected}");
    for lane in &timeline.lanes {
        for pair in lane.events.windows(2) {
            assert!(pair[0].end <= pair[1].start);
        }
    }
    let memory = &timeline.memories[0];
    assert!(memory.bytes.len() <= MOST_MOMENTS);
    assert_eq!(memory.bytes.iter().max(), Some(&76));
}

/// Tests that many lanes with one event each, which nothing can join, let the timeline neither grow nor loop for ever.
#[test]
fn lanes_are_bounded() {
    let mut timeline = Timeline::new(1.0);
    for at in 0..10_000 {
        let lane = format!("unit {at}");
        TraceSink::event(&mut timeline, &lane, "NTT", at, 1, &Context::default());
    }
    assert_eq!(timeline.events, 10_000);
    assert_eq!(timeline.lanes.len(), MOST_NAMES);
}
