// SPDX-License-Identifier: Apache-2.0
//! Tests watches over work that is refused memory, that grows too large or that is stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ringmill_limits::internals::usage;
use ringmill_limits::{Halt, Limits, Watch, room, zeroed};

#[test]
fn what_no_system_has_is_refused_and_not_an_abort() {
    assert!(room("a key", 1 << 20).is_ok());
    for bytes in [1 << 62, u64::MAX] {
        assert!(matches!(room("a key", bytes), Err(Halt::NoMemory { .. })));
    }
    assert!(zeroed::<u64>("a key", usize::MAX / 8).is_err());
    assert_eq!(zeroed::<u64>("a key", 3), Ok(vec![0; 3]));
}

#[test]
fn growth_beyond_the_limit_is_noticed() {
    let watch = Watch::new(Limits { memory: 1 << 20 });
    let mut hoard = Vec::new();
    let halted = (0..1000).find_map(|_| {
        hoard.push(vec![1u8; 1 << 16]);
        std::thread::sleep(Duration::from_millis(1));
        watch.check().err()
    });
    if usage().is_some() {
        assert!(matches!(halted, Some(Halt::OverLimit { limit, .. }) if limit == 1 << 20));
    }
}

#[test]
fn a_flag_stops_all_clones() {
    let flag = Arc::new(AtomicBool::new(false));
    let watch = Watch::stopped_by(Limits::default(), Arc::clone(&flag)).clone();
    assert_eq!(watch.check(), Ok(()));
    flag.store(true, Ordering::Relaxed);
    assert_eq!(watch.check(), Err(Halt::Interrupted));
}
